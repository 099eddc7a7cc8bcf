"""Reading a caveat (section 5) and an identifier (section 6): canonical JSON with known properties."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Optional, Tuple

from . import jcs
from .forms import Problem, is_count, is_number, is_scalars, is_set, malformed, rule_of, unknown
from .jsontext import Json, parse
from .limits import MAX_HOP_DEPTH, FormError
from .operation_constraints import closed_list_problems, operation_constraint_problems
from .times import is_time

Object = Dict[str, Json]

_NONCE = re.compile("[A-Za-z0-9_-]{16}")
_CAPABILITY_ID = re.compile("cap_[A-Za-z0-9_-]{16,}")


def canonical_object(data: bytes) -> Optional[Object]:
    """Parse an object; ``None`` if ``data`` is not the canonical form of an object."""
    try:
        text = data.decode("utf-8")
        value = parse(text, MAX_HOP_DEPTH)
        if isinstance(value, dict) and jcs.write(value) == text:
            return value
    except (UnicodeDecodeError, FormError, jcs.NotCanonical):
        pass
    return None


def read_hop(data: bytes) -> Tuple[Optional[Object], List[Problem]]:
    """Read a caveat. Return the hop without problems, or the problems without a hop."""
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
        if name in _LIMITS:
            problems.extend(_LIMITS[name](value))
        elif name not in _MEMBERS:
            problems.append(unknown(name))
        elif not _MEMBERS[name](value):
            problems.append(malformed(name))
    return (None, problems) if problems else (hop, [])


_MEMBERS: Dict[str, Callable[[Json], bool]] = {
    "operations": is_set,
    "resourceHandles": is_set,
    "audience": is_set,
    "invokers": is_set,
    "expires": is_time,
    "notBefore": is_time,
    "maxFurtherHops": is_count,
    "purpose": lambda value: isinstance(value, str),
    "nonce": lambda value: isinstance(value, str) and _NONCE.fullmatch(value) is not None,
}
_OPERATORS: Dict[str, Callable[[Json], bool]] = {
    "in": is_scalars,
    "not_in": is_scalars,
    "max": is_number,
    "min": is_number,
}


def _constraint_problems(value: Json) -> List[Problem]:
    if not isinstance(value, dict) or not value:
        return [malformed("constraints")]
    problems: List[Problem] = []
    for argument, limit in value.items():
        rule = rule_of("constraints", argument)
        if isinstance(limit, list) or limit == {}:
            problems.append(malformed(rule))
        elif isinstance(limit, dict):
            for name, operand in limit.items():
                if name not in _OPERATORS:
                    problems.append(unknown(rule + "." + name))
                elif not _OPERATORS[name](operand):
                    problems.append(malformed(rule + "." + name))
    return problems


_LIMITS: Dict[str, Callable[[Json], List[Problem]]] = {
    "constraints": _constraint_problems,
    "operationConstraints": operation_constraint_problems,
    "arguments": closed_list_problems,
}


def read_identifier(data: bytes) -> Optional[Object]:
    """Read the identifier of a capability; ``None`` if the identifier is malformed."""
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
