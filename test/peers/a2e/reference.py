"""Makes the unchanged checkout of a2eprotocol/python-sdk importable.

The package loads an HTTP server, which needs FastAPI. Sessions over streams do not use the server. If FastAPI is
not installed, a stub of the same name is loaded instead.
"""

import importlib.util
import os
import sys
import types

sys.path.insert(0, os.environ["PROVISO_A2E_SDK"])

if importlib.util.find_spec("fastapi") is None:
    fastapi = types.ModuleType("fastapi")
    responses = types.ModuleType("fastapi.responses")
    for name in ("FastAPI", "HTTPException", "Request"):
        setattr(fastapi, name, type(name, (), {}))
    responses.StreamingResponse = type("StreamingResponse", (), {})
    sys.modules["fastapi"] = fastapi
    sys.modules["fastapi.responses"] = responses
