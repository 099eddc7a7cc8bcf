"""Reading a token: which of the four forms a text is in, and the limits around them."""

from __future__ import annotations

from typing import List

from . import base64url, wire_json, wire_v1, wire_v2
from .limits import MAX_TEXT_UNITS, FormError, utf16_length
from .macaroon import Macaroon, Token, make_token

_JSON_SPACE = " \t\n\r"


def read_token(text: str) -> Token:
    """Read a token in any form, within the limits. Raises :class:`FormError`."""
    if text == "":
        raise FormError("empty")
    if utf16_length(text) > MAX_TEXT_UNITS:
        raise FormError("too_large")
    start = text.lstrip(_JSON_SPACE)[:1]
    if start in ("{", "["):
        return make_token(wire_json.read(text))
    return _read_base64(text)


def _read_base64(text: str) -> Token:
    """A fault at the end is reported, unless the bytes before it show a text that is cut short, or one
    that never was a token."""
    data, fault = base64url.decode_lenient(text)
    try:
        token = make_token(_read_binary(data))
    except FormError as error:
        if fault is not None and error.code not in ("truncated", "format_unknown"):
            raise FormError(fault) from None
        raise
    if fault is not None:
        raise FormError(fault)
    return token


def _read_binary(data: bytes) -> List[Macaroon]:
    first = data[:1]
    if first == b"":
        raise FormError("truncated")
    if first == b"\x02":
        return wire_v2.read(data)
    if first in b"0123456789abcdef":
        return wire_v1.read(data)
    raise FormError("format_unknown")
