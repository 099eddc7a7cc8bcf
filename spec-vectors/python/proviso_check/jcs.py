"""Writing JSON by RFC 8785, and comparing its strings and scalars."""

from __future__ import annotations

import math
import re
from typing import List

from .jsontext import Json

_SHORT = {
    0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\",
}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NotCanonical(Exception):
    """A value that RFC 8785 cannot write: a number that is not finite, or a lone surrogate."""


def code_units(text: str) -> bytes:
    """Return a sort key that orders strings by their UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def number(value: float) -> str:
    """Format a number by ECMA-262 ``Number::toString`` in radix 10.

    ``repr`` returns the digits that ECMA-262 requires (with its note 2): the shortest ones that read back as
    the same double, and the closest of several. Only the layout differs.
    """
    if not math.isfinite(value):
        raise NotCanonical("a number that is not finite")
    if value == 0:
        return "0"
    if value < 0:
        return "-" + number(-value)
    mantissa, _, exponent_text = repr(float(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent_text or "0")  # the value is 0.DIGITS times 10 to the power of ``point``
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    sign = "+" if exponent > 0 else "-"
    head = digits if count == 1 else digits[0] + "." + digits[1:]
    return f"{head}e{sign}{abs(exponent)}"


def string(text: str) -> str:
    """Write a string. Only characters that JSON requires to be escaped are, each in its shortest form."""
    parts: List[str] = ['"']
    for character in text:
        code = ord(character)
        if code in _SHORT:
            parts.append(_SHORT[code])
        elif code < 0x20:
            parts.append(f"\\u{code:04x}")
        elif 0xD800 <= code <= 0xDFFF:
            raise NotCanonical("a lone surrogate")
        else:
            parts.append(character)
    parts.append('"')
    return "".join(parts)


def write(value: Json) -> str:
    """Return the canonical text of a value. :mod:`.jsontext` has read it, and limited its depth."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (int, float)):
        return number(float(value))
    if isinstance(value, list):
        return "[" + ",".join(write(member) for member in value) + "]"
    names = sorted(value, key=code_units)
    return "{" + ",".join(string(name) + ":" + write(value[name]) for name in names) + "}"


def kind(value: object) -> str:
    """Return the JSON type of a value.

    Returns ``other`` for values that no constraint accepts: numbers that are not finite, and strings with a
    lone surrogate.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number" if math.isfinite(value) else "other"
    if isinstance(value, str):
        return "other" if _LONE_SURROGATE.search(value) else "string"
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "other"


SCALARS = frozenset(["null", "boolean", "number", "string"])


def same_scalar(left: object, right: object) -> bool:
    """Return whether two values are equal scalars of the same JSON type. Numbers are compared as doubles."""
    if kind(left) not in SCALARS or kind(left) != kind(right):
        return False
    return left == right
