"""A strict JSON reader (RFC 8259) with bounded nesting.

Python's own ``json`` accepts ``NaN``, keeps the last of two equal member names, and makes integers of
any size; here names must differ, and every number is an IEEE 754 double (it may become infinite: the
caller decides). Strings with a lone surrogate are rejected. A text that ends early is ``truncated``.
"""

from __future__ import annotations

import re
from typing import Dict, List, Union

from .limits import FormError

Json = Union[None, bool, float, str, List["Json"], Dict[str, "Json"]]  # type: ignore[misc]

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_CUT = re.compile(r"-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][+-]?)")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def parse(text: str, max_depth: int) -> Json:
    """Read one JSON text. Raises :class:`FormError`: ``json_syntax``, ``truncated``, ``too_deep``,
    ``json_duplicate_key`` or ``utf8_invalid``."""
    reader = _Reader(text, max_depth)
    value = reader.value(0)
    reader.space()
    if reader.position != len(text):
        raise FormError("json_syntax")
    return value


def well_formed(text: str) -> str:
    """``text`` with surrogate pairs joined; a lone surrogate is ``utf8_invalid``."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise FormError("utf8_invalid") from None


class _Reader:
    """Recursive descent; the recursion is bounded by ``max_depth``."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.position = 0
        self.max_depth = max_depth

    def space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def peek(self) -> str:
        if self.position >= len(self.text):
            raise FormError("truncated")
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
            if name in found:
                raise FormError("json_duplicate_key")
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
        there = self.text[self.position : self.position + len(word)]
        if there == word:
            self.position += len(word)
            return value
        cut = word.startswith(there) and self.position + len(there) == len(self.text)
        raise FormError("truncated" if cut else "json_syntax")

    def number(self) -> float:
        cut = _NUMBER_CUT.match(self.text, self.position)
        if cut is not None and cut.end() == len(self.text):
            raise FormError("truncated")
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
                return well_formed("".join(parts))
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
            cut = len(digits) < 4 and re.fullmatch("[0-9a-fA-F]*", digits) is not None
            raise FormError("truncated" if cut else "json_syntax")
        self.position += 4
        return chr(int(digits, 16))
