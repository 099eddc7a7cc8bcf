"""The HMAC chain and the verification of section 2, without recursion."""

from __future__ import annotations

import hashlib
import hmac
from collections import deque
from typing import Dict, List, Optional

from .limits import MAX_DISCHARGE_DEPTH
from .macaroon import Macaroon, Token

try:  # XSalsa20-Poly1305 is not in the standard library
    from nacl.bindings import crypto_secretbox_open
    from nacl.exceptions import CryptoError
except ImportError:  # pragma: no cover
    crypto_secretbox_open = None  # type: ignore[assignment]
    CryptoError = ValueError  # type: ignore[assignment,misc]

_NONCE = 24
_ROOT = -1  # stands for the token itself; discharges have the indexes from 0


class Unsupported(Exception):
    """The error of a request that needs a library which is not installed."""


class SignatureError(Exception):
    """The first error of section 2: a code, a link, and a discharge (counted from 1)."""

    def __init__(
        self, code: str, hop: Optional[int] = None, discharge: Optional[int] = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.hop = hop
        self.discharge = discharge


def mac(key: bytes, data: bytes) -> bytes:
    """Compute HMAC-SHA256."""
    return hmac.new(key, data, hashlib.sha256).digest()


def derive_key(secret: bytes) -> bytes:
    """Compute ``dk`` of section 2."""
    return mac(b"macaroons-key-generator", secret)


def hash2(key: bytes, first: bytes, second: bytes) -> bytes:
    """Compute the HMAC of two HMACs."""
    return mac(key, mac(key, first) + mac(key, second))


def chain(key: bytes, macaroon: Macaroon) -> List[bytes]:
    """Compute all tags, beginning with the identifier's, from a key that is already derived."""
    tags = [mac(key, macaroon.identifier)]
    for caveat in macaroon.caveats:
        if caveat.vid is None:
            tags.append(mac(tags[-1], caveat.identifier))
        else:
            tags.append(hash2(tags[-1], caveat.vid, caveat.identifier))
    return tags


def bind(root_signature: bytes, discharge_signature: bytes) -> bytes:
    """Compute the signature with which a discharge is presented."""
    return hash2(bytes(32), root_signature, discharge_signature)


def unseal(tag: bytes, vid: bytes) -> Optional[bytes]:
    """Return the derived caveat key; ``None`` if the tag does not open ``vid``."""
    if crypto_secretbox_open is None:  # pragma: no cover
        raise Unsupported("third-party caveats need PyNaCl")
    try:
        return crypto_secretbox_open(vid[_NONCE:], vid[:_NONCE], tag)
    except (CryptoError, ValueError):
        return None


def verify_signatures(token: Token, root_key: bytes) -> List[List[bytes]]:
    """Return all tags before binding: those of the token, then those of each discharge in the order presented.

    Raises :class:`SignatureError`.
    """
    root_tags = chain(derive_key(root_key), token.root)
    if not hmac.compare_digest(root_tags[-1], token.root.signature):
        raise SignatureError("signature_mismatch")
    by_identifier: Dict[bytes, int] = {}
    for index, discharge in enumerate(token.discharges):
        if discharge.identifier in by_identifier:
            raise SignatureError("discharge_duplicate", discharge=index + 1)
        by_identifier[discharge.identifier] = index
    tags = _Discharges(token, root_tags, by_identifier).verify()
    return [root_tags] + [tags[index] for index in range(len(token.discharges))]


class _Discharges:
    """Steps 3 and 4 of section 2. A queue has the macaroons whose caveats are still to be discharged."""

    def __init__(
        self, token: Token, root_tags: List[bytes], by_identifier: Dict[bytes, int]
    ) -> None:
        self.token = token
        self.by_identifier = by_identifier
        self.tags: Dict[int, List[bytes]] = {_ROOT: root_tags}
        self.parent: Dict[int, int] = {}  # maps a used discharge to the macaroon that needed it
        self.depth: Dict[int, int] = {_ROOT: 0}

    def verify(self) -> Dict[int, List[bytes]]:
        queue = deque([_ROOT])
        while queue:
            current = queue.popleft()
            macaroon = self.token.root if current == _ROOT else self.token.discharges[current]
            for link, caveat in enumerate(macaroon.caveats, start=1):
                if caveat.vid is not None:
                    queue.append(self._discharge(current, link, caveat.identifier, caveat.vid))
        for index in range(len(self.token.discharges)):
            if index not in self.parent:
                raise SignatureError("discharge_unused", discharge=index + 1)
        return self.tags

    def _discharge(self, current: int, link: int, identifier: bytes, vid: bytes) -> int:
        """Verify the discharge of one caveat of ``current``, and return its index."""
        where = None if current == _ROOT else current + 1

        def stop(code: str) -> SignatureError:
            return SignatureError(code, link, where)

        found = self.by_identifier.get(identifier)
        if found is None:
            raise stop("discharge_missing")
        if found in self.parent:
            raise stop("discharge_cyclic" if self._encloses(found, current) else "discharge_reused")
        if self.depth[current] == MAX_DISCHARGE_DEPTH:
            raise stop("discharge_too_deep")
        key = unseal(self.tags[current][link - 1], vid)
        if key is None:
            raise stop("caveat_key_sealed")
        discharge = self.token.discharges[found]
        tags = chain(key, discharge)
        if not hmac.compare_digest(
            bind(self.token.root.signature, tags[-1]), discharge.signature
        ):
            raise SignatureError("discharge_mismatch", discharge=found + 1)
        self.tags[found] = tags
        self.parent[found] = current
        self.depth[found] = self.depth[current] + 1
        return found

    def _encloses(self, found: int, current: int) -> bool:
        """Return whether ``found`` is ``current``, or a macaroon on the way from the token to ``current``."""
        while current != _ROOT:
            if current == found:
                return True
            current = self.parent[current]
        return False
