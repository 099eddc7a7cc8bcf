"""The forms of the values in a hop (section 5), and the problems of a caveat."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional

from . import jcs
from .jsontext import Json

_MAX_COUNT = 2**53 - 1
_PLAIN_NAME = re.compile("[A-Za-z0-9_-]+")


class Problem(NamedTuple):
    """A reason why a caveat is not a hop: a code, and the property or operator at fault, if there is one."""

    code: str
    rule: Optional[str]


def malformed(rule: str) -> Problem:
    """Return the problem of a value whose form is not that of the specification."""
    return Problem("caveat_malformed", rule)


def unknown(rule: str) -> Problem:
    """Return the problem of a name that the specification does not define."""
    return Problem("caveat_unknown", rule)


def is_set(value: Json) -> bool:
    """Return whether a value is a non-empty array of distinct strings in ascending order."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(member, str) for member in value)
        and _ascending(value)  # type: ignore[arg-type]
    )


def is_scalars(value: Json) -> bool:
    """Return whether a value is a non-empty array of distinct scalars, ordered by their canonical JSON."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(jcs.kind(member) in jcs.SCALARS for member in value)
        and _ascending([jcs.write(member) for member in value])
    )


def is_number(value: Json) -> bool:
    """Return whether a value is a finite number."""
    return jcs.kind(value) == "number"


def is_count(value: Json, most: int = _MAX_COUNT) -> bool:
    """Return whether a value is an integer from 0 to ``most``."""
    return is_number(value) and value.is_integer() and 0 <= value <= most  # type: ignore


def _ascending(keys: List[str]) -> bool:
    units = [jcs.code_units(key) for key in keys]
    return all(left < right for left, right in zip(units, units[1:]))


def rule_of(key: str, *names: str) -> str:
    """Return the rule of a denial or a problem (section 5.1), from a key and the names below the key."""
    return key + "".join(
        "." + name if _PLAIN_NAME.fullmatch(name) else "[" + jcs.string(name) + "]"
        for name in names
    )
