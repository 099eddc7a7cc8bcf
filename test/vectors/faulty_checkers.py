"""Answers requests by the Python checker with one line of its source changed, for each change.

Standard input is one JSON object: ``folder`` is the folder of the checker, ``requests`` are lines of the protocol, and
``faults`` are ``[file, from, to]``. Standard output has one line for each fault: the answers, in order.
"""

import json
import sys
from importlib.machinery import SourceFileLoader

asked = json.load(sys.stdin)
lines = [line.encode() for line in asked["requests"]]
sys.path.insert(0, asked["folder"])
as_it_is = SourceFileLoader.get_code
initial = set(sys.modules)


def changed(name, before, after):
    """Return a module loader that changes the module with this name."""

    def get_code(self, module):
        if module != f"proviso_check.{name}":
            return as_it_is(self, module)
        source = self.get_source(module)
        assert source.count(before) == 1, f"{name} has this {source.count(before)} times: {before}"
        return compile(source.replace(before, after), self.path, "exec")

    return get_code


for fault in asked["faults"]:
    SourceFileLoader.get_code = changed(*fault)
    import adapter

    print(json.dumps([adapter.answer(line) for line in lines]))
    for module in set(sys.modules) - initial:
        del sys.modules[module]
    del adapter
