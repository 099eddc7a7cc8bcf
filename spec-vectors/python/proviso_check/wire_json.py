"""The JSON forms of section 3.

What is wrong is looked for in the order of that section, each kind in the whole text before the next:
the text's end, its nesting, its syntax, names that occur twice, unknown names, types, and then the rest.
"""

from __future__ import annotations

import re
from typing import Any, Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from . import base64url
from .jsontext import Json, parse
from .limits import MAX_JSON_DEPTH, FormError, check_identifier_size
from .macaroon import (
    SIGNATURE_LENGTH,
    Caveat,
    Macaroon,
    check_caveats,
    check_count,
    check_vid,
)
from .nesting import scan_token

Object = Dict[str, Any]

_HEX = re.compile("[0-9a-fA-F]*")


class _Names(NamedTuple):
    """The member names of one form. ``others`` are those whose value need not be text."""

    texts: FrozenSet[str]
    caveats: str
    others: FrozenSet[str]
    caveat_texts: FrozenSet[str]


_V2_NAMES = _Names(
    frozenset(["l", "i", "i64", "s", "s64"]),
    "c",
    frozenset(["v"]),
    frozenset(["i", "i64", "v", "v64", "l"]),
)
_V1_NAMES = _Names(
    frozenset(["location", "identifier", "signature"]),
    "caveats",
    frozenset(),
    frozenset(["cid", "vid", "cl"]),
)


def read(text: str) -> List[Macaroon]:
    """All macaroons of a JSON text. Raises :class:`FormError`."""
    scan_token(text)
    value = parse(text, MAX_JSON_DEPTH)
    elements: List[Json] = value if isinstance(value, list) else [value]
    if not elements:
        raise FormError("empty")
    check_count(len(elements))
    first = elements[0]
    is_v1 = isinstance(first, dict) and ("identifier" in first or "signature" in first)
    names = _V1_NAMES if is_v1 else _V2_NAMES
    _check_names(elements, names)
    objects = _typed(elements, names)
    return [_v1(one) if is_v1 else _v2(one) for one in objects]


def _objects(elements: List[Json], names: _Names) -> Iterator[Tuple[Object, FrozenSet[str]]]:
    """Each object of the text, whatever else is there, with the names that it may have."""
    for element in elements:
        if isinstance(element, dict):
            yield element, names.texts | names.others | {names.caveats}
            caveats = element.get(names.caveats)
            for caveat in caveats if isinstance(caveats, list) else []:
                if isinstance(caveat, dict):
                    yield caveat, names.caveat_texts


def _check_names(elements: List[Json], names: _Names) -> None:
    for value, known in _objects(elements, names):
        if not known.issuperset(value):
            raise FormError("json_unknown_key")


def _typed(elements: List[Json], names: _Names) -> List[Object]:
    """The elements, once every value of them is known to be of its type."""
    objects = [_object(element) for element in elements]
    for one in objects:
        _check_texts(one, names.texts)
        caveats = one.get(names.caveats, [])
        if not isinstance(caveats, list):
            raise FormError("json_type")
        for caveat in caveats:
            _check_texts(_object(caveat), names.caveat_texts)
    return objects


def _object(value: Json) -> Object:
    if not isinstance(value, dict):
        raise FormError("json_type")
    return value


def _check_texts(value: Object, names: FrozenSet[str]) -> None:
    for name in names.intersection(value):
        if not isinstance(value[name], str):
            raise FormError("json_type")


def _encoded(value: Object, name: str) -> Optional[bytes]:
    """A member as UTF-8, if it is there."""
    if name not in value:
        return None
    try:
        encoded: bytes = value[name].encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        raise FormError("utf8_invalid") from None
    return encoded


def _text(value: Object, name: str) -> Optional[str]:
    """A member as text, if it is there."""
    encoded = _encoded(value, name)
    return None if encoded is None else encoded.decode("utf-8")


def _base64(value: Object, name: str) -> Optional[bytes]:
    """A member that is base64, if it is there."""
    text = _text(value, name)
    return None if text is None else base64url.decode(text)


def _either(value: Object, name: str) -> Optional[bytes]:
    """A member that is text under ``name`` or base64 under ``name`` with ``64``."""
    name64 = name + "64"
    if name in value and name64 in value:
        raise FormError("json_both_encodings")
    return _encoded(value, name) if name in value else _base64(value, name64)


def _identifier(identifier: Optional[bytes]) -> bytes:
    if identifier is None:
        raise FormError("field_missing")
    check_identifier_size(len(identifier))
    return identifier


def _caveat(identifier: Optional[bytes], vid: Optional[bytes], location: Optional[str]) -> Caveat:
    """An empty location reads as none, but only a third-party caveat may have one."""
    known = _identifier(identifier)
    if vid is not None:
        check_vid(vid)
    elif location is not None:
        raise FormError("first_party_location")
    return Caveat(known, vid, location or None)


def _caveats(value: Object, name: str) -> List[Object]:
    caveats: List[Object] = value.get(name, [])
    check_caveats(len(caveats))
    return caveats


def _v2(value: Object) -> Macaroon:
    version = value.get("v", 2.0)
    if not isinstance(version, float) or version != 2:
        raise FormError("json_version")
    location = _text(value, "l")
    identifier = _identifier(_either(value, "i"))
    caveats = [
        _caveat(_either(caveat, "i"), _either(caveat, "v"), _text(caveat, "l"))
        for caveat in _caveats(value, "c")
    ]
    signature = _either(value, "s")
    if signature is None:
        raise FormError("field_missing")
    if len(signature) != SIGNATURE_LENGTH:
        raise FormError("signature_length")
    return Macaroon(identifier, signature, location or None, caveats)


def _v1(value: Object) -> Macaroon:
    location = _text(value, "location")
    identifier = _identifier(_encoded(value, "identifier"))
    caveats = [
        _caveat(_encoded(caveat, "cid"), _base64(caveat, "vid"), _text(caveat, "cl"))
        for caveat in _caveats(value, "caveats")
    ]
    signature = _text(value, "signature")
    if signature is None:
        raise FormError("field_missing")
    if _HEX.fullmatch(signature) is None:
        raise FormError("json_hex")
    if len(signature) != 2 * SIGNATURE_LENGTH:
        raise FormError("signature_length")
    return Macaroon(identifier, bytes.fromhex(signature), location or None, caveats)
