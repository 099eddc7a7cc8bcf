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
from proviso_check.registry import MalformedRegistry  # noqa: E402
from proviso_check.revocation import MalformedList, chain_id  # noqa: E402
from proviso_check.signatures import Unsupported  # noqa: E402
from proviso_check.times import is_time  # noqa: E402
from discovery_requests import answer_chain, answer_discover, answer_registry  # noqa: E402
from request_members import (  # noqa: E402
    BadRequest, no_constant, objects, optional_text, text, texts,
)


PROTOCOL = 2


def _secret(value: str) -> bytes:
    try:
        return base64url.decode(value)
    except FormError as error:
        raise BadRequest(f"a key is not base64url: {error.code}") from None


def _time(value: Dict[str, Any], name: str) -> str:
    time = text(value, name)
    if not is_time(time):
        raise BadRequest(f"{name} is not a time")
    return time


def _arguments(value: Dict[str, Any]) -> Dict[str, Any]:
    arguments = value.get("arguments", {})
    if "argumentsText" in value:
        arguments = json.loads(
            value["argumentsText"], parse_int=float, parse_constant=no_constant
        )
    if not isinstance(arguments, dict):
        raise BadRequest("the arguments are not an object")
    return arguments


def _acting(value: Dict[str, Any]) -> Optional[FrozenSet[str]]:
    if "grant" not in value:
        return None
    grant = value["grant"]
    return frozenset(texts(value, "grant") if isinstance(grant, list) else [text(value, "grant")])


def _invocation(request: Dict[str, Any]) -> Invocation:
    value = request.get("invocation")
    if not isinstance(value, dict):
        raise BadRequest("invocation is not an object")
    return Invocation(
        text(value, "operation"),
        tuple(texts(value, "resourceHandles")),
        _arguments(value),
        optional_text(value, "invoker"),
        optional_text(value, "audience"),
        _acting(value),
        _time(value, "time") if "time" in value else None,
    )


def _known_grants(request: Dict[str, Any]) -> Optional[Dict[str, FrozenSet[str]]]:
    if "grants" not in request:
        return None
    grants = objects(request, "grants")
    known = {text(one, "id"): frozenset(texts(one, "operations")) for one in grants}
    if len(known) != len(grants):
        raise BadRequest("two grants have one id")
    return known


def answer_verify(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answer the operation ``verify``."""
    result = verify(text(request, "token"), _secret(text(request, "key")))
    if isinstance(result, Valid):
        return {"result": "valid", "tags": [[tag.hex() for tag in chain] for chain in result.tags]}
    return {"result": "invalid", "code": result.code}


def answer_check(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answer the operation ``check``."""
    revocations = request.get("revocations", {"version": 0, "entries": []})
    if not isinstance(revocations, dict):
        raise BadRequest("revocations is not an object")
    try:
        result = check(
            text(request, "token"),
            _invocation(request),
            text(request, "issuer"),
            {text(key, "kid"): _secret(text(key, "k")) for key in objects(request, "keys")},
            revocations,
            _time(request, "now"),
            _known_grants(request),
        )
    except Misuse as misuse:
        return {"result": "misuse", "message": str(misuse)}
    if not isinstance(result, Refused):
        ids = list(result.revocation_ids)
        return {"result": "allowed", "revocationIds": ids, "chainId": chain_id(ids[-1])}
    denials: List[Dict[str, Any]] = []
    for denial in result.denials:
        found = {"code": denial.code, "hop": denial.hop, "discharge": denial.discharge,
                 "rule": denial.rule, "message": denial.message or None}
        denials.append({name: value for name, value in found.items() if value is not None})
    return {"result": "refused", "denials": denials}


def answer(line: bytes) -> Dict[str, Any]:
    """Answer one line. This function never raises."""
    identity: Any = None
    try:
        # Integers become doubles, since the specification reads every JSON number as a double.
        request = json.loads(
            line.decode("utf-8"), parse_int=float, parse_constant=no_constant
        )
        if not isinstance(request, dict):
            raise BadRequest("not an object")
        identity = request.get("id")
        if isinstance(identity, float):
            identity = int(identity) if identity.is_integer() else None
        if request.get("protocol") != PROTOCOL:
            raise BadRequest(f"this is protocol {PROTOCOL}")
        operations = {
            "verify": answer_verify, "check": answer_check, "discover": answer_discover,
            "chain": answer_chain, "registry": answer_registry,
        }
        operation = operations.get(str(request.get("op")))
        if operation is None:
            raise BadRequest("unknown op")
        return {"id": identity, **operation(request)}
    except (BadRequest, MalformedList, MalformedRegistry, Unsupported) as error:
        return {"id": identity, "unsupported": str(error)}
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply for Python
        return {"id": identity, "unsupported": "not a request that can be read"}


def main() -> None:
    """Answer each line before reading the next one."""
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(answer(line), separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
