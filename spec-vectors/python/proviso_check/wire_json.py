"""The JSON forms of section 3.

The whole text is first checked for truncation, nesting, syntax and duplicate names. Then its objects are
read in order. The properties of an object are read before its caveats.
"""

from __future__ import annotations

import re
from typing import Any, Dict, FrozenSet, List, NamedTuple, Optional

from . import base64url
from .jsontext import Json, parse
from .limits import MAX_JSON_DEPTH, FormError, check_caveat, check_identifier
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
    """The property names of an object. The values of ``others`` need not be strings."""

    texts: FrozenSet[str]
    others: FrozenSet[str] = frozenset()


_V2 = _Names(frozenset(["l", "i", "i64", "s", "s64"]), frozenset(["v", "c"]))
_V2_CAVEAT = _Names(frozenset(["i", "i64", "v", "v64", "l"]))
_V1 = _Names(frozenset(["location", "identifier", "signature"]), frozenset(["caveats"]))
_V1_CAVEAT = _Names(frozenset(["cid", "vid", "cl"]))


def read(text: str) -> List[Macaroon]:
    """Read all macaroons of a JSON text. Raises :class:`FormError`."""
    scan_token(text)
    value = parse(text, MAX_JSON_DEPTH)
    elements: List[Json] = value if isinstance(value, list) else [value]
    if not elements:
        raise FormError("empty")
    check_count(len(elements))
    first = elements[0]
    is_v1 = isinstance(first, dict) and ("identifier" in first or "signature" in first)
    return [_v1(one) if is_v1 else _v2(one) for one in elements]


def _object(value: Json, names: _Names) -> Object:
    """Read an object that has only these properties. The values of ``texts`` must be strings."""
    if not isinstance(value, dict):
        raise FormError("json_type")
    if not (names.texts | names.others).issuperset(value):
        raise FormError("json_unknown_key")
    for name in names.texts.intersection(value):
        if not isinstance(value[name], str):
            raise FormError("json_type")
    return value


def _encoded(value: Object, name: str) -> Optional[bytes]:
    """Return a property as UTF-8, or ``None`` if it is absent."""
    if name not in value:
        return None
    try:
        encoded: bytes = value[name].encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        raise FormError("utf8_invalid") from None
    return encoded


def _text(value: Object, name: str) -> Optional[str]:
    """Return a property as a string, or ``None`` if it is absent."""
    encoded = _encoded(value, name)
    return None if encoded is None else encoded.decode("utf-8")


def _base64(value: Object, name: str) -> Optional[bytes]:
    """Decode a property in base64; ``None`` if it is absent."""
    text = _text(value, name)
    return None if text is None else base64url.decode(text)


def _either(value: Object, name: str) -> Optional[bytes]:
    """Return a property, which is a string in ``name``, or base64 in the property ``name`` + ``64``."""
    name64 = name + "64"
    if name in value and name64 in value:
        raise FormError("json_both_encodings")
    return _encoded(value, name) if name in value else _base64(value, name64)


def _present(value: Optional[Any]) -> Any:
    if value is None:
        raise FormError("field_missing")
    return value


def _caveats(value: Object, name: str) -> List[Json]:
    caveats = value.get(name, [])
    if not isinstance(caveats, list):
        raise FormError("json_type")
    check_caveats(len(caveats))
    return caveats


def _caveat(identifier: Optional[bytes], vid: Optional[bytes], location: Optional[str]) -> Caveat:
    """Build a caveat. An empty location is treated as absent, but only a third-party caveat may have it."""
    known: bytes = _present(identifier)
    check_caveat(known)
    if vid is not None:
        check_vid(vid)
    elif location is not None:
        raise FormError("first_party_location")
    return Caveat(known, vid, location or None)


def _v2_caveat(value: Json) -> Caveat:
    caveat = _object(value, _V2_CAVEAT)
    return _caveat(_either(caveat, "i"), _either(caveat, "v"), _text(caveat, "l"))


def _v1_caveat(value: Json) -> Caveat:
    caveat = _object(value, _V1_CAVEAT)
    return _caveat(_encoded(caveat, "cid"), _base64(caveat, "vid"), _text(caveat, "cl"))


def _v2(element: Json) -> Macaroon:
    value = _object(element, _V2)
    version = value.get("v", 2.0)
    if not isinstance(version, float) or version != 2:
        raise FormError("json_version")
    caveats = _caveats(value, "c")
    location = _text(value, "l")
    identifier = _present(_either(value, "i"))
    signature = _present(_either(value, "s"))
    if len(signature) != SIGNATURE_LENGTH:
        raise FormError("signature_length")
    check_identifier(identifier)
    return Macaroon(identifier, signature, location or None, [_v2_caveat(one) for one in caveats])


def _v1(element: Json) -> Macaroon:
    value = _object(element, _V1)
    caveats = _caveats(value, "caveats")
    location = _text(value, "location")
    identifier = _present(_encoded(value, "identifier"))
    digits = _present(_text(value, "signature"))
    if _HEX.fullmatch(digits) is None:
        raise FormError("json_hex")
    if len(digits) != 2 * SIGNATURE_LENGTH:
        raise FormError("signature_length")
    check_identifier(identifier)
    signature = bytes.fromhex(digits)
    return Macaroon(identifier, signature, location or None, [_v1_caveat(one) for one in caveats])
