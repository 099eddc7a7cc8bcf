"""The names of arguments in ``operationConstraints`` (section 5.1): plain names and JSON Pointers."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional

_POINTER = re.compile("(?:/(?:[^/~]|~[01])*)+")


class Found(NamedTuple):
    """The result of looking up a name.

    ``missing`` is true if there is no value. ``reached`` is false if a value on the way is not an object.
    """

    missing: bool
    reached: bool
    value: Any = None


def tokens(name: str) -> Optional[List[str]]:
    """Split a name into property names, beginning at the arguments object; ``None`` if it is invalid."""
    if not name.startswith("/"):
        return [name]
    if _POINTER.fullmatch(name) is None:
        return None
    written = name[1:].split("/")
    if len(written) == 1 and not written[0].startswith("~1"):
        return None
    return [token.replace("~1", "/").replace("~0", "~") for token in written]


def follow(name: str, arguments: Dict[str, Any]) -> Found:
    """Look up a name that :func:`tokens` allows."""
    value: Any = arguments
    for token in tokens(name) or []:
        if not isinstance(value, dict):
            return Found(False, False)
        if token not in value:
            return Found(True, True)
        value = value[token]
    return Found(False, True, value)
