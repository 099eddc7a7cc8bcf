"""Paths (section 5.2): one spelling for each file, compared segment by segment."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

# The specification lists these characters itself, so the Unicode tables of Python do not matter.
_SPACES = "\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_CONTROLS = "\u0000-\u001f\u007f-\u009f\u2028\u2029"
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LOOKALIKES = (
    "\u2024-\u2026\u2100-\u2101\u2105-\u2106\u2488-\u249b\u2a74\u33c2\u33c7\u33d8"
    "\ufe13\ufe19\ufe30\ufe52\ufe55\ufe68\ufe6a\uff05\uff0e-\uff0f\uff1a\uff3c\uff5e\U0001f100"
)
_SURROGATES = "\ud800-\udfff"
_FORBIDDEN = re.compile(f"[/\\\\:%{_CONTROLS}{_IGNORABLE}{_LOOKALIKES}{_SURROGATES}]")
_SPACE = re.compile(f"[{_SPACES}]")


class Path(NamedTuple):
    """A path. An absolute path without segments is ``/``."""

    absolute: bool
    segments: Tuple[str, ...]

    def has(self, other: "Path") -> bool:
        """Return whether ``other`` is this folder or is below it."""
        return self.absolute == other.absolute and begins(other.segments, self.segments)


def begins(segments: Tuple[str, ...], folder: Tuple[str, ...]) -> bool:
    """Return whether the segments begin with those of a folder."""
    return segments[: len(folder)] == folder


def is_segment(text: str, first: bool) -> bool:
    """Return whether a string can be a segment of a path. ``first`` is true for the first segment."""
    return (
        text != ""
        and _FORBIDDEN.search(text) is None
        and _SPACE.match(text[0]) is None
        and _SPACE.match(text[-1]) is None
        and text[-1] != "."
        and not (first and text[0] == "~")
    )


def read_path(text: str) -> Optional[Path]:
    """Parse a path; ``None`` if the string is not a path."""
    if text == "/":
        return Path(True, ())
    absolute = text.startswith("/")
    segments = tuple(text[1:].split("/") if absolute else text.split("/"))
    if not all(is_segment(segment, at == 0) for at, segment in enumerate(segments)):
        return None
    return Path(absolute, segments)
