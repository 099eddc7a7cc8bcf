"""Bounds the nesting and width of JSON text in one pass without recursion (section 4).

The text may be invalid JSON. Only text within the limits is parsed.
"""

from __future__ import annotations

from typing import Iterator, List

from .limits import MAX_ARRAY_MEMBERS, MAX_HOP_DEPTH, MAX_JSON_DEPTH, FormError

_STRUCTURE = frozenset("{}[],")


def _structure(text: str) -> Iterator[str]:
    """Return the brackets and commas outside strings. An unterminated string gives a final ``"``."""
    in_string = False
    characters = iter(text)
    for character in characters:
        if character == '"':
            in_string = not in_string
        elif in_string:
            if character == "\\":
                next(characters, None)
        elif character in _STRUCTURE:
            yield character
    if in_string:
        yield '"'


def scan_token(text: str) -> None:
    """Reject a JSON token with an unclosed bracket or string, or else a token that is nested too deeply."""
    height = highest = 0
    cut = False
    for character in _structure(text):
        if character in "{[":
            height += 1
            highest = max(highest, height)
        elif character in "}]":
            height = max(height - 1, 0)
        cut = character == '"'
    if cut or height > 0:
        raise FormError("truncated")
    if highest > MAX_JSON_DEPTH:
        raise FormError("too_deep")


def scan_hop(identifier: bytes) -> None:
    """Check nesting and array lengths of a first-party caveat, if it is UTF-8 and starts with ``{``.

    A closing bracket closes the innermost open bracket, of either kind. Without an open bracket, it is ignored.
    A hop that exceeds both limits is ``too_deep``, whichever limit it exceeds first.
    """
    if not identifier.startswith(b"{"):
        return
    try:
        text = identifier.decode("utf-8")
    except UnicodeDecodeError:
        return
    members: List[int] = []  # for each open bracket, the number of the array's elements, or 0 for an object
    deepest = longest = 0
    for character in _structure(text):
        if character in "{[":
            members.append(1 if character == "[" else 0)
            deepest = max(deepest, len(members))
        elif character in "}]":
            if members:
                members.pop()
        elif character == "," and members and members[-1] > 0:
            members[-1] += 1
            longest = max(longest, members[-1])
    if deepest > MAX_HOP_DEPTH:
        raise FormError("too_deep")
    if longest > MAX_ARRAY_MEMBERS:
        raise FormError("too_many_members")
