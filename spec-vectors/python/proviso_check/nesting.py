"""The shape of a JSON text: what is open where, found in one pass and without recursion (section 4).

It works on text that may not be JSON at all, so that a parser is never started on something deeper or
wider than allowed.
"""

from __future__ import annotations

from typing import Iterator, List

from .limits import MAX_ARRAY_MEMBERS, MAX_HOP_DEPTH, MAX_JSON_DEPTH, FormError

_STRUCTURE = frozenset("{}[],")


def _structure(text: str) -> Iterator[str]:
    """The brackets and commas outside strings, and a final ``"`` for a string that is not ended."""
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
    """Reject a JSON token that ends inside something, then one that is nested too deep."""
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
    """Bound nesting and array members of a first-party caveat, if it is UTF-8 and starts with ``{``.

    A closing bracket closes the innermost open one, whichever it is; with none open it means nothing.
    """
    if not identifier.startswith(b"{"):
        return
    try:
        text = identifier.decode("utf-8")
    except UnicodeDecodeError:
        return
    members: List[int] = []  # for each open bracket the members of the array, or 0 for an object
    for character in _structure(text):
        if character in "{[":
            members.append(1 if character == "[" else 0)
            if len(members) > MAX_HOP_DEPTH:
                raise FormError("too_deep")
        elif character in "}]":
            if members:
                members.pop()
        elif character == "," and members and members[-1] > 0:
            members[-1] += 1
            if members[-1] > MAX_ARRAY_MEMBERS:
                raise FormError("too_many_members")
