"""Judging an invocation by one hop (section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from . import jcs
from .forms import rule_of
from .hop import Object
from .judge_arguments import closed_list_violations, constraint_violations
from .jsontext import Json
from .operators import satisfies_limit

_MAX_TOLD = 16


@dataclass(frozen=True)
class Denial:
    """One reason for a refusal. Conformance compares ``code``, ``hop`` and ``discharge``."""

    code: str
    hop: Optional[int] = None
    discharge: Optional[int] = None
    rule: Optional[str] = None
    message: str = ""


@dataclass(frozen=True)
class Invocation:
    """The call to judge. ``audience`` is the name of the service that checks the token.

    No set contains a missing invoker or audience. An empty string is an ordinary value. The service acts under
    one of ``grants``. Hops are judged at ``time``; without it, at the checker's own time.
    """

    operation: str
    handles: Tuple[str, ...] = ()
    arguments: Dict[str, Any] = field(default_factory=dict)
    invoker: Optional[str] = None
    audience: Optional[str] = None
    grants: Optional[FrozenSet[str]] = None
    time: Optional[str] = None


def judge(
    hop: Object, invocation: Invocation, now: str, link: int, following: int,
    discharge: Optional[int] = None,
) -> List[Denial]:
    """Return a denial for each rule of ``hop`` that is not met, in the order of the table in section 5.

    ``following`` is the number of links after this one in its macaroon.
    """
    denials: List[Denial] = []

    def deny(code: str, rule: str, message: str) -> None:
        denials.append(Denial(code, link, discharge, rule, message))

    operations: Any = hop.get("operations")
    if operations is not None and invocation.operation not in operations:
        deny("operation_denied", "operations", "the operation is not in the set")
    handles: Any = hop.get("resourceHandles")
    if handles is not None:
        if not invocation.handles:
            deny("resource_denied", "resourceHandles", "the invocation names no resource")
        denied = [handle for handle in dict.fromkeys(invocation.handles) if handle not in handles]
        for _ in denied[:_MAX_TOLD]:
            deny("resource_denied", "resourceHandles", "a resource is not in the set")
    constraints: Any = hop.get("constraints", {})
    violated = [
        rule_of("constraints", argument, *([operator] if operator else []))
        for argument, limit in constraints.items()
        for operator in _violations(argument, limit, invocation.arguments)
    ]
    by_operation = constraint_violations(
        hop.get("operationConstraints", {}), invocation.operation, invocation.arguments
    )
    for rule in violated[:_MAX_TOLD] + by_operation[:_MAX_TOLD]:
        deny("constraint_violated", rule, "the argument is not within its limit")
    closed: Any = hop.get("arguments", {})
    for rule in closed_list_violations(closed, invocation.operation, invocation.arguments):
        deny("constraint_violated", rule, "an argument is not in the closed list")
    expires: Any = hop.get("expires")
    if expires is not None and not now < expires:
        deny("expired", "expires", "the token has expired")
    not_before: Any = hop.get("notBefore")
    if not_before is not None and not now >= not_before:
        deny("not_yet_valid", "notBefore", "the token is not valid yet")
    for key, who, code in (
        ("audience", invocation.audience, "audience_denied"),
        ("invokers", invocation.invoker, "invoker_denied"),
    ):
        allowed: Any = hop.get(key)
        if allowed is not None and (who is None or who not in allowed):
            deny(code, key, "not in the set")
    further: Any = hop.get("maxFurtherHops")
    if further is not None and following > further:
        deny("too_many_hops", "maxFurtherHops", "too many links follow")
    return denials


def _violations(argument: str, limit: Json, arguments: Dict[str, Any]) -> List[str]:
    """Return the operators of one limit that are not met. An unmet scalar limit has an empty string."""
    there = argument in arguments
    value = arguments.get(argument)
    if not isinstance(limit, dict):
        return [] if there and jcs.same_scalar(limit, value) else [""]
    return [
        operator
        for operator, operand in limit.items()
        if not (there and satisfies_limit(operator, operand, value))
    ]
