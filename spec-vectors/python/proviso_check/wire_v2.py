"""The v2 binary form of section 3."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from .limits import FormError, check_caveat, check_identifier
from .macaroon import (
    SIGNATURE_LENGTH,
    VID_LENGTH,
    Caveat,
    Macaroon,
    check_caveats,
    check_count,
)

VERSION = 0x02
EOS, LOCATION, IDENTIFIER, VID, SIGNATURE = 0, 1, 2, 4, 6


def read(data: bytes) -> List[Macaroon]:
    """Read all macaroons of ``data``, which starts with the version byte. Raises :class:`FormError`."""
    reader = _Reader(data)
    macaroons: List[Macaroon] = []
    while reader.position < len(data):
        if data[reader.position] != VERSION:
            raise FormError("trailing_bytes")
        check_count(len(macaroons) + 1)
        reader.position += 1
        macaroons.append(reader.macaroon())
    return macaroons


class _Reader:
    """Reads fields from bytes, and keeps the position."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def varint(self) -> int:
        """Read unsigned LEB128 in its shortest form, at most four bytes."""
        value = 0
        for index in range(4):
            if self.position >= len(self.data):
                raise FormError("truncated")
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if byte == 0 and index > 0:
                    raise FormError("varint_overlong")
                return value
        raise FormError("varint_range")

    def take(self, length: int) -> bytes:
        if length > len(self.data) - self.position:
            raise FormError("truncated")
        start = self.position
        self.position += length
        return self.data[start : self.position]

    def macaroon(self) -> Macaroon:
        header = self.section((LOCATION, IDENTIFIER))
        check_identifier(header[IDENTIFIER])
        caveats: List[Caveat] = []
        while True:
            if self.position >= len(self.data):
                raise FormError("truncated")
            if self.data[self.position] == EOS:
                self.position += 1
                break
            check_caveats(len(caveats) + 1)
            caveats.append(self.caveat())
        return Macaroon(
            header[IDENTIFIER], self.signature(), _text(header.get(LOCATION)), caveats
        )

    def caveat(self) -> Caveat:
        fields = self.section((LOCATION, IDENTIFIER, VID))
        check_caveat(fields[IDENTIFIER])
        if LOCATION in fields and VID not in fields:
            raise FormError("first_party_location")
        return Caveat(fields[IDENTIFIER], fields.get(VID), _text(fields.get(LOCATION)))

    def section(self, allowed: Tuple[int, ...]) -> Dict[int, bytes]:
        """Read a section: fields in ascending order of their types, and the end of the section."""
        fields: Dict[int, bytes] = {}
        while True:
            kind = self.varint()
            if kind == EOS:
                if IDENTIFIER not in fields:
                    raise FormError("field_missing")
                return fields
            if kind not in allowed:
                raise FormError("field_unknown")
            if kind in fields:
                raise FormError("field_duplicate")
            if fields and kind < max(fields):
                raise FormError("field_order")
            fields[kind] = self.content(kind)

    def content(self, kind: int) -> bytes:
        length = self.varint()
        if kind == VID and length != VID_LENGTH:
            raise FormError("vid_length")
        content = self.take(length)
        if kind == LOCATION:
            _text(content)
        return content

    def signature(self) -> bytes:
        if self.varint() != SIGNATURE:
            raise FormError("field_missing")
        length = self.varint()
        if length != SIGNATURE_LENGTH:
            raise FormError("signature_length")
        return self.take(length)


def _text(content: Optional[bytes]) -> Optional[str]:
    """Decode a location as UTF-8. An empty location is treated as absent."""
    if not content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise FormError("utf8_invalid") from None
