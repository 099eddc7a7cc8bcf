"""Safe discovery: decides if a card meets a caller's requirements (section 14.5).

Fetching a card, and its signatures, are not judged here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, FrozenSet, List, Mapping, Optional, Tuple

from . import jsontext
from .card import Card, Interface, read_card
from .card_places import MAX_DEPTH
from .card_versions import UNNAMED, Version
from .limits import FormError
from .registry import REGISTRY, by_name, is_reached

BINDINGS = frozenset(["JSONRPC", "HTTP+JSON", "GRPC"])


@dataclass(frozen=True)
class NeededGrant:
    grant: str
    operations: Tuple[str, ...] = ()
    attenuable: bool = False


@dataclass(frozen=True)
class Requirements:
    """A caller's requirements. ``end_to_end`` has capabilities that every agent of a chain must have."""

    version: Version = (1, 0)
    capabilities: FrozenSet[str] = frozenset()
    end_to_end: FrozenSet[str] = frozenset()
    grants: Tuple[NeededGrant, ...] = ()
    binding: Optional[str] = None
    allow_legacy: bool = False
    allow_deprecated: bool = True


@dataclass(frozen=True)
class Usable:
    interface: Interface
    version: Version
    warnings: Tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    denials: Tuple[str, ...]


def read_text(text: str) -> Any:
    """Parse a card from JSON text; ``None`` if it is not JSON."""
    try:
        return jsontext.parse(text, MAX_DEPTH)
    except FormError:
        return None


def card_of(value: Any, registry: Any = REGISTRY) -> Card:
    """Read a card, with the tiers of a registry."""
    return read_card(value, {name: entry["tier"] for name, entry in by_name(registry).items()})


def discover(card: Card, needs: Requirements, registry: Any = REGISTRY) -> "Usable | Refusal":
    """Judge a card. A refusal has every reason, or ``card_malformed`` alone for a malformed card."""
    if card.faults:
        return Refusal(("card_malformed",) * len(card.faults))
    chosen, denials = _interface(card, needs)
    warnings: List[str] = []
    for name in sorted(needs.capabilities | needs.end_to_end):
        found, warned = _capability(card, name, needs, by_name(registry))
        denials += found
        warnings += warned
    for need in needs.grants:
        found, warned = _grant(card, need, needs.allow_legacy)
        denials += found
        warnings += warned
    if denials or chosen is None:
        return Refusal(tuple(denials))
    return Usable(chosen, needs.version, tuple(warnings))


def speaks(card: Card, interface: Interface, version: Version) -> bool:
    """Return whether an interface of the card supports a version."""
    if interface.versions is not None:
        return version in interface.versions
    if interface.version is not None:
        return version == interface.version or card.range.widens(interface.version, version)
    if card.range.is_given:
        return card.range.has(version)
    return card.is_older and UNNAMED.has(version)


def _interface(card: Card, needs: Requirements) -> Tuple[Optional[Interface], List[str]]:
    wanted = BINDINGS if needs.binding is None else frozenset([needs.binding])
    bound = [one for one in card.interfaces if one.binding in wanted]
    fitting = [one for one in bound if speaks(card, one, needs.version)]
    denials = [] if bound else ["interface_unsupported"]
    if not card.range.has(needs.version) or (bound and not fitting):
        denials.append("version_incompatible")
    return (fitting[0] if fitting else None), denials


def _capability(
    card: Card, name: str, needs: Requirements, registry: Mapping[str, Any]
) -> Tuple[List[str], List[str]]:
    """Return the denials and the warnings for one required capability."""
    entry = registry.get(name)
    if entry is not None and is_reached(entry, "removed", needs.version):
        return ["capability_removed"], []
    if not _declares(card, name, entry):
        return ["capability_undeclared"], []
    if entry is None or not is_reached(entry, "deprecated", needs.version):
        return [], []
    return ([], ["capability_deprecated"]) if needs.allow_deprecated else (["capability_deprecated"], [])


def _declares(card: Card, name: str, entry: Optional[Mapping[str, Any]]) -> bool:
    if entry is not None and entry["tier"] == "implicit":
        return True
    if name == "streaming_message" and card.streaming is not True:
        return False
    return card.flags.get(name, name in card.extensions)


def _grant(card: Card, need: NeededGrant, allow_legacy: bool) -> Tuple[List[str], List[str]]:
    """Return the denials and the warnings for one required grant."""
    covering = [one for one in card.grants.values() if one.legacy and "*" in one.operations]
    grant = card.grants.get(need.grant, covering[0] if covering else None)
    if grant is None:
        return ["grant_missing"], []
    lacking = [one for one in need.operations if not grant.operations & {one, "*"}]
    denials = ["grant_operation_missing"] * len(lacking)
    if need.attenuable and grant.attenuable is not True:
        denials.append("grant_not_attenuable")
    if not grant.legacy:
        return denials, []
    return (denials, ["legacy_grant"]) if allow_legacy else ([*denials, "legacy_only"], [])
