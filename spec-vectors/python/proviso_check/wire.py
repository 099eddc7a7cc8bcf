"""Reads macaroons in all four forms, and capabilities only in v2 binary, within the limits."""

from __future__ import annotations

from typing import Callable, List

from . import base64url, wire_json, wire_v1, wire_v2
from .limits import MAX_TEXT_UNITS, FormError, utf16_length
from .macaroon import Macaroon, Token, make_token

_JSON_SPACE = " \t\n\r"


def read_token(text: str) -> Token:
    """Read a token in any form, within the limits. Raises :class:`FormError`."""
    _check_size(text)
    if _is_json(text):
        return make_token(wire_json.read(text))
    return _read_base64(text, _read_binary)


def read_capability(text: str) -> Token:
    """Read a token in v2 binary, the only form of a capability. Raises :class:`FormError`."""
    _check_size(text)
    if _is_json(text):
        raise FormError("format_not_v2")
    return _read_base64(text, _read_v2)


def _check_size(text: str) -> None:
    if text == "":
        raise FormError("empty")
    if utf16_length(text) > MAX_TEXT_UNITS:
        raise FormError("too_large")


def _is_json(text: str) -> bool:
    return text.lstrip(_JSON_SPACE)[:1] in ("{", "[")


def _read_base64(text: str, read: Callable[[bytes], List[Macaroon]]) -> Token:
    """Decode base64 and read macaroons from the bytes.

    An error at the end of the text is raised, unless the bytes show that the text is truncated or no token.
    """
    data, fault = base64url.decode_lenient(text)
    try:
        token = make_token(read(data))
    except FormError as error:
        if fault is not None and error.code not in ("truncated", "format_unknown", "format_not_v2"):
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


def _read_v2(data: bytes) -> List[Macaroon]:
    if data[:1] not in (b"", b"\x02") and data[:1] in b"0123456789abcdef":
        raise FormError("format_not_v2")
    return _read_binary(data)
