"""Writes macaroons for the self-tests."""

from __future__ import annotations

from typing import Tuple

from proviso_check import base64url
from proviso_check.macaroon import Caveat, Macaroon
from proviso_check.signatures import chain


def minted(key: bytes, identifier: bytes, *caveats: Caveat) -> Macaroon:
    """Make a macaroon with a key that is already derived."""
    macaroon = Macaroon(identifier, b"", None, list(caveats))
    macaroon.signature = chain(key, macaroon)[-1]
    return macaroon


def packed(*parts: Tuple[int, bytes]) -> bytes:
    out = b""
    for kind, content in parts:
        size = len(content)
        length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        out += bytes([kind]) + length + content
    return out


def v2(macaroon: Macaroon) -> bytes:
    out = b"\x02" + (packed((1, macaroon.location.encode())) if macaroon.location else b"")
    out += packed((2, macaroon.identifier)) + b"\0"
    for c in macaroon.caveats:
        out += packed((1, c.location.encode())) if c.location else b""
        out += packed((2, c.identifier)) + (packed((4, c.vid)) if c.vid else b"") + b"\0"
    return out + b"\0" + packed((6, macaroon.signature))


def v1(macaroon: Macaroon) -> bytes:
    parts = [(b"location", (macaroon.location or "").encode()), (b"identifier", macaroon.identifier)]
    for c in macaroon.caveats:
        parts.append((b"cid", c.identifier))
        if c.vid is not None:
            parts += [(b"vid", c.vid), (b"cl", (c.location or "").encode())]
    return packets(*parts, (b"signature", macaroon.signature))


def packets(*parts: Tuple[bytes, bytes]) -> bytes:
    return b"".join(b"%04x%s %s\n" % (len(k) + len(v) + 6, k, v) for k, v in parts)


def text(*macaroons: Macaroon) -> str:
    return base64url.encode(b"".join(v2(macaroon) for macaroon in macaroons))
