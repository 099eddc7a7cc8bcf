"""The v1 binary form of section 3: packets with a hexadecimal length, a key and a value."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from .limits import FormError, check_caveat, check_identifier
from .macaroon import (
    SIGNATURE_LENGTH,
    Caveat,
    Macaroon,
    check_caveats,
    check_count,
    check_vid,
)

_HEX = frozenset(b"0123456789abcdef")
_KEYS = ("location", "identifier", "cid", "vid", "cl", "signature")
_START = b"location "  # a macaroon starts with four digits and these bytes
_MINIMUM = 7


class _Packet(NamedTuple):
    key: str
    value: bytes


def read(data: bytes) -> List[Macaroon]:
    """Read all macaroons of ``data``, which starts with a hexadecimal digit. Raises :class:`FormError`."""
    macaroons: List[Macaroon] = []
    position = 0
    while position < len(data):
        if macaroons and not _starts(data, position):
            raise FormError("trailing_bytes")
        check_count(len(macaroons) + 1)
        builder = _Builder()
        while not builder.done:
            packet, position = _packet(data, position)
            builder.add(packet)
        macaroons.append(builder.macaroon())
    return macaroons


def _starts(data: bytes, position: int) -> bool:
    """Return whether a macaroon, complete or truncated, starts at ``position``."""
    start = data[position + 4 : position + 4 + len(_START)]
    return data[position] in _HEX and _START.startswith(start)


def _packet(data: bytes, position: int) -> Tuple[_Packet, int]:
    """Read the packet at ``position``. Return it with the position of the next packet."""
    header = data[position : position + 4]
    if any(byte not in _HEX for byte in header):
        raise FormError("packet_header")
    if len(header) < 4:
        raise FormError("truncated")
    length = int(header, 16)
    if length < _MINIMUM:
        raise FormError("packet_header")
    end = position + length
    if end > len(data):
        raise FormError("truncated")
    body = data[position + 4 : end]
    if body[-1:] != b"\n":
        raise FormError("packet_terminator")
    name, space, value = body[:-1].partition(b" ")
    key = name.decode("latin-1")
    if not space or key not in _KEYS:
        raise FormError("field_unknown")
    return _Packet(key, value), end


# For each key, the keys that may follow it in a macaroon. If another key follows, the error says that the
# last key of the tuple was expected.
_NEXT = {
    "": ("location",),
    "location": ("identifier",),
    "identifier": ("cid", "signature"),
    "cid": ("cid", "vid", "signature"),
    "vid": ("cid", "cl", "signature"),
    "cl": ("cid", "signature"),
}


class _Builder:
    """Builds one macaroon from its packets in order."""

    def __init__(self) -> None:
        self.done = False
        self._last = ""  # the key of the previous packet
        self._head: List[str] = []  # the keys of the header so far
        self._caveat: List[str] = []  # the keys of the current caveat so far
        self._location: Optional[str] = None
        self._identifier = b""
        self._signature = b""
        self._caveats: List[Caveat] = []

    def add(self, packet: _Packet) -> None:
        key, value = packet
        self._check_place(key)
        self._last = key
        if key in ("location", "identifier"):
            self._head.append(key)
        else:
            self._caveat = [key] if key == "cid" else self._caveat + [key]
        getattr(self, "_add_" + key)(value)

    def _check_place(self, key: str) -> None:
        """Reject a key that cannot follow the previous key."""
        allowed = _NEXT[self._last]
        if key in allowed:
            return
        if key == "cl" and self._last == "cid":
            raise FormError("first_party_location")
        if key in self._head or key in self._caveat:
            raise FormError("field_duplicate")
        before = _KEYS.index(key) < _KEYS.index(allowed[-1])
        raise FormError("field_order" if before else "field_missing")

    def _add_location(self, value: bytes) -> None:
        self._location = _text(value) or None

    def _add_identifier(self, value: bytes) -> None:
        check_identifier(value)
        self._identifier = value

    def _add_cid(self, value: bytes) -> None:
        check_caveats(len(self._caveats) + 1)
        check_caveat(value)
        self._caveats.append(Caveat(value))

    def _add_vid(self, value: bytes) -> None:
        self._caveats[-1] = Caveat(self._caveats[-1].identifier, check_vid(value))

    def _add_cl(self, value: bytes) -> None:
        last = self._caveats[-1]
        self._caveats[-1] = Caveat(last.identifier, last.vid, _text(value) or None)

    def _add_signature(self, value: bytes) -> None:
        if len(value) != SIGNATURE_LENGTH:
            raise FormError("signature_length")
        self._signature = value
        self.done = True

    def macaroon(self) -> Macaroon:
        return Macaroon(self._identifier, self._signature, self._location, self._caveats)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise FormError("utf8_invalid") from None
