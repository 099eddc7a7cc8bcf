"""Protocol versions and ranges of them (section 14.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional, Tuple

Version = Tuple[int, int]

_PART = r"(0|[1-9][0-9]{0,5})"
_VERSION = re.compile(rf"{_PART}(?:\.{_PART})?(?:\.{_PART})?", re.ASCII)


def read_version(value: Any) -> Optional[Version]:
    """Return major and minor, or ``None`` if this is not a version. A patch part is ignored."""
    match = _VERSION.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else (int(match[1]), int(match[2] or 0))


def written(version: Version) -> str:
    """Format a version as ``MAJOR.MINOR``."""
    return f"{version[0]}.{version[1]}"


@dataclass(frozen=True)
class Range:
    """Versions from ``minimum`` to ``maximum``, both included. A missing bound is open."""

    minimum: Optional[Version] = None
    maximum: Optional[Version] = None

    @property
    def is_given(self) -> bool:
        return self.minimum is not None or self.maximum is not None

    @property
    def is_turned_round(self) -> bool:
        return self.minimum is not None and self.maximum is not None and self.minimum > self.maximum

    def has(self, version: Version) -> bool:
        above = self.minimum is None or self.minimum <= version
        return above and (self.maximum is None or version <= self.maximum)

    def widens(self, own: Version, version: Version) -> bool:
        """Return whether this range adds ``version`` to an interface that names only ``own``."""
        return own[0] == version[0] and self.is_given and self.has(version)


# Versions whose cards did not name their version: the property came with 0.2.5.
UNNAMED = Range(read_version("0.1"), read_version("0.2"))
