"""The names of arguments in ``operationConstraints`` (section 5.1): plain ones, and JSON Pointers."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional

_POINTER = re.compile("(?:/(?:[^/~]|~[01])*)+")


class Found(NamedTuple):
    """Where a name leads: to a value, to none (``missing``), or beyond something that is no object."""

    missing: bool
    reached: bool
    value: Any = None


def tokens(name: str) -> Optional[List[str]]:
    """The names of members, from the arguments object on, or ``None`` for a name that is not allowed."""
    if not name.startswith("/"):
        return [name]
    if _POINTER.fullmatch(name) is None:
        return None
    written = name[1:].split("/")
    if len(written) == 1 and not written[0].startswith("~1"):
        return None
    return [token.replace("~1", "/").replace("~0", "~") for token in written]


def follow(name: str, arguments: Dict[str, Any]) -> Found:
    """Follow a name that :func:`tokens` allows."""
    value: Any = arguments
    for token in tokens(name) or []:
        if not isinstance(value, dict):
            return Found(False, False)
        if token not in value:
            return Found(True, True)
        value = value[token]
    return Found(False, True, value)
