"""Revocation ids and lists (section 8)."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from . import base64url
from .hop import Object
from .judge import Denial
from .service_key import revocable_ids
from .times import is_time

_KINDS = ("link", "capability", "key", "principal")
_PREFIX = b"proviso-revocation-v1"


class MalformedList(Exception):
    """The error of an unreadable revocation list. No call may be allowed with such a list."""


def revocation_id(tag: bytes) -> str:
    """Return the id of the link with this tag."""
    return "rv_" + base64url.encode(hashlib.sha256(_PREFIX + tag).digest()[:16])


def chain_id(revocation: str) -> str:
    """Return the chain id for a revocation id, a UUID of version 8."""
    own = bytearray(base64url.decode(revocation[len("rv_"):]))
    own[6] = own[6] & 0x0F | 0x80
    own[8] = own[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(own)))


def check_list(revocations: Mapping[str, Any]) -> None:
    """Raise :class:`MalformedList` for a list that does not have the form of section 8."""
    _check_names(revocations, {"version", "entries"}, {"trustedUntil"})
    version = revocations["version"]
    if isinstance(version, bool) or not isinstance(version, (int, float)):
        raise MalformedList("version is not a number")
    if version < 0 or version % 1 != 0:
        raise MalformedList("version is not a whole number")
    _check_times(revocations, "trustedUntil")
    if not isinstance(revocations["entries"], list):
        raise MalformedList("entries is not an array")
    for entry in revocations["entries"]:
        _check_entry(entry)


def _check_entry(entry: Any) -> None:
    if not isinstance(entry, dict) or entry.get("kind") not in _KINDS:
        raise MalformedList("an entry of an unknown kind")
    required = {"kind", "id", "at"}
    if entry["kind"] == "principal":
        required.add("before")
    _check_names(entry, required, {"until", "reason"})
    if not isinstance(entry["id"], str) or not isinstance(entry.get("reason", ""), str):
        raise MalformedList("an id or a reason is not text")
    _check_times(entry, "at", "before", "until")


def _check_names(value: Mapping[str, Any], required: Set[str], optional: Set[str]) -> None:
    if not required <= set(value) <= required | optional:
        raise MalformedList("a member is missing, or has no place there")


def _check_times(value: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name in value and not is_time(value[name]):
            raise MalformedList(f"{name} is not a time")


def revoked(
    revocations: Mapping[str, Any], tags: Sequence[Sequence[bytes]], identifier: Object, now: str
) -> List[Denial]:
    """Judge revocations (section 7, step 4).

    ``tags`` has the tags of the token, then those of each discharge, before binding. An entry applies as long
    as it is listed, even after its ``until``. It causes one denial, at the first place that has its tag.
    """
    entries: List[Dict[str, Any]] = revocations["entries"]
    places: Dict[str, Tuple[int, int]] = {}
    for index, chain in enumerate(tags):
        for link, tag in enumerate(chain):
            places.setdefault(revocation_id(tag), (index, link))
    denials: List[Denial] = []
    links = [entry["id"] for entry in entries if entry["kind"] == "link"]
    for index, link in sorted(places[name] for name in links if name in places):
        denials.append(Denial("revoked", link, index or None, "link", "a link has been revoked"))
    for kind, values in (
        ("capability", (identifier["id"],)),
        ("key", revocable_ids(str(identifier["kid"]))),
        ("principal", (identifier.get("principal"),)),
    ):
        for entry in entries:
            if entry["kind"] != kind or entry["id"] not in values:
                continue
            if kind == "principal" and not str(identifier["issued"]) < entry["before"]:
                continue
            denials.append(Denial("revoked", rule=kind, message=f"the {kind} has been revoked"))
    trusted = revocations.get("trustedUntil")
    if trusted is not None and not now < trusted:
        denials.append(
            Denial("revocation_stale", rule="trustedUntil", message="the list is too old")
        )
    return denials
