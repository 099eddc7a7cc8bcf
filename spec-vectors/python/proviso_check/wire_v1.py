"""The v1 binary form of section 3: packets with a hexadecimal length, a key and a value."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from .limits import FormError, check_identifier_size
from .macaroon import (
    SIGNATURE_LENGTH,
    Caveat,
    Macaroon,
    check_caveats,
    check_count,
    check_vid,
)

_HEX = frozenset(b"0123456789abcdef")
_KEYS = frozenset([b"location", b"identifier", b"cid", b"vid", b"cl", b"signature"])
_MINIMUM = 7


class _Packet(NamedTuple):
    key: str
    value: bytes


def read(data: bytes) -> List[Macaroon]:
    """All macaroons of ``data``, which starts with a hexadecimal digit. Raises :class:`FormError`."""
    macaroons: List[Macaroon] = []
    position = 0
    while position < len(data):
        if data[position] not in _HEX:
            raise FormError("trailing_bytes" if macaroons else "packet_header")
        check_count(len(macaroons) + 1)
        builder = _Builder()
        while not builder.done:
            packet, position = _packet(data, position)
            if macaroons and builder.empty and packet.key != "location":
                raise FormError("trailing_bytes")
            builder.add(packet)
        macaroons.append(builder.macaroon())
    return macaroons


def _packet(data: bytes, position: int) -> "tuple[_Packet, int]":
    """The packet at ``position``, and where the next one starts."""
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
    key, space, value = body[:-1].partition(b" ")
    if not space or key not in _KEYS:
        raise FormError("field_unknown")
    return _Packet(key.decode("ascii"), value), end


class _Builder:
    """Takes the packets of one macaroon in order."""

    def __init__(self) -> None:
        self.done = False
        self.empty = True
        self._seen: List[str] = []  # the keys of the header, then those of the caveat being read
        self._location: Optional[str] = None
        self._identifier: Optional[bytes] = None
        self._signature = b""
        self._caveats: List[Caveat] = []

    def add(self, packet: _Packet) -> None:
        key, value = packet
        if not self.empty and key in ("location", "identifier"):
            self._header_again(key)
        self.empty = False
        getattr(self, "_add_" + key)(value)

    def _header_again(self, key: str) -> None:
        if key == "location":
            # The first packet was either a location or, wrongly, something else.
            raise FormError("field_duplicate" if self._location is not None else "field_order")
        if self._identifier is not None:
            raise FormError("field_duplicate")

    def _add_location(self, value: bytes) -> None:
        self._location = _text(value)

    def _add_identifier(self, value: bytes) -> None:
        check_identifier_size(len(value))
        self._identifier = value

    def _require_header(self, otherwise: str) -> None:
        if self._location is None or self._identifier is None:
            raise FormError(otherwise)

    def _add_cid(self, value: bytes) -> None:
        self._require_header("field_missing")
        check_caveats(len(self._caveats) + 1)
        check_identifier_size(len(value))
        self._caveats.append(Caveat(value))
        self._seen = ["cid"]

    def _add_vid(self, value: bytes) -> None:
        self._require_header("field_missing")
        if "vid" in self._seen:
            raise FormError("field_duplicate")
        if self._seen != ["cid"]:
            raise FormError("field_order")
        self._caveats[-1] = Caveat(self._caveats[-1].identifier, check_vid(value))
        self._seen.append("vid")

    def _add_cl(self, value: bytes) -> None:
        self._require_header("field_missing")
        if "cl" in self._seen:
            raise FormError("field_duplicate")
        if "cid" not in self._seen:
            raise FormError("field_order")
        if "vid" not in self._seen:
            raise FormError("first_party_location")
        last = self._caveats[-1]
        self._caveats[-1] = Caveat(last.identifier, last.vid, _text(value) or None)
        self._seen.append("cl")

    def _add_signature(self, value: bytes) -> None:
        self._require_header("field_missing")
        if len(value) != SIGNATURE_LENGTH:
            raise FormError("signature_length")
        self._signature = value
        self.done = True

    def macaroon(self) -> Macaroon:
        assert self._identifier is not None
        return Macaroon(self._identifier, self._signature, self._location or None, self._caveats)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise FormError("utf8_invalid") from None
