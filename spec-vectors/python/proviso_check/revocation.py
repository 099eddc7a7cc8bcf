"""Revocation ids and lists (section 8)."""

from __future__ import annotations

import hashlib
from typing import Any, Dict, List, Mapping, Sequence

from . import base64url
from .hop import Object
from .judge import Denial
from .times import is_time

_KINDS = ("link", "capability", "key", "principal")
_PREFIX = b"proviso-revocation-v1"


class MalformedList(Exception):
    """A revocation list that can not be read; nothing may be allowed by it."""


def revocation_id(tag: bytes) -> str:
    """The id of the link with this tag."""
    return "rv_" + base64url.encode(hashlib.sha256(_PREFIX + tag).digest()[:16])


def check_list(revocations: Mapping[str, Any]) -> None:
    """Raise :class:`MalformedList` for a list with what this version does not know."""
    trusted = revocations.get("trustedUntil")
    if trusted is not None and not is_time(trusted):
        raise MalformedList("trustedUntil is not a time")
    entries = revocations.get("entries", [])
    if not isinstance(entries, list):
        raise MalformedList("entries is not an array")
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("kind") not in _KINDS:
            raise MalformedList("an entry of an unknown kind")
        if not isinstance(entry.get("id"), str):
            raise MalformedList("an entry without an id")
        if entry["kind"] == "principal" and not is_time(entry.get("before")):
            raise MalformedList("an entry of a principal without a time")


def revoked(
    revocations: Mapping[str, Any], tags: Sequence[Sequence[bytes]], identifier: Object, now: str
) -> List[Denial]:
    """Step 4 of section 7. ``tags`` are the token's, then each discharge's before binding.

    An entry counts as long as it is in the list, also after its ``until``.
    """
    entries: List[Dict[str, Any]] = revocations.get("entries", [])
    links = {entry["id"] for entry in entries if entry["kind"] == "link"}
    denials: List[Denial] = []
    for index, chain in enumerate(tags):
        for link, tag in enumerate(chain):
            if revocation_id(tag) in links:
                denials.append(
                    Denial("revoked", link, index or None, "link", "a link has been revoked")
                )
    for kind, value in (
        ("capability", identifier["id"]),
        ("key", identifier["kid"]),
        ("principal", identifier.get("principal")),
    ):
        for entry in entries:
            if entry["kind"] != kind or value is None or entry["id"] != value:
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
