"""Self-test: cards, chains and registries (section 14). No card makes the checker raise.

    python3 spec-vectors/python/test_discovery.py
"""

from __future__ import annotations

import json
import os
import random
import sys
import unittest
from typing import Any, Dict, List, Set

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import adapter  # noqa: E402
from proviso_check.agent_chain import agent_at, validate_chain  # noqa: E402
from proviso_check.card import is_vendors  # noqa: E402
from proviso_check.card_versions import Range, read_version  # noqa: E402
from proviso_check.discovery import Refusal, Requirements, Usable, card_of, discover, read_text  # noqa: E402
from proviso_check.registry import REGISTRY, broken_by_change, broken_rules  # noqa: E402

INTERFACE = {"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}


def card(**more: Any) -> Dict[str, Any]:
    return {"name": "agent", "supportedInterfaces": [INTERFACE], **more}


def codes(value: Any, *capabilities: str) -> Set[str]:
    result = discover(card_of(value), Requirements(capabilities=frozenset(capabilities)))
    return set(result.denials) if isinstance(result, Refusal) else set()


class Versions(unittest.TestCase):
    def test_reading(self) -> None:
        for text, version in {
            "1": (1, 0), "1.0": (1, 0), "1.10": (1, 10), "0.3.9": (0, 3), "999999.999999.0": (999999, 999999),
            "": None, "1.": None, "01": None, "1.00": None, "1.0.0.0": None, "1000000": None, "1.0\n": None,
            "\u0661": None, "-1": None,
        }.items():
            self.assertEqual(read_version(text), version, text)
        self.assertIsNone(read_version(1.0))

    def test_ranges(self) -> None:
        self.assertTrue(Range((1, 9), (1, 10)).has((1, 10)))
        self.assertFalse(Range((1, 10), None).has((1, 9)))
        self.assertTrue(Range((1, 1), (1, 0)).is_turned_round)


class Cards(unittest.TestCase):
    def test_declaration(self) -> None:
        self.assertEqual(codes(card(), "send_message"), set())
        self.assertEqual(codes(card(), "pause_resume"), {"capability_undeclared"})
        self.assertEqual(codes(card(capabilities={"pauseResume": True}), "pause_resume"), set())
        self.assertEqual(codes(card(capabilities={"send_message": False})), {"card_malformed"})
        self.assertTrue(is_vendors("com.acme.voice") and is_vendors("urn:acme:voice"))
        self.assertFalse(is_vendors("voice") or is_vendors("com..voice"))

    def test_text(self) -> None:
        self.assertIsNone(read_text('{"a":1,"a":1}'))
        self.assertIsNone(read_text("[" * 100_000))
        found = discover(card_of(read_text(json.dumps(card()))), Requirements())
        self.assertIsInstance(found, Usable)

    def test_never_raises(self) -> None:
        chance = random.Random(1)
        whole = card(
            minProtocolVersion="0.3", maxProtocolVersion="1.2",
            capabilityGrants=[{"id": "documents:read", "operations": ["retrieve"], "legacy": True}],
            capabilities={"streaming": True, "extensions": [
                {"uri": "urn:proviso:a2a:discovery:1", "params": {
                    "capabilities": {"streaming_message": True}, "delegates": [{"url": "https://b.example:99999/"}],
                    "interfaces": [{"url": "https://a.example/", "protocolVersions": ["1.0", "1.1"]}]}}]},
        )
        self.assertEqual(codes(whole, "streaming_message"), set())
        text = json.dumps(whole)
        values: List[str] = ["null", "[]", "{}", "1e999", '"\\ud800"', '"1.0"', "true", "[[]]", "[null]"]
        parts = [part for part in ("{", "[", '"1.0"', '"0.3"', "true", '"retrieve"') if part in text]
        for _ in range(2000):
            part = chance.choice(parts)
            places = [at for at in range(len(text)) if text.startswith(part, at)]
            at = chance.choice(places)
            end = at + len(part)
            if part in "{[":
                end = self.closing(text, at)
            changed = card_of(read_text(text[:at] + chance.choice(values) + text[end:]))
            discover(changed, Requirements())
            validate_chain([("https://a.example/", changed), ("::", changed)], Requirements())

    @staticmethod
    def closing(text: str, at: int) -> int:
        depth = 0
        while True:
            depth += (text[at] in "{[") - (text[at] in "}]")
            at += 1
            if depth == 0:
                return at


class Chains(unittest.TestCase):
    def test_agents(self) -> None:
        for url in ("https://a.example", "HTTPS://A.example:443/", "https://a.example/.well-known/agent-card.json"):
            self.assertEqual(agent_at(url), "https://a.example")
        self.assertNotEqual(agent_at("https://a.example/x"), agent_at("https://a.example/X"))

    def test_requests(self) -> None:
        asked = {"id": 1, "protocol": 2, "op": "chain", "requirements": {},
                 "links": [{"url": "https://a.example/", "card": card()}]}
        self.assertEqual(adapter.answer(json.dumps(asked).encode()), {"id": 1, "result": "valid"})
        for wrong in ({"links": [{"card": {}}]}, {"maxLength": 0}, {"requirements": {"binding": "WAMP"}},
                      {"requirements": {"capabilities": ["telepathy"]}}, {"op": "registry"}):
            self.assertIn("unsupported", adapter.answer(json.dumps({**asked, **wrong}).encode()))


class Registries(unittest.TestCase):
    def test_own(self) -> None:
        self.assertEqual(broken_rules(REGISTRY), set())
        self.assertEqual(broken_by_change(REGISTRY, REGISTRY), set())


if __name__ == "__main__":
    unittest.main()
