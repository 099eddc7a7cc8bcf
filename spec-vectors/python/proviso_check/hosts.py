"""The hosts of URLs (section 5.3): names, IPv4 and IPv6 addresses, and suffixes of names."""

from __future__ import annotations

import re
from typing import List, Optional

_LABEL = re.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_DIGITS = re.compile("[0-9]+")
_OCTET = re.compile("0|[1-9][0-9]{0,2}")
_GROUP = re.compile("0|[1-9a-f][0-9a-f]{0,3}")
_MAX_NAME = 253
_GROUPS = 8


def is_host(text: str) -> bool:
    """Return whether a string is a host, as URLs contain it. An IPv6 address is in brackets."""
    if text.startswith("[") and text.endswith("]"):
        return _is_ipv6(text[1:-1])
    return _is_name(text) or _is_ipv4(text)


def is_suffix(text: str) -> bool:
    """Return whether a string is ``.`` followed by a name without IDNA labels."""
    return text.startswith(".") and _is_name(text[1:]) and not _has_idna(text[1:])


def is_below(host: str, suffix: str) -> bool:
    """Return whether a host is a name that has at least one label before the suffix."""
    return (
        _is_name(host)
        and host.endswith(suffix)
        and len(host) > len(suffix)
        and not _has_idna(host)
    )


def _is_name(text: str) -> bool:
    labels = text.split(".")
    return (
        len(text) <= _MAX_NAME
        and all(_LABEL.fullmatch(label) is not None for label in labels)
        and _DIGITS.fullmatch(labels[-1]) is None
        and not labels[-1].startswith("0x")
    )


def _has_idna(name: str) -> bool:
    return any(label.startswith("xn--") for label in name.split("."))


def _is_ipv4(text: str) -> bool:
    octets = text.split(".")
    return len(octets) == 4 and all(
        _OCTET.fullmatch(octet) is not None and int(octet) <= 255 for octet in octets
    )


def _is_ipv6(text: str) -> bool:
    groups = _groups(text)
    return groups is not None and _written(groups) == text


def _groups(text: str) -> Optional[List[str]]:
    """Return the eight groups of an IPv6 address, with ``::`` expanded; ``None`` if it is no address."""
    parts = [part.split(":") if part else [] for part in text.split("::")]
    if len(parts) > 2 or not all(_GROUP.fullmatch(group) for part in parts for group in part):
        return None
    left_out = _GROUPS - sum(map(len, parts))
    if len(parts) == 1:
        return parts[0] if left_out == 0 else None
    return parts[0] + ["0"] * left_out + parts[1] if left_out > 0 else None


def _written(groups: List[str]) -> str:
    """Format an IPv6 address by RFC 5952, section 4: ``::`` replaces the first longest run of two or more zeros."""
    start, length = 0, 0
    for at in range(_GROUPS):
        run = next((n for n in range(_GROUPS - at) if groups[at + n] != "0"), _GROUPS - at)
        if run > max(length, 1):
            start, length = at, run
    if length == 0:
        return ":".join(groups)
    return ":".join(groups[:start]) + "::" + ":".join(groups[start + length :])
