"""Chains of agents that delegate (section 14.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import FrozenSet, List, Optional, Sequence, Set, Tuple
from urllib.parse import urlsplit

from .card import Card, Delegate
from .discovery import Refusal, Requirements, discover
from .registry import PROPAGATING

LinkDenial = Tuple[str, int]
_OWN_PORTS = {"http": 80, "https": 443}
_CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
MAX_LENGTH = 8


def agent_at(url: str) -> str:
    """Return the normalized URL that identifies an agent."""
    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        return url
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    port = "" if number in (None, _OWN_PORTS.get(scheme)) else f":{number}"
    path = next((parts.path[: -len(card)] for card in _CARDS if parts.path.endswith(card)), parts.path)
    return f"{scheme}://{host}{port}{path.rstrip('/')}"


def validate_chain(
    links: Sequence[Tuple[str, Card]], needs: Requirements, limit: int = MAX_LENGTH
) -> Set[LinkDenial]:
    """Return every reason to refuse a chain, each with the index of its link; empty for a valid chain."""
    end_to_end = needs.end_to_end | (needs.capabilities & PROPAGATING)
    within = links[:limit]
    denials: Set[LinkDenial] = set()
    if len(within) < len(links):
        denials.add(("chain_too_deep", len(within)))
    seen: List[str] = []
    before: Optional[Card] = None
    for at, (url, card) in enumerate(within):
        agent = agent_at(url)
        if agent in seen:
            denials.add(("chain_cycle", at))
        seen.append(agent)
        relied: FrozenSet[str] = frozenset()
        if before is not None:
            named = _named(before, agent)
            if before.delegates is not None and not named:
                denials.add(("delegate_undeclared", at))
            relied = frozenset(name for delegate in named for name in delegate.capabilities)
        end_to_end |= relied & PROPAGATING
        denials |= _link(card, at, _needs_at(at, needs, end_to_end, relied))
        following = agent_at(within[at + 1][0]) if at + 1 < len(within) else None
        if end_to_end and not card.faults and not _follows(card, following):
            denials.add(("chain_unknown", at))
        before = card
    return denials


def _follows(card: Card, following: Optional[str]) -> bool:
    """Return whether the card lists delegates, and each of them is the following agent."""
    return card.delegates is not None and all(
        agent_at(delegate.url) == following for delegate in card.delegates
    )


def _named(card: Card, agent: str) -> List[Delegate]:
    return [delegate for delegate in card.delegates or () if agent_at(delegate.url) == agent]


def _needs_at(
    at: int, needs: Requirements, end_to_end: FrozenSet[str], relied: FrozenSet[str]
) -> Requirements:
    """Return the requirements for the card at a position of the chain.

    The first card must meet all requirements. A later card must meet those that hold end to end, and have the
    capabilities on which the card before it relies.
    """
    if at == 0:
        return replace(needs, end_to_end=end_to_end)
    return Requirements(needs.version, relied, end_to_end, allow_deprecated=needs.allow_deprecated)


def _link(card: Card, at: int, needs: Requirements) -> Set[LinkDenial]:
    judged = discover(card, needs)
    return {(code, at) for code in judged.denials} if isinstance(judged, Refusal) else set()
