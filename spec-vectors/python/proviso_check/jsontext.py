"""A strict JSON reader (RFC 8259) with bounded nesting.

Python's own ``json`` accepts ``NaN``, keeps the last of two equal names, and makes integers of any size.
In this reader, the names in an object must differ, and every number is an IEEE 754 double. Infinite numbers
and lone surrogates are kept; the caller judges them.
"""

from __future__ import annotations

import re
from typing import Dict, List, Union

from .limits import FormError

Json = Union[None, bool, float, str, List["Json"], Dict[str, "Json"]]  # type: ignore[misc]

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def parse(text: str, max_depth: int) -> Json:
    """Read one JSON text. Raises :class:`FormError` ``json_syntax`` or ``too_deep``.

    The code is ``json_duplicate_key`` only if the text has no other error.
    """
    reader = _Reader(text, max_depth)
    value = reader.value(0)
    reader.space()
    if reader.position != len(text):
        raise FormError("json_syntax")
    if reader.duplicate_name:
        raise FormError("json_duplicate_key")
    return value


def _joined(text: str) -> str:
    """Join the surrogate pairs of ``text``. Lone surrogates are kept."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class _Reader:
    """A recursive descent parser; ``max_depth`` bounds the recursion."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.position = 0
        self.max_depth = max_depth
        self.duplicate_name = False

    def space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def peek(self) -> str:
        if self.position >= len(self.text):
            raise FormError("json_syntax")
        return self.text[self.position]

    def take(self) -> str:
        character = self.peek()
        self.position += 1
        return character

    def value(self, depth: int) -> Json:
        self.space()
        first = self.peek()
        if first in "{[":
            if depth >= self.max_depth:
                raise FormError("too_deep")
            self.position += 1
            return self.members(depth + 1) if first == "{" else self.elements(depth + 1)
        if first == '"':
            self.position += 1
            return self.string()
        if first in _LITERALS:
            return self.literal(first)
        return self.number()

    def members(self, depth: int) -> Dict[str, Json]:
        found: Dict[str, Json] = {}
        self.space()
        if self.peek() == "}":
            self.position += 1
            return found
        while True:
            self.space()
            if self.take() != '"':
                raise FormError("json_syntax")
            name = self.string()
            self.duplicate_name = self.duplicate_name or name in found
            self.space()
            if self.take() != ":":
                raise FormError("json_syntax")
            found[name] = self.value(depth)
            if self.closes("}"):
                return found

    def elements(self, depth: int) -> List[Json]:
        found: List[Json] = []
        self.space()
        if self.peek() == "]":
            self.position += 1
            return found
        while True:
            found.append(self.value(depth))
            if self.closes("]"):
                return found

    def closes(self, bracket: str) -> bool:
        self.space()
        character = self.take()
        if character not in (",", bracket):
            raise FormError("json_syntax")
        return character == bracket

    def literal(self, first: str) -> Json:
        word, value = _LITERALS[first]
        if not self.text.startswith(word, self.position):
            raise FormError("json_syntax")
        self.position += len(word)
        return value

    def number(self) -> float:
        match = _NUMBER.match(self.text, self.position)
        if match is None:
            raise FormError("json_syntax")
        self.position = match.end()
        return float(match.group())

    def string(self) -> str:
        parts: List[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.position)
            assert plain is not None
            parts.append(plain.group())
            self.position = plain.end()
            character = self.take()
            if character == '"':
                return _joined("".join(parts))
            if character != "\\":
                raise FormError("json_syntax")
            parts.append(self.escape())

    def escape(self) -> str:
        character = self.take()
        if character != "u":
            if character not in _ESCAPES:
                raise FormError("json_syntax")
            return _ESCAPES[character]
        digits = self.text[self.position : self.position + 4]
        if _HEX4.fullmatch(digits) is None:
            raise FormError("json_syntax")
        self.position += 4
        return chr(int(digits, 16))
