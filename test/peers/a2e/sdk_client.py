"""Makes the calls of one session with the SDK's own client and transport. Prints the outcome and every line.

usage: sdk_client.py TOKENS FOLDER COMMAND...
"""

import json
import logging
import sys
import time

import reference  # noqa: F401

from a2e.caps.memory.client import MemoryAPI
from a2e.caps.proc.client import ProcsAPI
from a2e.caps.tools.client import ToolAPI
from a2e.core.client.client import A2EClient, A2EClientError
from a2e.core.transports.subprocess import SubprocessTransport

tokens, folder, *command = sys.argv[1:]
lines = []
logged = []
outcome = {}


class Logged(logging.Handler):
    def emit(self, record):
        logged.append(record.getMessage())


logger = logging.getLogger("a2e")
logger.setLevel(logging.WARNING)
logger.addHandler(Logged())

transport = SubprocessTransport(command, logger, cwd=folder)
send, take = transport.send, transport.set_message_handler


def recorded_send(line):
    lines.append({"from": "agent", "message": json.loads(line)})
    send(line)


def recorded_take(handler):
    def both(line):
        if line:
            lines.append({"from": "host", "message": json.loads(line)})
        handler(line)

    take(both)


transport.send = recorded_send
transport.set_message_handler = recorded_take

client = A2EClient(
    transport,
    logger,
    agent_id="reference",
    auth_token=tokens,
    agent_caps=["tools", "memory", "proc", "planning", "streaming", "artifacts"],
)


def refused(action):
    try:
        return {"result": str(action())}
    except A2EClientError as error:
        return {"code": error.code, "retryable": error.retryable, "capability": error.capability_name}


client.connect()
outcome["capabilities"] = [
    [one.capability.value, one.enabled, one.metadata.get("code")] for one in client.capabilities()
]
outcome["ping"] = client.ping(timeout=5) >= 0

tools = ToolAPI(client)
outcome["tools"] = [one.model_dump(exclude_defaults=True) for one in tools.list(timeout=5)]
outcome["query"] = [one.name for one in tools.list(query="WORDS", timeout=5)]
events = []
counted = tools.call(
    "count_words",
    {"text": "one two\nthree"},
    on_event=lambda event: events.append([event.kind, event.seq, event.data]),
    timeout=5,
)
outcome["events"] = events
outcome["counted"] = [counted.success, counted.tool_name, counted.data]
outcome["wrong"] = refused(lambda: tools.call("add", {"a": "1", "b": 2}, timeout=5))
outcome["denied"] = refused(lambda: tools.call("drop", {}, timeout=5))

memory = MemoryAPI(client)
outcome["memory_id"] = memory.init("notes", {"user": "u1"}).memory_id
tea = {"key": {"name": "tea"}, "content": {"hot": True}, "tier": "episodic", "tags": ["drink"]}
ice = {"key": {"name": "ice"}, "content": "cold", "tier": "semantic", "score": 0.5}
lost = {"key": {"name": "gone"}, "content": 1, "tier": "working"}
outcome["stored"] = memory.store([tea, ice, lost], timeout=5)
outcome["recalled"] = memory.recall({"name": "tea"})
outcome["retrieved"] = [
    [one.key, one.content, one.tier, one.tags, one.score]
    for one in memory.retrieve(tier="semantic", timeout=5)
]
outcome["tagged"] = [one.key for one in memory.retrieve(tags=["drink"], min_score=0.9, timeout=5)]
outcome["forgotten"] = memory.forget(keys=[{"name": "tea"}, {"name": "none"}], timeout=5)
outcome["after"] = memory.recall({"name": "tea"}, "nothing")

procs = ProcsAPI(client)
short = procs.spawn(["countdown", "1"], timeout=30)
outcome["spawned"] = [short.ok, short.error]
time.sleep(1.5)
status = procs.status(short.proc_id, timeout=5)
outcome["status"] = [status.status, status.error]
long = procs.spawn(["countdown", "100"], timeout=30)
killed = procs.kill(long.proc_id, timeout=5)
outcome["killed"] = [killed.ok, killed.state, procs.status(long.proc_id, timeout=5).status]
outcome["beyond"] = refused(lambda: procs.spawn(["countdown", "101"], timeout=5))
outcome["unlisted"] = refused(lambda: procs.spawn(["bash", "-c", "id"], timeout=5))

process = transport._proc
client.disconnect()
outcome["exit"] = process.returncode
print(json.dumps({"outcome": outcome, "logged": logged, "lines": lines}))
