"""The limits of section 4, the error that carries a code, and the scan of a hop's text.

The scan works on text that may not be JSON at all, in one pass and without recursion, so that a
parser is never started on something deeper or wider than allowed.
"""

from __future__ import annotations

from typing import List

MAX_TEXT_UNITS = 32_768
MAX_BYTES = 8_192
MAX_CAVEATS = 32
MAX_IDENTIFIER_BYTES = 2_048
MAX_DISCHARGES = 8
MAX_DISCHARGE_DEPTH = 4
MAX_JSON_DEPTH = 4
MAX_ARRAY_MEMBERS = 256

TOO_LARGE_CODES = frozenset(
    ["too_large", "too_many_caveats", "caveat_too_large", "too_many_discharges",
     "too_many_members", "too_deep"]
)


class FormError(Exception):
    """A token that section 3 or 4 rejects. ``code`` is the code of those sections."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def utf16_length(text: str) -> int:
    """The length of ``text`` in UTF-16 code units."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def check_identifier_size(size: int) -> None:
    """Bound an identifier, or a caveat's identifier, before its bytes are looked at."""
    if size > MAX_IDENTIFIER_BYTES:
        raise FormError("caveat_too_large")


def scan_hop(identifier: bytes) -> None:
    """Bound nesting and array members of a first-party caveat, if it is UTF-8 and starts with ``{``.

    Inside a string a backslash and the byte after it are skipped. A closing bracket closes the
    innermost open one, whichever it is; with none open it means nothing. All bytes that count are
    ASCII, which never occurs inside a longer UTF-8 sequence.
    """
    if not identifier.startswith(b"{"):
        return
    try:
        identifier.decode("utf-8")
    except UnicodeDecodeError:
        return
    open_commas: List[int] = []  # for each open bracket the commas seen, or -1 for an object
    in_string = False
    position = 0
    while position < len(identifier):
        byte = identifier[position]
        position += 1
        if in_string:
            if byte == 0x5C:  # backslash
                position += 1
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:  # quotation mark
            in_string = True
        elif byte in (0x7B, 0x5B):  # { [
            open_commas.append(0 if byte == 0x5B else -1)
            if len(open_commas) > MAX_JSON_DEPTH:
                raise FormError("too_deep")
        elif byte in (0x7D, 0x5D):  # } ]
            if open_commas:
                open_commas.pop()
        elif byte == 0x2C and open_commas and open_commas[-1] >= 0:  # comma in an array
            open_commas[-1] += 1
            if open_commas[-1] + 1 > MAX_ARRAY_MEMBERS:
                raise FormError("too_many_members")
