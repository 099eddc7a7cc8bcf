"""Plugins for the SDK's host, derived from the SDK's own base classes."""

from a2e.caps.memory.plugin import MemoryPlugin
from a2e.caps.proc.plugin import ProcPlugin
from a2e.caps.tools.plugin import ToolPlugin
from a2e.caps.tools.protocol import ToolDefinition, ToolParameter, ToolResult


class Tools(ToolPlugin):
    name = "sums"

    def _list_tools(self):
        number = {"type": "number", "description": "a number", "required": True}
        add = [ToolParameter(name=one, **number) for one in ("a", "b")]
        return [
            ToolDefinition(name="add", description="Adds", input_parameters=add),
            ToolDefinition(name="fail", description="Fails"),
        ]

    def _execute_tool(self, tool_name, arguments):
        if tool_name == "fail":
            return ToolResult(
                success=False,
                tool_name=tool_name,
                error="not today",
                error_code="tool_refused",
                duration_ms=0,
            )
        if tool_name != "add":
            raise ValueError(f"no tool {tool_name}")
        self.emit("progress", {"pct": 50, "message": "half"})
        return {"sum": arguments["a"] + arguments["b"]}


class Memory(MemoryPlugin):
    name = "kept"

    def on_init(self, namespace, scope, metadata=None):
        return f"mem-{namespace}", {}

    def on_store(self, memory, entries):
        for entry in entries:
            memory[str(entry.key)] = entry
        return [entry.key for entry in entries], []

    def on_retrieve(self, memory, req):
        return [memory[str(key)] for key in req.keys if str(key) in memory]

    def on_forget(self, memory, req):
        return len([key for key in req.keys if memory.pop(str(key), None)])


class Procs(ProcPlugin):
    name = "procs"
