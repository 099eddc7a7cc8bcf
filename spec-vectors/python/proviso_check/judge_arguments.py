"""Judging a call's arguments by ``operationConstraints`` and ``arguments`` (section 5.1)."""

from __future__ import annotations

from typing import Any, Dict, List

from . import jcs
from .forms import rule_of
from .jsontext import Json
from .operation_constraints import entry_rule
from .operators import can_be_judged, satisfies
from .pointer import follow


def entries_that_apply(operation: str, entries: Any) -> List[str]:
    """Return the names of the entries for the operation itself and for ``*``, if they exist."""
    return [entry for entry in dict.fromkeys((operation, "*")) if entry in entries]


def constraint_violations(
    entries: Any, operation: str, arguments: Dict[str, Any]
) -> List[str]:
    """Return the rules of ``operationConstraints`` that are not met."""
    return [
        rule_of(entry_rule("operationConstraints", entry), name, *operator)
        for entry in entries_that_apply(operation, entries)
        for name, constraint in entries[entry].items()
        for operator in _violated(name, constraint, arguments)
    ]


def closed_list_violations(
    entries: Any, operation: str, arguments: Dict[str, Any]
) -> List[str]:
    """Return the rules of ``arguments`` that are not met."""
    return [
        entry_rule("arguments", entry)
        for entry in entries_that_apply(operation, entries)
        if not all(name in entries[entry] for name in arguments)
    ]


def _violated(name: str, constraint: Json, arguments: Dict[str, Any]) -> List[List[str]]:
    """Return the names of each unmet operator of one constraint. An unmet scalar has an empty list of names."""
    found = follow(name, arguments)
    if not isinstance(constraint, dict):
        met = found.reached and not found.missing and _equals(constraint, found.value)
        return [] if met else [[]]
    if not found.reached:
        return [[operator] for operator in constraint if operator != "optional"]
    if found.missing:
        met = "absent" in constraint or "optional" in constraint
        return [] if met else [[operator] for operator in constraint]
    return [
        [operator]
        for operator, operand in constraint.items()
        if operator != "optional"
        and (operator == "absent" or not satisfies(operator, operand, found.value))
    ]


def _equals(scalar: Json, value: Any) -> bool:
    return can_be_judged(value) and jcs.same_scalar(scalar, value)
