"""The registry of capabilities and its stability (sections 14.1 and 14.2)."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Set

from .card_versions import Version, read_version

Entry = Mapping[str, Any]
_VERSIONS = ("introduced", "deprecated", "removed")
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")


class MalformedRegistry(Exception):
    """The error of a registry that does not have the shape of section 14.2."""


def _declared(name: str, **more: str) -> Entry:
    return {"name": name, "tier": "declared", "introduced": "1.0", **more}


REGISTRY: Dict[str, Any] = {
    "version": "1.0",
    "capabilities": [
        *({"name": name, "tier": "implicit", "introduced": "1.0"}
          for name in ("send_message", "get_task", "list_tasks", "error_handling")),
        *(_declared(name)
          for name in ("streaming", "extended_agent_card", "pause_resume", "streaming_message",
                       "push_notifications", "context_reuse", "multi_tenant",
                       "message_history_injection")),
        _declared("artifact_streaming", deprecated="1.0", supersededBy="streaming_message"),
    ],
}

# An agent has these capabilities only if every agent to which it delegates has them (section 14.6).
PROPAGATING = frozenset(["context_reuse"])


def entries_of(registry: Any) -> List[Entry]:
    """Return the entries in order. Raises :class:`MalformedRegistry`."""
    entries = registry.get("capabilities") if isinstance(registry, dict) else None
    if not isinstance(entries, list):
        raise MalformedRegistry("capabilities is not an array")
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise MalformedRegistry("a capability without a name")
        if entry.get("tier") not in ("implicit", "declared"):
            raise MalformedRegistry("a capability without a tier")
    return entries


def by_name(registry: Any) -> Dict[str, Entry]:
    """Return the entries by name."""
    return {entry["name"]: entry for entry in entries_of(registry)}


def is_reached(entry: Entry, moment: str, version: Version) -> bool:
    """Return whether a capability is deprecated or removed in ``version``. ``moment`` names the property."""
    named = read_version(entry.get(moment))
    return named is not None and named <= version


def broken_rules(registry: Any) -> Set[int]:
    """Return the numbers of the rules 1 to 4 that a registry breaks."""
    entries = entries_of(registry)
    names = {entry["name"]: entry for entry in entries}
    version = read_version(registry.get("version"))
    broken = {1} if version is None or len(names) < len(entries) else set()
    for entry in entries:
        if _NAME.fullmatch(entry["name"]) is None:
            broken.add(1)
        broken |= _broken_by(entry, version)
        successor = entry.get("supersededBy")
        if successor is not None:
            found = names.get(successor)
            if found is None or (version is not None and is_reached(found, "removed", version)):
                broken.add(4)
    return broken


def _broken_by(entry: Entry, version: Optional[Version]) -> Set[int]:
    broken: Set[int] = set()
    introduced, deprecated, removed = (read_version(entry.get(name)) for name in _VERSIONS)
    unreadable = [name for name in _VERSIONS
                  if entry.get(name) is not None and read_version(entry[name]) is None]
    if introduced is None or unreadable:
        return {1}
    if version is not None and introduced > version:
        broken.add(1)
    if deprecated is not None and deprecated < introduced:
        broken.add(1)
    if deprecated is not None and deprecated[1] != 0:
        broken.add(2)
    if removed is not None:
        if deprecated is not None and removed <= deprecated:
            broken.add(1)
        if deprecated is None or removed[0] <= deprecated[0]:
            broken.add(3)
    return broken


def broken_by_change(before: Any, after: Any) -> Set[int]:
    """Return the numbers of the rules 5 to 7 that ``after`` breaks as the successor of ``before``."""
    names, known = by_name(after), by_name(before)
    old_version, new_version = read_version(before.get("version")), read_version(after.get("version"))
    broken = set() if old_version is None or new_version is None or old_version <= new_version else {5}
    same_major = old_version is None or new_version is None or old_version[0] == new_version[0]
    for name, new in names.items():
        introduced = read_version(new.get("introduced"))
        if name in known:
            continue
        if old_version is not None and introduced is not None and introduced <= old_version:
            broken.add(5)
        if new["tier"] == "implicit" and same_major:
            broken.add(7)
    for old in entries_of(before):
        kept = names.get(old["name"])
        if kept is None or read_version(kept.get("introduced")) != read_version(old.get("introduced")):
            broken.add(5)
        if kept is None:
            continue
        broken |= _broken_by_moments(old, kept, old_version)
        if old.get("supersededBy") not in (None, kept.get("supersededBy")):
            broken.add(6)
        needs_more = kept.get("needs") not in (None, old.get("needs"))
        propagates = kept.get("propagates") is True and old.get("propagates") is not True
        if same_major and (kept["tier"] != old["tier"] or needs_more or propagates):
            broken.add(7)
    return broken


def _broken_by_moments(old: Entry, new: Entry, since: Optional[Version]) -> Set[int]:
    for moment in ("deprecated", "removed"):
        was, now = read_version(old.get(moment)), read_version(new.get(moment))
        if was is not None and now != was:
            return {6}
        if was is None and now is not None and since is not None and now <= since:
            return {6}
    return set()
