"""Reading a caveat (section 5) and an identifier (section 6): canonical JSON with known members."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from . import jcs
from .jsontext import Json, parse
from .limits import MAX_HOP_DEPTH, FormError
from .times import is_time

Object = Dict[str, Json]

_NONCE = re.compile("[A-Za-z0-9_-]{16}")
_CAPABILITY_ID = re.compile("cap_[A-Za-z0-9_-]{16,}")
_MAX_COUNT = 2**53 - 1


class Problem(NamedTuple):
    """Why a caveat is no hop: a code, and the member or operator it is about, if there is one."""

    code: str
    rule: Optional[str]


def canonical_object(data: bytes) -> Optional[Object]:
    """The object that ``data`` is the canonical form of, or ``None``."""
    try:
        text = data.decode("utf-8")
        value = parse(text, MAX_HOP_DEPTH)
        if isinstance(value, dict) and jcs.write(value) == text:
            return value
    except (UnicodeDecodeError, FormError, jcs.NotCanonical):
        pass
    return None


def read_hop(data: bytes) -> Tuple[Optional[Object], List[Problem]]:
    """The hop, or the problems; never both."""
    if not data.startswith(b"{"):
        return None, [Problem("caveat_unknown", None)]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None, [Problem("caveat_unknown", None)]
    hop = canonical_object(data)
    if not hop:
        return None, [Problem("caveat_malformed", None)]
    problems: List[Problem] = []
    for name, value in hop.items():
        if name == "constraints":
            problems.extend(_constraint_problems(value))
        elif name not in _MEMBERS:
            problems.append(Problem("caveat_unknown", name))
        elif not _MEMBERS[name](value):
            problems.append(Problem("caveat_malformed", name))
    return (None, problems) if problems else (hop, [])


def _ascending(keys: List[str]) -> bool:
    units = [jcs.code_units(key) for key in keys]
    return all(left < right for left, right in zip(units, units[1:]))


def _is_set(value: Json) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(member, str) for member in value)
        and _ascending(value)  # type: ignore[arg-type]
    )


def _is_count(value: Json) -> bool:
    return jcs.kind(value) == "number" and value.is_integer() and 0 <= value <= _MAX_COUNT  # type: ignore


def _is_scalars(value: Json) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(jcs.kind(member) in jcs.SCALARS for member in value)
        and _ascending([jcs.write(member) for member in value])
    )


def _is_number(value: Json) -> bool:
    return jcs.kind(value) == "number"


_MEMBERS: Dict[str, Callable[[Json], bool]] = {
    "operations": _is_set,
    "resourceHandles": _is_set,
    "audience": _is_set,
    "invokers": _is_set,
    "expires": is_time,
    "notBefore": is_time,
    "maxFurtherHops": _is_count,
    "purpose": lambda value: isinstance(value, str),
    "nonce": lambda value: isinstance(value, str) and _NONCE.fullmatch(value) is not None,
}
_OPERATORS: Dict[str, Callable[[Json], bool]] = {
    "in": _is_scalars,
    "not_in": _is_scalars,
    "max": _is_number,
    "min": _is_number,
}


def _constraint_problems(value: Json) -> List[Problem]:
    if not isinstance(value, dict) or not value:
        return [Problem("caveat_malformed", "constraints")]
    problems: List[Problem] = []
    for argument, limit in value.items():
        rule = "constraints." + argument
        if isinstance(limit, list) or limit == {}:
            problems.append(Problem("caveat_malformed", rule))
        elif isinstance(limit, dict):
            for name, operand in limit.items():
                if name not in _OPERATORS:
                    problems.append(Problem("caveat_unknown", rule + "." + name))
                elif not _OPERATORS[name](operand):
                    problems.append(Problem("caveat_malformed", rule + "." + name))
    return problems


def read_identifier(data: bytes) -> Optional[Object]:
    """The identifier of a capability, or ``None`` if it is ``identifier_malformed``."""
    identifier = canonical_object(data)
    if identifier is None:
        return None
    required = {"v", "iss", "kid", "id", "grant", "issued"}
    if not required <= set(identifier) <= required | {"principal"}:
        return None
    texts = [identifier[name] for name in ("iss", "kid", "id", "grant")]
    texts.append(identifier.get("principal", "-"))
    if not all(isinstance(text, str) and text for text in texts):
        return None
    if jcs.kind(identifier["v"]) != "number" or identifier["v"] != 1:
        return None
    if _CAPABILITY_ID.fullmatch(identifier["id"]) is None:  # type: ignore[arg-type]
        return None
    return identifier if is_time(identifier["issued"]) else None
