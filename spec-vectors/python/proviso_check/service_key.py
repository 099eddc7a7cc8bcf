"""Keys that are derived for one service (section 10)."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Mapping, Optional, Tuple

_LABEL = b"proviso-service-key-v1 "
_SERVICE = re.compile(r"[!-?A-~]{1,255}\Z")


def read_service_kid(kid: str) -> Optional[Tuple[str, str]]:
    """Split ``KID@SERVICE`` into the id of the root key and the name of the service; ``None`` for another id."""
    root, mark, service = kid.partition("@")
    if root == "" or mark == "" or not _SERVICE.match(service):
        return None
    return root, service


def find_key(kid: str, keys: Mapping[str, bytes]) -> Optional[bytes]:
    """Return the key with this id: one of ``keys``, or a key derived from them."""
    if kid in keys:
        return keys[kid]
    parts = read_service_kid(kid)
    if parts is None or parts[0] not in keys:
        return None
    root, service = parts
    return hmac.new(keys[root], _LABEL + service.encode("ascii"), hashlib.sha256).digest()


def service_of(kid: str) -> Optional[str]:
    """Return the only service that accepts tokens signed with this key; ``None`` for a root key."""
    parts = read_service_kid(kid)
    return None if parts is None else parts[1]


def revocable_ids(kid: str) -> Tuple[str, ...]:
    """Return the ids of the keys whose revocation also revokes tokens signed with this key."""
    parts = read_service_kid(kid)
    return (kid,) if parts is None else (kid, parts[0])
