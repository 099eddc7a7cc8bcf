#!/usr/bin/env python3
"""Speaks the JSON-lines protocol of ``spec-vectors/README.md`` on standard input and output."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, FrozenSet, List, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from proviso_check import Invocation, Misuse, Refused, Valid, check, verify  # noqa: E402
from proviso_check import base64url  # noqa: E402
from proviso_check.limits import FormError  # noqa: E402
from proviso_check.revocation import MalformedList  # noqa: E402
from proviso_check.signatures import Unsupported  # noqa: E402
from proviso_check.times import is_time  # noqa: E402


PROTOCOL = 2


class BadRequest(Exception):
    """A line that is not as the protocol says. It is not a fault of the token in it."""


def _no_constant(name: str) -> Any:
    raise BadRequest(f"{name} is not JSON")


def _joined(value: str) -> str:
    """Text with surrogate pairs joined, and lone surrogates kept."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _text(request: Dict[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} is not text")
    return _joined(value)


def _optional_text(request: Dict[str, Any], name: str) -> Optional[str]:
    return _text(request, name) if request.get(name) is not None else None


def _secret(value: str) -> bytes:
    try:
        return base64url.decode(value)
    except FormError as error:
        raise BadRequest(f"a key is not base64url: {error.code}") from None


def _texts(value: Dict[str, Any], name: str) -> List[str]:
    texts = value.get(name, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRequest(f"{name} is not an array of text")
    return [_joined(text) for text in texts]


def _time(value: Dict[str, Any], name: str) -> str:
    time = _text(value, name)
    if not is_time(time):
        raise BadRequest(f"{name} is not a time")
    return time


def _arguments(value: Dict[str, Any]) -> Dict[str, Any]:
    arguments = value.get("arguments", {})
    if "argumentsText" in value:
        arguments = json.loads(
            value["argumentsText"], parse_int=float, parse_constant=_no_constant
        )
    if not isinstance(arguments, dict):
        raise BadRequest("the arguments are not an object")
    return arguments


def _acting(value: Dict[str, Any]) -> Optional[FrozenSet[str]]:
    if "grant" not in value:
        return None
    grant = value["grant"]
    return frozenset(_texts(value, "grant") if isinstance(grant, list) else [_text(value, "grant")])


def _invocation(request: Dict[str, Any]) -> Invocation:
    value = request.get("invocation")
    if not isinstance(value, dict):
        raise BadRequest("invocation is not an object")
    return Invocation(
        _text(value, "operation"),
        tuple(_texts(value, "resourceHandles")),
        _arguments(value),
        _optional_text(value, "invoker"),
        _optional_text(value, "audience"),
        _acting(value),
        _time(value, "time") if "time" in value else None,
    )


def _objects(request: Dict[str, Any], name: str) -> List[Dict[str, Any]]:
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadRequest(f"{name} is not an array of objects")
    return value


def _known_grants(request: Dict[str, Any]) -> Optional[Dict[str, FrozenSet[str]]]:
    if "grants" not in request:
        return None
    grants = _objects(request, "grants")
    known = {_text(one, "id"): frozenset(_texts(one, "operations")) for one in grants}
    if len(known) != len(grants):
        raise BadRequest("two grants have one id")
    return known


def answer_verify(request: Dict[str, Any]) -> Dict[str, Any]:
    """The operation ``verify``."""
    result = verify(_text(request, "token"), _secret(_text(request, "key")))
    if isinstance(result, Valid):
        return {"result": "valid", "tags": [[tag.hex() for tag in chain] for chain in result.tags]}
    return {"result": "invalid", "code": result.code}


def answer_check(request: Dict[str, Any]) -> Dict[str, Any]:
    """The operation ``check``."""
    revocations = request.get("revocations", {"version": 0, "entries": []})
    if not isinstance(revocations, dict):
        raise BadRequest("revocations is not an object")
    try:
        result = check(
            _text(request, "token"),
            _invocation(request),
            _text(request, "issuer"),
            {_text(key, "kid"): _secret(_text(key, "k")) for key in _objects(request, "keys")},
            revocations,
            _time(request, "now"),
            _known_grants(request),
        )
    except Misuse as misuse:
        return {"result": "misuse", "message": str(misuse)}
    if not isinstance(result, Refused):
        return {"result": "allowed", "revocationIds": list(result.revocation_ids)}
    denials: List[Dict[str, Any]] = []
    for denial in result.denials:
        found = {"code": denial.code, "hop": denial.hop, "discharge": denial.discharge,
                 "rule": denial.rule, "message": denial.message or None}
        denials.append({name: value for name, value in found.items() if value is not None})
    return {"result": "refused", "denials": denials}


def answer(line: bytes) -> Dict[str, Any]:
    """The answer to one line. Never raises."""
    identity: Any = None
    try:
        # Integers become doubles: that is what a JSON number is here.
        request = json.loads(
            line.decode("utf-8"), parse_int=float, parse_constant=_no_constant
        )
        if not isinstance(request, dict):
            raise BadRequest("not an object")
        identity = request.get("id")
        if isinstance(identity, float):
            identity = int(identity) if identity.is_integer() else None
        if request.get("protocol") != PROTOCOL:
            raise BadRequest(f"this is protocol {PROTOCOL}")
        operations = {"verify": answer_verify, "check": answer_check}
        operation = operations.get(str(request.get("op")))
        if operation is None:
            raise BadRequest("unknown op")
        return {"id": identity, **operation(request)}
    except (BadRequest, MalformedList, Unsupported) as error:
        return {"id": identity, "unsupported": str(error)}
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested without end
        return {"id": identity, "unsupported": "not a request that can be read"}


def main() -> None:
    """Answer each line before the next one is read."""
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(answer(line), separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
