"""Reading a card: range, flags, interfaces, grants and delegates (section 14.3)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Tuple

from .card_places import (
    DISCOVERY, GRANTS, Faults, camel, extensions_of, has_older_form, is_too_deep, snake,
)
from .card_versions import UNNAMED, Range, Version, read_version

# A URL without user information: there is no "@" before the path.
_URL = re.compile(r"https?://[^/?#@\s]+([/?#]\S*)?", re.IGNORECASE)
# The bindings whose addresses are http or https URLs.
_OVER_HTTP = ("JSONRPC", "HTTP+JSON", "")
# Flags that A2A itself defines. They declare a capability only in A2A's own properties.
_OWN_FLAGS = frozenset(["streaming", "extended_agent_card"])
_LABEL = r"[a-z0-9][a-z0-9_-]*"
_VENDOR = re.compile(rf"(https?://|urn:)\S{{1,500}}|{_LABEL}(\.{_LABEL})+", re.IGNORECASE)
_DELEGATE = re.compile(r"https?://[^/?#\s]+([/?#]\S*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Interface:
    """One interface. ``version`` is the version it names; ``versions`` are all its versions, if it lists them."""

    url: str
    binding: str
    version: Optional[Version]
    versions: Optional[FrozenSet[Version]]


@dataclass(frozen=True)
class Grant:
    operations: FrozenSet[str]
    attenuable: Optional[bool]
    legacy: bool


@dataclass(frozen=True)
class Delegate:
    url: str
    capabilities: Tuple[str, ...]


@dataclass
class Card:
    """The contents of a card. It has ``faults`` only if the card is malformed."""

    faults: List[str]
    range: Range = field(default_factory=Range)
    flags: Dict[str, bool] = field(default_factory=dict)
    streaming: Optional[bool] = None
    is_older: bool = False
    extensions: FrozenSet[str] = frozenset()
    interfaces: Tuple[Interface, ...] = ()
    grants: Dict[str, Grant] = field(default_factory=dict)
    delegates: Optional[Tuple[Delegate, ...]] = None


def is_vendors(name: str) -> bool:
    """Return whether a vendor has defined the capability: its name is an absolute URI, or contains a dot."""
    return _VENDOR.fullmatch(name) is not None


def read_card(value: Any, tiers: Mapping[str, str]) -> Card:
    """Read a card. ``tiers`` has the tier of each capability in the registry. This function never raises."""
    if not isinstance(value, dict):
        return Card(["it is not an object"])
    if is_too_deep(value):
        return Card(["it is nested too deep"])
    faults = Faults()
    if not isinstance(value.get("name"), str):
        faults.add("it has no name")
    faults.array(value.get("signatures"), "signatures")
    own = faults.object(value.get("capabilities"), "capabilities")
    extensions = extensions_of(own, faults)
    params = _params(extensions, DISCOVERY, faults)
    places = [value, params]
    versions = _Versions(faults)
    card = Card(
        faults.found,
        range=Range(*(faults.agreed(name, places, versions.one)
                      for name in ("minProtocolVersion", "maxProtocolVersion"))),
        flags=_flags(own, faults.object(params.get("capabilities"), "capabilities"), tiers, faults),
        streaming=_flag(own.get("streaming"), "streaming", faults),
        is_older=has_older_form(value),
        extensions=frozenset(extensions),
        interfaces=_interfaces(value, params, versions, faults),
        delegates=_delegates(params.get("delegates"), tiers, faults),
    )
    if card.is_older:
        _older_flag(value, card, faults)
    granting = [_params(extensions, GRANTS, faults), value]
    said = faults.agreed("capabilityGrants", granting, lambda list_: json.dumps(list_, sort_keys=True))
    card.grants = _grants(None if said is None else json.loads(said), faults)
    _contradictions(card, tiers, faults)
    return card


def _params(extensions: Mapping[str, Any], uri: str, faults: Faults) -> Dict[str, Any]:
    return faults.object(extensions.get(uri, {}).get("params"), f"params of {uri}")


class _Versions:
    """Reads versions. An unreadable version is recorded as a fault."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def one(self, value: Any) -> Optional[Version]:
        if value is None or value == "":
            return None
        version = read_version(value)
        if version is None:
            self.faults.add("a version that cannot be read")
        return version

    def several(self, value: Any) -> Optional[FrozenSet[Version]]:
        read = [self.one(one) for one in self.faults.array(value, "protocolVersions")]
        return frozenset(version for version in read if version is not None) if read else None


def _flag(value: Any, name: str, faults: Faults) -> Optional[bool]:
    if value is not None and not isinstance(value, bool):
        faults.add(f"{name} is neither true nor false")
    return value if isinstance(value, bool) else None


def _flags(
    own: Dict[str, Any], params: Dict[str, Any], tiers: Mapping[str, str], faults: Faults
) -> Dict[str, bool]:
    names = {spelling: name for name in tiers for spelling in (name, camel(name))}
    found: Dict[str, bool] = {}
    spelled: Dict[str, bool] = {}
    for place in (own, params):
        for spelling, value in place.items():
            name = spelling if is_vendors(spelling) else names.get(spelling)
            if name in _OWN_FLAGS and place is params:
                continue
            flag = None if name is None else _flag(value, spelling, faults)
            if name is None or flag is None:
                continue
            # A URI has only one spelling; any other name has two.
            either = name if ":" in name else snake(name)
            found.setdefault(name, flag)
            if spelled.setdefault(either, flag) != flag:
                faults.add(f"the card says two things of {name}")
    return found


def _older_flag(value: Mapping[str, Any], card: Card, faults: Faults) -> None:
    """Read ``supportsAuthenticatedExtendedCard``, which A2A 1.0 moved into ``capabilities``."""
    said = faults.agreed("supportsAuthenticatedExtendedCard", [value],
                         lambda flag: _flag(flag, "extendedAgentCard", faults))
    if said is not None and card.flags.setdefault("extended_agent_card", said) != said:
        faults.add("the card says two things of extended_agent_card")


def _interfaces(
    card: Mapping[str, Any], params: Mapping[str, Any], versions: _Versions, faults: Faults
) -> Tuple[Interface, ...]:
    entries: List[Mapping[str, Any]] = []
    for entry in faults.array(params.get("interfaces"), "interfaces"):
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            entries.append(entry)
        else:
            faults.add("an entry of interfaces without a url")
    found: List[Interface] = []
    for url, binding, about in _written(card, faults):
        if not _is_address(url, binding.upper()):
            faults.add("the url of an interface is not one")
        single = faults.agreed("protocolVersion", [about], versions.one)
        said = [about, *(entry for entry in entries if _is_about(entry, url, binding, faults))]
        several = faults.agreed("protocolVersions", said, versions.several)
        if several is not None and single is not None and single not in several:
            faults.add("protocolVersions lacks protocolVersion")
        found.append(Interface(url, binding, single, several))
    for entry in entries:
        if not any(_is_about(entry, one.url, one.binding, faults) for one in found):
            faults.add("an entry of interfaces that is about none of them")
    return tuple(found)


def _written(
    card: Mapping[str, Any], faults: Faults
) -> List[Tuple[str, str, Mapping[str, Any]]]:
    """Return the URL and the binding of each interface, with the object that names its version."""
    found: List[Tuple[str, str, Mapping[str, Any]]] = []
    if has_older_form(card):
        binding = faults.text_at(card, "preferredTransport") or "JSONRPC"
        if card.get("url") not in (None, ""):
            found.append((faults.text(card["url"]), binding, card))
        for one in faults.list_at(card, "additionalInterfaces"):
            if isinstance(one, dict) and (one.get("url"), one.get("transport")) != (card.get("url"), binding):
                found.append((faults.text(one.get("url")), faults.text(one.get("transport")), card))
        return found
    for one in faults.list_at(card, "supportedInterfaces"):
        if isinstance(one, dict):
            faults.text(one.get("tenant"))
            found.append((faults.text(one.get("url")), faults.text_at(one, "protocolBinding"), one))
        else:
            faults.add("an interface is not an object")
    return found


def _is_address(url: str, binding: str) -> bool:
    if binding in _OVER_HTTP:
        return _URL.fullmatch(url) is not None
    return url != "" and not (binding == "GRPC" and "@" in url)


def _is_about(entry: Mapping[str, Any], url: str, binding: str, faults: Faults) -> bool:
    return entry["url"] == url and faults.text_at(entry, "protocolBinding") in ("", binding)


def _grants(value: Any, faults: Faults) -> Dict[str, Grant]:
    found: Dict[str, Grant] = {}
    for one in faults.array(value, "capabilityGrants"):
        name = one.get("id") if isinstance(one, dict) else None
        if not isinstance(name, str) or name == "":
            faults.add("a grant without an id")
            continue
        if name in found:
            faults.add("a grant twice")
        operations = faults.array(one.get("operations"), "operations")
        required = faults.array(one.get("requires"), "requires")
        if not all(isinstance(each, str) for each in [*operations, *required]):
            faults.add("an operation or a required grant is not text")
        texts = frozenset(operation for operation in operations if isinstance(operation, str))
        attenuable = _flag(one.get("attenuable"), "attenuable", faults)
        found[name] = Grant(texts, attenuable, _flag(one.get("legacy"), "legacy", faults) is True)
    return found


def _delegates(
    value: Any, tiers: Mapping[str, str], faults: Faults
) -> Optional[Tuple[Delegate, ...]]:
    if value is None:
        return None
    names = {camel(name): name for name in tiers}
    found: List[Delegate] = []
    for one in faults.array(value, "delegates"):
        url = one.get("url") if isinstance(one, dict) else None
        if not isinstance(url, str) or _DELEGATE.fullmatch(url) is None:
            faults.add("a delegate without a usable url")
            continue
        relied = faults.array(one.get("capabilities"), "a delegate's capabilities")
        if not all(isinstance(name, str) for name in relied):
            faults.add("a delegate's capability is not text")
        found.append(Delegate(url, tuple(
            names.get(name, name) for name in relied if isinstance(name, str))))
    return tuple(found)


def _contradictions(card: Card, tiers: Mapping[str, str], faults: Faults) -> None:
    if card.range.is_turned_round:
        faults.add("the range is turned round")
    for interface in card.interfaces:
        named = interface.versions or frozenset([interface.version] if interface.version else [])
        if not card.range.is_turned_round and not all(map(card.range.has, named)):
            faults.add("an interface speaks a version outside the card's range")
    if card.flags.get("streaming_message") is True and card.streaming is False:
        faults.add("streaming_message without streaming")
    for name, flag in card.flags.items():
        if not flag and tiers.get(name) == "implicit":
            faults.add(f"the card denies {name}")
