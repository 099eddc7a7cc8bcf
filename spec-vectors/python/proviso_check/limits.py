"""The limits of section 4, and the error that has a code of section 3 or 4."""

from __future__ import annotations

MAX_TEXT_UNITS = 40_960
MAX_BYTES = 10_240
MAX_CAVEATS = 32
MAX_CAVEAT_BYTES = 8_192
MAX_IDENTIFIER_BYTES = 2_048
MAX_DISCHARGES = 8
MAX_DISCHARGE_DEPTH = 4
MAX_JSON_DEPTH = 4
MAX_HOP_DEPTH = 7
MAX_ARRAY_MEMBERS = 256
# The length of the longest string that an operator of section 5.1 judges, in UTF-16 code units.
MAX_JUDGED_UNITS = 4_096

TOO_LARGE_CODES = frozenset(
    ["too_large", "too_many_caveats", "caveat_too_large", "too_many_discharges",
     "too_many_members", "too_deep"]
)


class FormError(Exception):
    """The error of a token that section 3 or 4 rejects, with its code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def utf16_length(text: str) -> int:
    """Return the length of ``text`` in UTF-16 code units."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def check_identifier(identifier: bytes) -> None:
    """Check the size of a macaroon's identifier."""
    if len(identifier) > MAX_IDENTIFIER_BYTES:
        raise FormError("caveat_too_large")


def check_caveat(identifier: bytes) -> None:
    """Check the size of a caveat's identifier."""
    if len(identifier) > MAX_CAVEAT_BYTES:
        raise FormError("caveat_too_large")
