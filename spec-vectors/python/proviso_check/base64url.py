"""Base64 of section 3: either alphabet, with or without padding, and no other characters."""

from __future__ import annotations

import base64
from typing import List, NamedTuple, Optional

from .limits import FormError

_COMMON = {
    character: value
    for value, character in enumerate(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    )
}
_STANDARD = {"+": 62, "/": 63}
_URL = {"-": 62, "_": 63}
_WHITESPACE = frozenset(" \t\n\v\f\r")


class Decoded(NamedTuple):
    """The complete bytes, and the error code if the end of the text is invalid."""

    data: bytes
    fault: Optional[str]


def decode_lenient(text: str) -> Decoded:
    """Decode. An error at the end is returned; every other error raises :class:`FormError`."""
    values: List[int] = []
    alphabet = None
    length = len(text)
    position = 0
    while position < length and text[position] != "=":
        character = text[position]
        position += 1
        if character in _COMMON:
            values.append(_COMMON[character])
            continue
        if character in _STANDARD:
            own = _STANDARD
        elif character in _URL:
            own = _URL
        elif character in _WHITESPACE:
            raise FormError("base64_whitespace")
        else:
            raise FormError("base64_character")
        if alphabet is not None and alphabet is not own:
            raise FormError("base64_mixed")
        alphabet = own
        values.append(own[character])
    _check_padding(text, position, len(values))
    return _pack(values)


def _check_padding(text: str, start: int, characters: int) -> None:
    """Check the padding, which begins at ``start``. It is absent, or has the length that the text requires."""
    padding = len(text) - start
    if padding == 0:
        return
    for character in text[start:]:
        if character in _WHITESPACE:
            raise FormError("base64_whitespace")
        if character != "=" and (
            character not in _COMMON and character not in _STANDARD and character not in _URL
        ):
            raise FormError("base64_character")
    rest = characters % 4
    required = {0: 0, 2: 2, 3: 1}.get(rest)
    if required != padding or text[start:] != "=" * padding:
        raise FormError("base64_padding")


def _pack(values: List[int]) -> Decoded:
    """Pack values of six bits into bytes, most significant bits first. Leftover bits are returned as a fault."""
    out = bytearray()
    accumulator = 0
    bits = 0
    for value in values:
        accumulator = (accumulator << 6) | value
        bits += 6
        if bits >= 8:
            bits -= 8
            out.append(accumulator >> bits)
            accumulator &= (1 << bits) - 1
    if len(values) % 4 == 1:
        return Decoded(bytes(out), "truncated")
    return Decoded(bytes(out), "base64_trailing_bits" if accumulator else None)


def decode(text: str) -> bytes:
    """Decode strictly. An error at the end of the text raises too."""
    decoded = decode_lenient(text)
    if decoded.fault is not None:
        raise FormError(decoded.fault)
    return decoded.data


def encode(data: bytes) -> str:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
