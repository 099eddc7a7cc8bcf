"""Serves the SDK's own host over standard streams. No published program does this.

Passes each line of standard input to the host, and writes the host's messages to standard output. The host's
debugging output goes to standard error.

usage: sdk_host.py
"""

import logging
import os
import sys
import threading

import reference  # noqa: F401

from a2e.core.server.executor import A2EServerRuntimeExecutor
from a2e.schema import A2EHostConfig

out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
lock = threading.Lock()


class Streams:
    def set_message_handler(self, handler):
        self.handler = handler

    def start(self):
        pass

    def stop(self):
        pass

    def send(self, line):
        with lock:
            out.write(line + "\n")
            out.flush()


config = A2EHostConfig(
    server={},
    transport={"type": "direct", "config": {}},
    plugins=[
        {"name": "tools", "type": "tools", "cls": "sdk_plugins.Tools"},
        {"name": "memory", "type": "memory", "cls": "sdk_plugins.Memory"},
        {"name": "proc", "type": "proc", "cls": "sdk_plugins.Procs"},
    ],
)
streams = Streams()
host = A2EServerRuntimeExecutor(config, streams, logging.getLogger("a2e"))
host.start()
for line in sys.stdin:
    try:
        streams.handler(line)
    except Exception as error:
        print(f"the host failed: {error}", file=sys.stderr)
host.stop()
