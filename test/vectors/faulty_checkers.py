"""Answers requests by the Python checker with one line of its source changed.

The argument is the folder of the checker. Each line of standard input is ``{fault, requests}``: ``fault`` is
``[file, from, to]``, and ``requests`` are lines of the protocol. Standard output has one line for each: the answers.
"""

import json
import os
import sys
from importlib.machinery import SourceFileLoader

folder = sys.argv[1]
sys.path.insert(0, folder)
as_it_is = SourceFileLoader.get_code


def changed(name, before, after):
    """Return a module loader that changes the module with this name."""

    def get_code(self, module):
        if module != f"proviso_check.{name}":
            return as_it_is(self, module)
        source = self.get_source(module)
        assert source.count(before) == 1, f"{name} has this {source.count(before)} times: {before}"
        return compile(source.replace(before, after), self.path, "exec")

    return get_code


def loaded(fault):
    """Load the checker with a fault, and return its adapter."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(os.path.join(folder, "")):
            del sys.modules[name]
    SourceFileLoader.get_code = changed(*fault)
    import adapter

    return adapter


current = None
for line in sys.stdin:
    asked = json.loads(line)
    if asked["fault"] != current:
        current = asked["fault"]
        checker = loaded(current)
    answers = [checker.answer(request.encode()) for request in asked["requests"]]
    print(json.dumps(answers), flush=True)
