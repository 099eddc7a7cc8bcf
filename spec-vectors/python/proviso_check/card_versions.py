"""Protocol versions and ranges of them (section 14.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional, Tuple

Version = Tuple[int, int]

_PART = r"(0|[1-9][0-9]{0,5})"
_VERSION = re.compile(rf"{_PART}(?:\.{_PART})?(?:\.{_PART})?", re.ASCII)


def read_version(value: Any) -> Optional[Version]:
    """Return the major and the minor number; ``None`` if ``value`` is no version. A patch number is ignored."""
    match = _VERSION.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else (int(match[1]), int(match[2] or 0))


def written(version: Version) -> str:
    """Format a version as ``MAJOR.MINOR``."""
    return f"{version[0]}.{version[1]}"


@dataclass(frozen=True)
class Range:
    """Versions from ``minimum`` to ``maximum``, both included. Without a bound, that side is unlimited."""

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


# In these versions, cards did not name their version. The property for it was added in 0.2.5.
UNNAMED = Range(read_version("0.1"), read_version("0.2"))
