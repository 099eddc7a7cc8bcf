"""The operations ``discover``, ``chain`` and ``registry`` of the protocol (section 14)."""

from __future__ import annotations

from typing import Any, Dict

from proviso_check.agent_chain import MAX_LENGTH, validate_chain
from proviso_check.card import Card, is_vendors
from proviso_check.card_places import camel
from proviso_check.card_versions import read_version, written
from proviso_check.discovery import (
    BINDINGS, NeededGrant, Refusal, Requirements, card_of, discover, read_text,
)
from proviso_check.registry import REGISTRY, broken_by_change, broken_rules, by_name
from request_members import BadRequest, flag, objects, optional_text, text, texts


def _requirements(request: Dict[str, Any]) -> Requirements:
    value = request.get("requirements", {})
    if not isinstance(value, dict):
        raise BadRequest("requirements is not an object")
    version = read_version(value.get("protocolVersion", "1.0"))
    binding = optional_text(value, "binding")
    if version is None or binding not in (None, *BINDINGS):
        raise BadRequest("a version or binding that no caller can require")
    known = by_name(request.get("registry", REGISTRY))
    spelled = {camel(name): name for name in known}
    names = tuple(frozenset(spelled.get(name, name) for name in texts(value, member))
                  for member in ("capabilities", "endToEnd"))
    if not all(name in known or is_vendors(name) for name in names[0] | names[1]):
        raise BadRequest("a required capability that is neither registered nor a vendor's")
    grants = objects(value, "grants") if "grants" in value else []
    return Requirements(
        version,
        *names,
        tuple(NeededGrant(text(one, "grant"), tuple(texts(one, "operations")),
                          flag(one, "attenuable", False)) for one in grants),
        binding,
        flag(value, "allowLegacy", False),
        flag(value, "allowDeprecated", True),
    )


def _card(value: Dict[str, Any], registry: Any = REGISTRY) -> Card:
    if "cardText" in value:
        return card_of(read_text(text(value, "cardText")), registry)
    if "card" not in value:
        raise BadRequest("neither card nor cardText")
    return card_of(value["card"], registry)


def answer_discover(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answer the operation ``discover``."""
    registry = request.get("registry", REGISTRY)
    result = discover(_card(request, registry), _requirements(request), registry)
    if isinstance(result, Refusal):
        return {"result": "refused", "denials": [{"code": code} for code in result.denials]}
    chosen = {"url": result.interface.url, "binding": result.interface.binding}
    return {"result": "usable", "interface": chosen, "version": written(result.version),
            "warnings": list(result.warnings)}


def answer_chain(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answer the operation ``chain``."""
    links = [(text(link, "url"), _card(link)) for link in objects(request, "links")]
    limit = request.get("maxLength", float(MAX_LENGTH))
    if not isinstance(limit, float) or not limit.is_integer() or limit < 1:
        raise BadRequest("maxLength is not a length")
    denials = validate_chain(links, _requirements(request), int(limit))
    if not denials:
        return {"result": "valid"}
    return {"result": "refused",
            "denials": [{"code": code, "link": link} for code, link in sorted(denials)]}


def answer_registry(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answer the operation ``registry``."""
    rules = broken_rules(request.get("registry"))
    if "previous" in request:
        rules |= broken_by_change(request["previous"], request["registry"])
    return {"result": "invalid", "rules": sorted(rules)} if rules else {"result": "valid"}
