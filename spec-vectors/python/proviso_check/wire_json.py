"""The JSON forms of section 3."""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, List, Optional

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

Object = Dict[str, Json]

_V2_KEYS = frozenset(["v", "l", "i", "i64", "c", "s", "s64"])
_V2_CAVEAT_KEYS = frozenset(["i", "i64", "v", "v64", "l"])
_V1_KEYS = frozenset(["location", "identifier", "caveats", "signature"])
_V1_CAVEAT_KEYS = frozenset(["cid", "vid", "cl"])
_HEX = re.compile("[0-9a-fA-F]*")


def read(text: str) -> List[Macaroon]:
    """All macaroons of a JSON text. Raises :class:`FormError`."""
    value = parse(text, MAX_JSON_DEPTH)
    elements = value if isinstance(value, list) else [value]
    if not elements:
        raise FormError("empty")
    check_count(len(elements))
    objects = [_object(element) for element in elements]
    one = _v2 if "v" in objects[0] else _v1
    return [one(element) for element in objects]


def _object(value: Json) -> Object:
    if not isinstance(value, dict):
        raise FormError("json_type")
    return value


def _known(value: Object, keys: FrozenSet[str]) -> None:
    if any(name not in keys for name in value):
        raise FormError("json_unknown_key")


def _string(value: Json) -> str:
    if not isinstance(value, str):
        raise FormError("json_type")
    return value


def _location(value: Object, name: str) -> Optional[str]:
    """An optional location; an empty one reads as none."""
    return (_string(value[name]) or None) if name in value else None


def _caveats(value: Object, name: str) -> List[Object]:
    caveats = value.get(name, [])
    if not isinstance(caveats, list):
        raise FormError("json_type")
    check_caveats(len(caveats))
    return [_object(caveat) for caveat in caveats]


def _bytes(value: Object, name: str) -> Optional[bytes]:
    """A member that is text under ``name`` or base64 under ``name`` with ``64``."""
    name64 = name + "64"
    if name in value and name64 in value:
        raise FormError("json_both_encodings")
    if name in value:
        return _string(value[name]).encode("utf-8")
    if name64 in value:
        return base64url.decode(_string(value[name64]))
    return None


def _required(value: Optional[bytes]) -> bytes:
    if value is None:
        raise FormError("field_missing")
    return value


def _identifier(value: Optional[bytes]) -> bytes:
    identifier = _required(value)
    check_identifier_size(len(identifier))
    return identifier


def _caveat(identifier: bytes, vid: Optional[bytes], location: Optional[str]) -> Caveat:
    if vid is not None:
        check_vid(vid)
    elif location is not None:
        raise FormError("first_party_location")
    return Caveat(identifier, vid, location)


def _v2(value: Object) -> Macaroon:
    if "v" not in value:
        raise FormError("field_missing")
    version = value["v"]
    if isinstance(version, bool) or not isinstance(version, float) or version != 2:
        raise FormError("json_version")
    _known(value, _V2_KEYS)
    location = _location(value, "l")
    identifier = _identifier(_bytes(value, "i"))
    caveats = []
    for caveat in _caveats(value, "c"):
        _known(caveat, _V2_CAVEAT_KEYS)
        caveats.append(
            _caveat(
                _identifier(_bytes(caveat, "i")), _bytes(caveat, "v"), _location(caveat, "l")
            )
        )
    signature = _required(_bytes(value, "s"))
    if len(signature) != SIGNATURE_LENGTH:
        raise FormError("signature_length")
    return Macaroon(identifier, signature, location, caveats)


def _text(value: Object, name: str) -> Optional[bytes]:
    return _string(value[name]).encode("utf-8") if name in value else None


def _v1(value: Object) -> Macaroon:
    _known(value, _V1_KEYS)
    location = _location(value, "location")
    identifier = _identifier(_text(value, "identifier"))
    caveats = []
    for caveat in _caveats(value, "caveats"):
        _known(caveat, _V1_CAVEAT_KEYS)
        cid = _identifier(_text(caveat, "cid"))
        vid = base64url.decode(_string(caveat["vid"])) if "vid" in caveat else None
        caveats.append(_caveat(cid, vid, _location(caveat, "cl")))
    if "signature" not in value:
        raise FormError("field_missing")
    signature = _string(value["signature"])
    if _HEX.fullmatch(signature) is None:
        raise FormError("json_hex")
    if len(signature) != 2 * SIGNATURE_LENGTH:
        raise FormError("signature_length")
    return Macaroon(identifier, bytes.fromhex(signature), location, caveats)
