"""Judges values by operators: those of ``constraints`` (section 5), and all operators of section 5.1."""

from __future__ import annotations

from typing import Any

from . import jcs
from .limits import MAX_ARRAY_MEMBERS, MAX_JUDGED_UNITS, utf16_length
from .paths import read_path
from .urls import allows_url


def satisfies_limit(operator: str, operand: Any, value: Any) -> bool:
    """Return whether a value satisfies ``min``, ``max``, ``in`` or ``not_in``."""
    if operator == "min":
        return jcs.kind(value) == "number" and value >= operand
    if operator == "max":
        return jcs.kind(value) == "number" and value <= operand
    if operator == "in":
        return any(jcs.same_scalar(member, value) for member in operand)
    if operator == "not_in":
        return (
            jcs.kind(value) in jcs.SCALARS
            and any(jcs.kind(member) == jcs.kind(value) for member in operand)
            and not any(jcs.same_scalar(member, value) for member in operand)
        )
    return False


def can_be_judged(value: Any) -> bool:
    """Return whether operators can judge a value: its type is supported, and it is not too long."""
    kind = jcs.kind(value)
    if kind == "string":
        return utf16_length(value) <= MAX_JUDGED_UNITS
    if kind == "array":
        return len(value) <= MAX_ARRAY_MEMBERS
    return kind in jcs.SCALARS


def satisfies(operator: str, operand: Any, value: Any) -> bool:
    """Return whether a value satisfies an operator of section 5.1 other than ``optional`` and ``absent``."""
    if not can_be_judged(value):
        return False
    kind = jcs.kind(value)
    if operator == "path":
        folder, path = read_path(operand), read_path(value) if kind == "string" else None
        return folder is not None and path is not None and folder.has(path)
    if operator == "url":
        return kind == "string" and allows_url(operand, value)
    if operator == "prefix":
        return kind == "string" and value.startswith(operand)
    if operator == "items":
        return kind == "array" and (
            operand.get("min", 0) <= len(value) <= operand.get("max", MAX_ARRAY_MEMBERS)
        )
    if operator == "each":
        return kind == "array" and all(
            satisfies(name, inner, element) for element in value for name, inner in operand.items()
        )
    return satisfies_limit(operator, operand, value)
