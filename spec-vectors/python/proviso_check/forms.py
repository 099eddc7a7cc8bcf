"""The forms of the values in a hop (section 5), and what is wrong with a caveat."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional

from . import jcs
from .jsontext import Json

_MAX_COUNT = 2**53 - 1
_PLAIN_NAME = re.compile("[A-Za-z0-9_-]+")


class Problem(NamedTuple):
    """Why a caveat is no hop: a code, and the member or operator it is about, if there is one."""

    code: str
    rule: Optional[str]


def malformed(rule: str) -> Problem:
    """A value of another form than the specification gives it."""
    return Problem("caveat_malformed", rule)


def unknown(rule: str) -> Problem:
    """A name that the specification does not define."""
    return Problem("caveat_unknown", rule)


def is_set(value: Json) -> bool:
    """Whether a value is an array of distinct strings in order, at least one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(member, str) for member in value)
        and _ascending(value)  # type: ignore[arg-type]
    )


def is_scalars(value: Json) -> bool:
    """Whether a value is an array of distinct scalars in the order of their texts, at least one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(jcs.kind(member) in jcs.SCALARS for member in value)
        and _ascending([jcs.write(member) for member in value])
    )


def is_number(value: Json) -> bool:
    """Whether a value is a finite number."""
    return jcs.kind(value) == "number"


def is_count(value: Json, most: int = _MAX_COUNT) -> bool:
    """Whether a value is a whole number from 0 to ``most``."""
    return is_number(value) and value.is_integer() and 0 <= value <= most  # type: ignore


def _ascending(keys: List[str]) -> bool:
    units = [jcs.code_units(key) for key in keys]
    return all(left < right for left, right in zip(units, units[1:]))


def rule_of(key: str, *names: str) -> str:
    """The rule of a denial or a problem (section 5.1): a key, and names further in."""
    return key + "".join(
        "." + name if _PLAIN_NAME.fullmatch(name) else "[" + jcs.string(name) + "]"
        for name in names
    )
