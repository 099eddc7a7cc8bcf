"""Declarations of a card, which have two places and two spellings that must agree (section 14.3)."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

DISCOVERY = "urn:proviso:a2a:discovery:1"
GRANTS = "urn:proviso:a2a:capabilities:1"
MAX_DEPTH = 64
MAX_EXTENSIONS = 128


def snake(name: str) -> str:
    """Convert a name from camelCase to snake_case."""
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def camel(name: str) -> str:
    """Convert a name from snake_case to camelCase."""
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), name)


def has_older_form(card: Mapping[str, Any]) -> bool:
    """Return whether a card has the form of A2A before 1.0, without a list ``supportedInterfaces``."""
    lists = [card.get(name) for name in ("supportedInterfaces", "supported_interfaces")]
    return all(one is None or one == [] for one in lists)


class Faults:
    """The faults of a card."""

    def __init__(self) -> None:
        self.found: List[str] = []

    def add(self, fault: str) -> None:
        self.found.append(fault)

    def object(self, value: Any, name: str) -> Dict[str, Any]:
        """Return ``value`` if it is an object, else an empty object. A value of another type is a fault."""
        if value is not None and not isinstance(value, dict):
            self.add(f"{name} is not an object")
        return value if isinstance(value, dict) else {}

    def array(self, value: Any, name: str) -> List[Any]:
        """Return ``value`` if it is an array, else an empty array. A value of another type is a fault."""
        if value is not None and not isinstance(value, list):
            self.add(f"{name} is not an array")
        return value if isinstance(value, list) else []

    def list_at(self, holder: Mapping[str, Any], name: str) -> List[Any]:
        """Return the array in a property, in either spelling. Using both spellings is a fault."""
        said = [holder[spelling] for spelling in dict.fromkeys((name, snake(name)))
                if holder.get(spelling) is not None]
        if len(said) > 1:
            self.add(f"{name} is there twice")
        return self.array(said[0] if said else None, name)

    def text_at(self, holder: Mapping[str, Any], name: str) -> str:
        """Return the string in a property, in either spelling; an empty string if the property is absent."""
        return self.agreed(name, [holder], lambda value: self.text(value) or None) or ""

    def text(self, value: Any) -> str:
        """Return ``value`` if it is a string, else an empty string. A value of another type is a fault."""
        if value is not None and not isinstance(value, str):
            self.add("a part of an interface is not text")
        return value if isinstance(value, str) else ""

    def agreed(
        self, name: str, places: List[Mapping[str, Any]], read: Callable[[Any], Any]
    ) -> Optional[Any]:
        """Return the value of a field, on which all places must agree; ``None`` if no place has the field."""
        spellings = dict.fromkeys((name, snake(name)))
        said = [place[spelling] for place in places for spelling in spellings
                if place.get(spelling) is not None]
        values = [value for value in map(read, said) if value is not None]
        if any(value != values[0] for value in values):
            self.add(f"the card says two things of {name}")
        return values[0] if values else None


def is_too_deep(value: Any) -> bool:
    """Return whether objects and arrays are nested more than 64 levels deep."""
    waiting: List[Tuple[Any, int]] = [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        if not isinstance(one, (dict, list)):
            continue
        if depth > MAX_DEPTH:
            return True
        waiting.extend((inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one))
    return False


def extensions_of(capabilities: Mapping[str, Any], faults: Faults) -> Dict[str, Mapping[str, Any]]:
    """Return the extensions by URI."""
    extensions = faults.array(capabilities.get("extensions"), "extensions")
    if len(extensions) > MAX_EXTENSIONS:
        faults.add("too many extensions")
    found: Dict[str, Mapping[str, Any]] = {}
    for extension in extensions[:MAX_EXTENSIONS]:
        uri = extension.get("uri") if isinstance(extension, dict) else None
        if not isinstance(uri, str) or uri == "":
            faults.add("an extension without a uri")
        elif uri in found:
            faults.add("an extension twice")
        else:
            found[uri] = extension
    return found
