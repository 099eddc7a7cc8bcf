"""Compares the grants under which a service acts with the token's grant (section 7, step 5)."""

from __future__ import annotations

from typing import FrozenSet, List, Mapping, Optional

from .judge import Denial, Invocation

KnownGrants = Mapping[str, FrozenSet[str]]


class Misuse(Exception):
    """The error of a call that does not say under which grant the service acts. There is no decision."""


def acting_grants(invocation: Invocation, known: Optional[KnownGrants]) -> FrozenSet[str]:
    """Return the grants under which the service acts. Raises :class:`Misuse`.

    ``known`` has the issuer's grants with their operations; ``None`` if the issuer does not list them.
    """
    if invocation.grants is None:
        return frozenset([_only_grant(invocation.operation, known)])
    if not invocation.grants:
        raise Misuse("the set of grants is empty")
    unknown = [grant for grant in invocation.grants if known is not None and grant not in known]
    if unknown:
        raise Misuse("the issuer does not know a grant that the service is to act under")
    return invocation.grants


def _only_grant(operation: str, known: Optional[KnownGrants]) -> str:
    """Return the only known grant that has the operation."""
    if known is None:
        raise Misuse("no grant is given, and the issuer does not know its grants")
    candidates = [grant for grant, operations in known.items() if operation in operations]
    if len(candidates) != 1:
        raise Misuse(f"no grant is given, and {len(candidates)} known grants have the operation")
    return candidates[0]


def judge_grant(
    grant: str, operation: str, acting: FrozenSet[str], known: Optional[KnownGrants]
) -> List[Denial]:
    """Judge the grant (step 5). The second rule is not applied to a grant that the issuer does not know."""
    denials: List[Denial] = []
    if grant not in acting:
        denials.append(
            Denial("grant_denied", rule="grant", message="the service acts under another grant")
        )
    if known is not None and grant in known and operation not in known[grant]:
        denials.append(
            Denial("grant_denied", rule="operations", message="the grant lacks the operation")
        )
    return denials
