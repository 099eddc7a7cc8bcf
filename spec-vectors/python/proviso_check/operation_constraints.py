"""The problems of ``operationConstraints`` and ``arguments`` in a caveat (section 5.1)."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from .forms import Problem, is_count, is_number, is_scalars, is_set, malformed, rule_of, unknown
from .jsontext import Json
from .limits import MAX_ARRAY_MEMBERS
from .paths import read_path
from .pointer import tokens
from .urls import url_problems


def entry_rule(key: str, operation: str) -> str:
    """Return the rule for an entry of ``operationConstraints`` or ``arguments``."""
    return key + ".*" if operation == "*" else rule_of(key, operation)


def closed_list_problems(value: Json) -> List[Problem]:
    """Return the problems of ``arguments``."""
    if not isinstance(value, dict) or not value:
        return [malformed("arguments")]
    return [
        malformed(entry_rule("arguments", operation))
        for operation, names in value.items()
        if names != [] and not is_set(names)
    ]


def operation_constraint_problems(value: Json) -> List[Problem]:
    """Return the problems of ``operationConstraints``."""
    key = "operationConstraints"
    if not isinstance(value, dict) or not value:
        return [malformed(key)]
    problems: List[Problem] = []
    for operation, entry in value.items():
        if not isinstance(entry, dict) or not entry:
            problems.append(malformed(entry_rule(key, operation)))
            continue
        for name, constraint in entry.items():
            rule = rule_of(entry_rule(key, operation), name)
            if tokens(name) is None:
                problems.append(malformed(rule))
            if isinstance(constraint, (dict, list)):
                problems.extend(_operator_problems(constraint, rule))
    return problems


def _operator_problems(value: Json, rule: str) -> List[Problem]:
    """Return the problems of an object with the operators for one argument."""
    if not isinstance(value, dict) or not value:
        return [malformed(rule)]
    problems: List[Problem] = []
    for name, operand in value.items():
        within = f"{rule}.{name}"
        if name == "optional":
            if operand is not True or len(value) == 1 or "absent" in value:
                problems.append(malformed(within))
        elif name == "absent":
            if operand is not True or len(value) > 1:
                problems.append(malformed(within))
        else:
            problems.extend(_operand_problems(name, operand, within))
    return problems


def _operand_problems(name: str, operand: Json, rule: str) -> List[Problem]:
    """Return the problems of the operand of an operator that judges a value."""
    if name in _OPERANDS:
        return [] if _OPERANDS[name](operand) else [malformed(rule)]
    if name == "url":
        return url_problems(operand, rule)
    if name == "items":
        return _items_problems(operand, rule)
    if name == "each":
        return _each_problems(operand, rule)
    return [unknown(rule)]


def _each_problems(value: Json, rule: str) -> List[Problem]:
    if not isinstance(value, dict) or not value:
        return [malformed(rule)]
    problems: List[Problem] = []
    for name, operand in value.items():
        within = f"{rule}.{name}"
        if name in ("optional", "absent", "each"):
            problems.append(malformed(within))
        else:
            problems.extend(_operand_problems(name, operand, within))
    return problems


def _items_problems(value: Json, rule: str) -> List[Problem]:
    if not isinstance(value, dict) or not value:
        return [malformed(rule)]
    problems: List[Problem] = []
    for name, bound in value.items():
        if name not in ("min", "max"):
            problems.append(unknown(f"{rule}.{name}"))
        elif not is_count(bound, MAX_ARRAY_MEMBERS):
            problems.append(malformed(f"{rule}.{name}"))
    return problems


_OPERANDS: Dict[str, Callable[[Any], bool]] = {
    "in": is_scalars,
    "not_in": is_scalars,
    "max": is_number,
    "min": is_number,
    "path": lambda value: isinstance(value, str) and read_path(value) is not None,
    "prefix": lambda value: isinstance(value, str) and value != "",
}
