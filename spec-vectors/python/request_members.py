"""Reading the properties of a request. An invalid property raises :class:`BadRequest`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class BadRequest(Exception):
    """The error of a line that breaks the protocol. It does not depend on the token or card in the line."""


def no_constant(name: str) -> Any:
    raise BadRequest(f"{name} is not JSON")


def joined(value: str) -> str:
    """Join the surrogate pairs of a string. Lone surrogates are kept."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def text(request: Dict[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} is not text")
    return joined(value)


def optional_text(request: Dict[str, Any], name: str) -> Optional[str]:
    return text(request, name) if request.get(name) is not None else None


def texts(value: Dict[str, Any], name: str) -> List[str]:
    found = value.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadRequest(f"{name} is not an array of text")
    return [joined(one) for one in found]


def flag(value: Dict[str, Any], name: str, default: bool) -> bool:
    found = value.get(name, default)
    if not isinstance(found, bool):
        raise BadRequest(f"{name} is neither true nor false")
    return found


def objects(request: Dict[str, Any], name: str) -> List[Dict[str, Any]]:
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadRequest(f"{name} is not an array of objects")
    return value
