"""Self-test: known answers of the macaroon chain, the example of section 13, and denials.

    python3 spec-vectors/python/test_checker.py
"""

from __future__ import annotations

import json
import os
import random
import sys
import unittest
from typing import Any, Dict, List, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import adapter  # noqa: E402
from proviso_check import Allowed, Invalid, Invocation, Valid, base64url, check, verify  # noqa: E402
from proviso_check.macaroon import Caveat, Macaroon, v2_size  # noqa: E402
from proviso_check.signatures import bind, chain, derive_key, hash2, mac  # noqa: E402
from writers import minted, text, v1, v2  # noqa: E402

K1 = b"this is our super secret key; only we should know it"
KC = b"this is a different super-secret key; never use the same secret twice"
L = "http://mybank/"
VID = base64url.decode(
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA027FAuBYhtHwJ58FX6UlVNFtFsGxQHS7uD_w_dedwv4Jjw7UorCREw5rXbRqIKhr"
)
CID = b"this was how we remind auth of key/pred"
A1_V1 = (
    "MDAxY2xvY2F0aW9uIGh0dHA6Ly9teWJhbmsvCjAwMjZpZGVudGlmaWVyIHdlIHVzZWQgb3VyIHNlY3JldCBrZXkKMDAyZnNp"
    "Z25hdHVyZSDj2eApCFJsTAA5rhURQRXZf91ovyujebNCqvD2F9BVLwo"
)
ROOT = bytes(range(32))
LINKS = (
    b'{"grant":"documents:read","id":"cap_AAAAAAAAAAAAAAAA","iss":"documents-agent",'
    b'"issued":"2026-01-01T00:00:00Z","kid":"key_example","principal":"user:alice","v":1}',
    b'{"expires":"2026-01-01T01:00:00Z","operations":["retrieve","search"],'
    b'"resourceHandles":["rh_1","rh_2"]}',
    b'{"constraints":{"amount":{"max":1000}},"nonce":"AAAAAAAAAAAAAAAA","operations":["retrieve"]}',
)
EXAMPLE = (
    "AgKhAXsiZ3JhbnQiOiJkb2N1bWVudHM6cmVhZCIsImlkIjoiY2FwX0FBQUFBQUFBQUFBQUFBQUEiLCJpc3MiOiJkb2N1bWVu"
    "dHMtYWdlbnQiLCJpc3N1ZWQiOiIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsImtpZCI6ImtleV9leGFtcGxlIiwicHJpbmNpcGFs"
    "IjoidXNlcjphbGljZSIsInYiOjF9AAJneyJleHBpcmVzIjoiMjAyNi0wMS0wMVQwMTowMDowMFoiLCJvcGVyYXRpb25zIjpb"
    "InJldHJpZXZlIiwic2VhcmNoIl0sInJlc291cmNlSGFuZGxlcyI6WyJyaF8xIiwicmhfMiJdfQACXHsiY29uc3RyYWludHMi"
    "OnsiYW1vdW50Ijp7Im1heCI6MTAwMH19LCJub25jZSI6IkFBQUFBQUFBQUFBQUFBQUEiLCJvcGVyYXRpb25zIjpbInJldHJp"
    "ZXZlIl19AAAGIIDAIBf7hSmB0yQKvSX8XqASxUz49CVhVjfPLlnYSBRF"
)
TAGS = (
    "45c07e6ecb48ed7ca76806172430db41af8fb2f8ab5889cc2737cfa693243591",
    "c6e0f7874ba4e29077481117acd5b404d33ae4b3ac5689ae23e049de824a48c7",
    "80c02017fb852981d3240abd25fc5ea012c54cf8f425615637cf2e59d8481445",
)
IDS = ("rv_Q5XRaWQvAQPpB-RVS9CGpQ", "rv_yKcpaxI7x_c8zhI1CdQVGQ", "rv_z31XsqNCSOkmXN-CPTdQ3Q")
CHAIN = "cf7d57b2-a342-88e9-a65c-df823d3750dd"


class KnownAnswers(unittest.TestCase):
    def test_chain(self) -> None:
        caveats = [b"account = 3735928559", b"time < 2020-01-01T00:00", b"email = alice@example.org"]
        tags = chain(
            derive_key(K1), Macaroon(b"we used our secret key", b"", None, [Caveat(c) for c in caveats])
        )
        self.assertEqual(
            [tag.hex()[:16] for tag in tags],
            ["e3d9e02908526c4c", "1efe4763f290dbce", "b5f06c8c8ef92f6c", "ddf553e46083e55b"],
        )
        self.assertIsInstance(verify(A1_V1, K1), Valid)
        self.assertEqual(verify(A1_V1, K1 + b"!"), Invalid("signature_mismatch"))

    def test_discharge_in_four_forms(self) -> None:
        root = minted(
            derive_key(KC), b"we used our other secret key", Caveat(b"account = 3735928559"),
            Caveat(CID, VID, "http://auth.mybank/"),
        )
        root.location = L
        self.assertEqual(root.signature.hex()[:16], "d27db2fd1f22760e")
        key = derive_key(b"4; guaranteed random by a fair toss of the dice")
        discharge = minted(key, CID, Caveat(b"time < 2020-01-01T00:00"))
        self.assertEqual(discharge.signature.hex()[:16], "2ed1049876e9d584")
        bound = Macaroon(CID, bind(root.signature, discharge.signature), "x", discharge.caveats)
        self.assertEqual(bound.signature.hex()[:16], "d115ef1c133b1126")
        both = [root, bound]
        v2json = [
            {"v": 2, "i": m.identifier.decode(), "l": m.location, "s64": base64url.encode(m.signature),
             "c": [{"i64": base64url.encode(c.identifier), **({"v64": base64url.encode(c.vid),
                    "l": c.location} if c.vid else {})} for c in m.caveats]} for m in both
        ]
        v1json = [
            {"identifier": m.identifier.decode(), "location": m.location, "signature": m.signature.hex(),
             "caveats": [{"cid": c.identifier.decode(), **({"vid": base64url.encode(c.vid),
                          "cl": c.location} if c.vid else {})} for c in m.caveats]} for m in both
        ]
        forms = [text(*both), base64url.encode(v1(root) + v1(bound)), json.dumps(v2json), json.dumps(v1json)]
        self.assertEqual(v2_size(root), len(v2(root)))
        results = [verify(form, KC) for form in forms]
        self.assertIsInstance(results[0], Valid)
        self.assertEqual(results, [results[0]] * 4)
        self.assertEqual(verify(text(root), KC), Invalid("discharge_missing"))
        self.assertEqual(verify(text(root, bound, bound), KC), Invalid("discharge_duplicate"))
        self.assertEqual(verify(text(root, discharge), KC), Invalid("discharge_mismatch"))
        # A text that is cut is reported as truncated, except after the first macaroon. There, a discharge may be
        # missing instead, or the last character may have leftover bits.
        allowed = [Invalid(c) for c in ("truncated", "discharge_missing", "base64_trailing_bits")]
        for form in forms:
            cuts = [verify(form[:length], KC) for length in range(1, len(form))]
            self.assertLessEqual(len([cut for cut in cuts if cut != allowed[0]]), 1)
            self.assertTrue(all(cut in allowed for cut in cuts))

    def test_cycles_and_depth(self) -> None:
        from nacl.bindings import crypto_secretbox

        def third(tag: bytes, key: bytes, cid: bytes) -> Caveat:
            return Caveat(cid, bytes(24) + crypto_secretbox(key, bytes(24), tag))

        keys = [bytes([n]) * 32 for n in range(1, 9)]

        def line(count: int, last: Optional[int]) -> List[Macaroon]:
            """Return a token with a chain of discharges. The last one may need discharge number ``last`` again."""
            made: List[Macaroon] = []
            for n in range(count + 1):
                key, name = (keys[n - 1], b"d%d" % n) if n else (derive_key(ROOT), b"root")
                needs = n + 1 if n < count else last
                first = mac(key, name)
                made.append(minted(key, name, *([third(first, keys[needs - 1], b"d%d" % needs)] if needs else [])))
            for m in made[1:]:
                m.signature = bind(made[0].signature, m.signature)
            return made

        self.assertIsInstance(verify(text(*line(4, None)), ROOT), Valid)
        self.assertEqual(verify(text(*line(5, None)), ROOT), Invalid("discharge_too_deep"))
        self.assertEqual(verify(text(*line(1, 1)), ROOT), Invalid("discharge_cyclic"))
        self.assertEqual(verify(text(*line(3, 2)), ROOT), Invalid("discharge_cyclic"))
        unused = line(2, None) + [minted(keys[7], b"d9")]
        self.assertEqual(verify(text(*unused), ROOT), Invalid("discharge_unused"))
        tag = mac(derive_key(ROOT), b"root")
        one = third(tag, keys[0], b"d1")
        two = third(hash2(tag, one.vid or b"", b"d1"), keys[0], b"d1")
        root = minted(derive_key(ROOT), b"root", one, two)
        shared = minted(keys[0], b"d1")
        shared.signature = bind(root.signature, shared.signature)
        self.assertEqual(verify(text(root, shared), ROOT), Invalid("discharge_reused"))
        wrong = minted(derive_key(ROOT), b"root", Caveat(b"d1", bytes(72)))
        self.assertEqual(verify(text(wrong, shared), ROOT), Invalid("caveat_key_sealed"))


class Example(unittest.TestCase):
    def decide(self, token: str, revocations: Optional[Dict[str, Any]] = None, **change: Any) -> Any:
        asked: Dict[str, Any] = {
            "operation": "retrieve", "grant": "documents:read", "resourceHandles": ["rh_1"],
            "arguments": {"amount": 1000}, **change,
        }
        request = {
            "id": 1, "protocol": 2, "op": "check", "token": token, "issuer": "documents-agent",
            "keys": [{"kid": "key_example", "k": base64url.encode(ROOT)}],
            "now": asked.pop("now", "2026-01-01T00:30:00Z"), **asked.pop("knowing", {}),
            "revocations": revocations or {"version": 0, "entries": []},
            "invocation": {name: value for name, value in asked.items() if value is not None},
        }
        answer = adapter.answer(json.dumps(request).encode())
        if answer.get("result") != "refused":
            return answer
        return {(d["code"], d.get("hop"), d.get("discharge")) for d in answer["denials"]}

    def test_section_13(self) -> None:
        verified = verify(EXAMPLE, ROOT)
        assert isinstance(verified, Valid)
        self.assertEqual([tag.hex() for tag in verified.tags[0]], list(TAGS))
        allowed = {"result": "allowed", "revocationIds": list(IDS), "chainId": CHAIN}
        self.assertEqual(self.decide(EXAMPLE), {"id": 1, **allowed})
        refused = self.decide(
            EXAMPLE, operation="search", resourceHandles=["rh_3"], arguments={"amount": "1000"}
        )
        self.assertEqual(
            refused,
            {("resource_denied", 1, None), ("operation_denied", 2, None), ("constraint_violated", 2, None)},
        )
        self.assertEqual(self.decide(EXAMPLE, now="2026-01-01T01:00:00Z"), {("expired", 1, None)})
        self.assertEqual(self.decide(EXAMPLE[:-1]), {("token_truncated", None, None)})
        self.assertEqual(self.decide("!" + EXAMPLE), {("token_malformed", None, None)})

        other = self.decide(EXAMPLE, grant="documents:write")
        self.assertEqual(other, {("grant_denied", None, None)})

    def test_grant(self) -> None:
        denied = {("grant_denied", None, None)}
        read, write = ({"id": "documents:" + name, "operations": [name, "list"]} for name in ("read", "write"))
        both = {"grants": [read, write]}
        token = text(minted(derive_key(ROOT), LINKS[0], Caveat(b'{"expires":"2026-01-01T01:00:00Z"}')))
        for knows, grant, operation, expected in (
            ({}, "documents:read", "anything", "allowed"), ({}, ["documents:read", "x"], "anything", "allowed"),
            ({}, "documents", "read", denied), ({}, ["x", "y"], "read", denied), ({}, [], "read", "misuse"),
            (both, "documents:read", "list", "allowed"), (both, "documents:read", "write", denied),
            (both, "documents:write", "list", denied), (both, "documents:admin", "read", "misuse"),
            (both, ["documents:read", "documents:admin"], "read", "misuse"), (both, [], "read", "misuse"),
            (both, None, "read", "allowed"), (both, None, "write", denied), (both, None, "list", "misuse"),
            (both, None, "anything", "misuse"), ({}, None, "read", "misuse"), ({"grants": []}, None, "read", "misuse"),
        ):
            asked = {"operation": operation, "knowing": knows, "grant": grant}
            decided = self.decide(token, **asked)
            found = decided["result"] if isinstance(decided, dict) else decided
            self.assertEqual(found, expected, (knows, grant, operation))
            if expected == "misuse":
                self.assertEqual(self.decide("", **asked)["result"], "misuse")

    def test_moments(self) -> None:
        def at(time: str, until: str) -> Any:
            found = self.decide(EXAMPLE, {"version": 1, "trustedUntil": until, "entries": []}, time=time)
            return found["result"] if isinstance(found, dict) else {code for code, _, _ in found}

        self.assertEqual(at("2026-01-01T00:10:00Z", "2026-01-01T00:30:01Z"), "allowed")
        self.assertEqual(at("2026-01-01T00:10:00Z", "2026-01-01T00:30:00Z"), {"revocation_stale"})
        self.assertEqual(at("2026-01-01T00:40:00Z", "2026-01-01T00:35:00Z"), {"revocation_stale"})
        self.assertEqual(at("2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"), {"expired"})

    def test_revocation(self) -> None:
        def entries(*found: Dict[str, Any], **more: Any) -> Dict[str, Any]:
            return {"version": 1, "entries": list(found), **more}

        at = "2026-01-01T00:10:00Z"
        for link, name in enumerate(IDS):
            refused = self.decide(EXAMPLE, entries({"kind": "link", "id": name, "at": at}))
            self.assertEqual(refused, {("revoked", link, None)})
        user = {"kind": "principal", "id": "user:alice", "at": at, "before": "2026-01-01T00:00:01Z"}
        self.assertEqual(self.decide(EXAMPLE, entries(user)), {("revoked", None, None)})
        user["before"] = "2026-01-01T00:00:00Z"
        self.assertEqual(self.decide(EXAMPLE, entries(user))["result"], "allowed")
        first = {"kind": "link", "id": IDS[0], "at": at}
        for entry in ({**first, "before": at}, {**first, "kind": "hop"}, {**first, "until": "soon"}):
            self.assertIn("unsupported", self.decide(EXAMPLE, entries(entry)))
        stale = entries(trustedUntil="2026-01-01T00:30:00Z")
        self.assertEqual(self.decide(EXAMPLE, stale), {("revocation_stale", None, None)})

    def test_problems(self) -> None:
        hops = [b'{"a":1}', b'{"cnf":1,"operations":[]}', b"time < 1", b'{"purpose":"x","purpose":"x"}',
                b'{"maxFurtherHops":0}', b'{"expires":"2026-02-29T00:00:00Z"}']
        token = text(minted(derive_key(ROOT), LINKS[0], *[Caveat(hop) for hop in hops]))
        self.assertEqual(
            self.decide(token),
            {("caveat_unknown", 1, None), ("caveat_unknown", 2, None), ("caveat_malformed", 2, None),
             ("caveat_unknown", 3, None), ("caveat_malformed", 4, None), ("too_many_hops", 5, None),
             ("caveat_malformed", 6, None), ("expiry_missing", None, None)},
        )

    def test_never_raises(self) -> None:
        chance = random.Random(1)
        raw = base64url.decode(EXAMPLE)
        for _ in range(1500):
            changed = bytearray(raw)
            for _ in range(chance.randint(1, 3)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            asked = Invocation("x", grants=frozenset(["documents:read"]))
            result = check(base64url.encode(bytes(changed)), asked, "documents-agent",
                           {"key_example": ROOT}, {"version": 0, "entries": []}, "2026-01-01T00:30:00Z")
            self.assertNotIsInstance(result, Allowed)
        for line in (b"", b"\xff", b"[1]", b"{}", b"[" * 100_000, b'{"id":1,"protocol":2,"op":"verify","token":NaN}',
                     b'{"id":1,"protocol":2,"op":"check","token":"\\ud800"}',
                     b'{"id":1,"op":"verify","token":"AgEO","key":""}'):
            self.assertIn("unsupported", adapter.answer(line))
        self.assertEqual(verify("\ud800", ROOT), Invalid("base64_character"))
        self.assertEqual(verify("[" * 30_000, ROOT), Invalid("truncated"))
        self.assertEqual(verify("[" * 16_000 + "]" * 16_000, ROOT), Invalid("too_deep"))
        self.assertEqual(verify("[" * 20_480 + "]" * 20_481, ROOT), Invalid("too_large"))


if __name__ == "__main__":
    unittest.main()
