"""The contents of a token, and the limits on the token as a whole."""

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
    """One caveat. ``vid`` is ``None`` for a first-party caveat; the location is only a hint."""

    identifier: bytes
    vid: Optional[bytes] = None
    location: Optional[str] = None


@dataclass
class Macaroon:
    """One macaroon, with the fields as received."""

    identifier: bytes
    signature: bytes
    location: Optional[str] = None
    caveats: List[Caveat] = field(default_factory=list)


@dataclass(frozen=True)
class Token:
    """A macaroon with the discharges presented with it, in order."""

    root: Macaroon
    discharges: Tuple[Macaroon, ...]


def check_vid(vid: bytes) -> bytes:
    """Check that a verification id has 72 bytes. A caveat with an empty one is not a first-party caveat."""
    if len(vid) != VID_LENGTH:
        raise FormError("vid_length")
    return vid


def _field_size(length: int) -> int:
    """Return the size of a v2 field: a type, a length in the shortest LEB128, and the bytes."""
    size = 2 + length
    rest = length >> 7
    while rest:
        size += 1
        rest >>= 7
    return size


def v2_size(macaroon: Macaroon) -> int:
    """Return the size of a macaroon in v2 binary form, without writing it."""
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
    """Check the number of discharges: all macaroons except the first."""
    if macaroons - 1 > MAX_DISCHARGES:
        raise FormError("too_many_discharges")


def check_caveats(caveats: int) -> None:
    """Check the number of caveats of one macaroon."""
    if caveats > MAX_CAVEATS:
        raise FormError("too_many_caveats")


def make_token(macaroons: List[Macaroon]) -> Token:
    """Check the limits on all macaroons together, then make a token.

    The reader has checked the limits on counts and identifiers. Nothing is hashed before this function.
    """
    if sum(v2_size(macaroon) for macaroon in macaroons) > MAX_BYTES:
        raise FormError("too_large")
    for macaroon in macaroons:
        for caveat in macaroon.caveats:
            if caveat.vid is None:
                scan_hop(caveat.identifier)
    return Token(macaroons[0], tuple(macaroons[1:]))
