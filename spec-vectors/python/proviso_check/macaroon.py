"""What a token holds once it is read, and the limits on the whole of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional, Tuple

from .limits import (
    MAX_BYTES,
    MAX_CAVEATS,
    MAX_DISCHARGES,
    FormError,
)
from .nesting import scan_hop

VID_LENGTH = 72
SIGNATURE_LENGTH = 32


@dataclass(frozen=True)
class Caveat:
    """One caveat. ``vid`` is ``None`` for a first-party caveat; a location is a hint."""

    identifier: bytes
    vid: Optional[bytes] = None
    location: Optional[str] = None


@dataclass
class Macaroon:
    """One macaroon, with the bytes that were received."""

    identifier: bytes
    signature: bytes
    location: Optional[str] = None
    caveats: List[Caveat] = field(default_factory=list)


@dataclass(frozen=True)
class Token:
    """A macaroon with the discharges presented with it, in their order."""

    root: Macaroon
    discharges: Tuple[Macaroon, ...]


def check_vid(vid: bytes) -> bytes:
    """A verification id is 72 bytes; an empty one does not make a caveat first-party."""
    if len(vid) != VID_LENGTH:
        raise FormError("vid_length")
    return vid


def _field_size(length: int) -> int:
    """One field of the v2 form: its type, its length as a shortest LEB128 number, its bytes."""
    size = 2 + length
    rest = length >> 7
    while rest:
        size += 1
        rest >>= 7
    return size


def v2_size(macaroon: Macaroon) -> int:
    """The bytes that a macaroon takes in v2 binary form, without writing it."""
    size = 1 + _field_size(len(macaroon.identifier)) + 1 + 1 + _field_size(SIGNATURE_LENGTH)
    if macaroon.location:
        size += _field_size(len(macaroon.location.encode("utf-8")))
    for caveat in macaroon.caveats:
        size += _field_size(len(caveat.identifier)) + 1
        if caveat.vid is not None:
            size += _field_size(len(caveat.vid))
        if caveat.location:
            size += _field_size(len(caveat.location.encode("utf-8")))
    return size


def check_count(macaroons: int) -> None:
    """Bound the discharges: all macaroons but the first."""
    if macaroons - 1 > MAX_DISCHARGES:
        raise FormError("too_many_discharges")


def check_caveats(caveats: int) -> None:
    """Bound the caveats of one macaroon."""
    if caveats > MAX_CAVEATS:
        raise FormError("too_many_caveats")


def make_token(macaroons: List[Macaroon]) -> Token:
    """Apply the limits that are left once all macaroons have been read, then make a token.

    Their number, that of their caveats and the sizes of identifiers were bounded on the way. Nothing is
    hashed before this.
    """
    if sum(v2_size(macaroon) for macaroon in macaroons) > MAX_BYTES:
        raise FormError("too_large")
    for macaroon in macaroons:
        for caveat in macaroon.caveats:
            if caveat.vid is None:
                scan_hop(caveat.identifier)
    return Token(macaroons[0], tuple(macaroons[1:]))
