"""Self-test: tokens that sections 3 to 6 accept or reject. Each rejected token has one fault.

    python3 spec-vectors/python/test_reading.py
"""

from __future__ import annotations

import os
import sys
import unittest
from typing import Any, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from proviso_check import base64url, jcs  # noqa: E402
from proviso_check.hop import read_hop, read_identifier  # noqa: E402
from proviso_check.hosts import is_host  # noqa: E402
from proviso_check.jsontext import parse  # noqa: E402
from proviso_check.limits import FormError  # noqa: E402
from proviso_check.macaroon import Macaroon  # noqa: E402
from proviso_check.nesting import scan_hop  # noqa: E402
from proviso_check.times import is_time  # noqa: E402
from proviso_check.wire import read_token  # noqa: E402
from writers import packed, packets, text  # noqa: E402

IDENTIFIER = (
    b'{"grant":"documents:read","id":"cap_AAAAAAAAAAAAAAAA","iss":"documents-agent",'
    b'"issued":"2026-01-01T00:00:00Z","kid":"key_example","principal":"user:alice","v":1}'
)
EXAMPLE = text(Macaroon(IDENTIFIER, bytes(32)))


def code_of(token: Any) -> Optional[str]:
    """Return the code with which a token is rejected; None if it can be read."""
    try:
        read_token(base64url.encode(token) if isinstance(token, bytes) else token)
    except FormError as error:
        return error.code
    return None


class Forms(unittest.TestCase):
    def test_text(self) -> None:
        for token, code in {
            "": "empty", "A": "truncated", " " + EXAMPLE: "base64_whitespace", "A.AA": "base64_character",
            "+A-A": "base64_mixed", EXAMPLE + "=": "base64_padding", "AA=A": "base64_padding",
            "AwAA": "format_unknown", "AwAAA": "format_unknown", "AwB": "format_unknown", "AgJ": "truncated", "A" * 40_961: "too_large", "\U0001F600" * 20_481: "too_large",
            EXAMPLE + "A": "truncated", EXAMPLE + "Ag": "truncated", EXAMPLE + "AB": "base64_trailing_bits",
            EXAMPLE + "AA": "trailing_bytes", EXAMPLE + "AAAA": "trailing_bytes",
            '{"v":2,"i":"x","s64":"AB"}': "base64_trailing_bits", '{"v":"2"}': "json_version", "{": "truncated",
            '{"v":2,"v":2}': "json_duplicate_key", '{"v":2,"x":2}': "json_unknown_key", "[1]": "json_type",
            '{"v":2}': "field_missing", '{"v":2,"i":"","i64":""}': "json_both_encodings", "{NaN": "truncated", "{NaN}": "json_syntax",
            '{"v":NaN}': "json_syntax", '{"identifier":"\\ud800"}': "utf8_invalid", "[[[[[": "truncated", "[[[[[]]]]]": "too_deep",
            '{"identifier":"","signature":"0g"}': "json_hex", "{} x": "json_syntax",
            '{"identifier":"","signature":"00"}': "signature_length", '{"v":01}': "json_syntax",
            '{"identifier":"","v":2}': "json_unknown_key", '{"v":null}': "json_version", '{"c":[null],"i":"","s64":"%s"}' % ("A" * 43): "json_type",
            "\ufeff{}": "base64_character", "\f{}": "base64_whitespace", '[{"i":"x"},{"identifier":"y"}]': "field_missing",
            '[{"i":"x","s64":"%s"},{"identifier":"y"}]' % ("A" * 43): "json_unknown_key",
            '{"i":"%s","c":[1],"s64":"%s"}' % ("x" * 2049, "A" * 43): "caveat_too_large",
            '{"identifier":"%s","caveats":[{}],"signature":"%s"}' % ("x" * 2049, "0" * 64): "caveat_too_large",
            '{"i":"","s64":"%s","c":[{"i":"","l":""}]}' % ("A" * 43): "first_party_location", '{"i":"\\ud800","i":"": ]}': "json_syntax",
            '{"identifier":"","signature":"%s","caveats":[{"cid":"","cl":""}]}' % ("0" * 64): "first_party_location", '{"c":5,"x":1}': "json_unknown_key",
            '[{"v":2,"x":1},{"v":2,"v":2}]': "json_duplicate_key", '{"c":[{"l":1}],"i":"","s64":"%s"}' % ("A" * 43): "json_type",
            '{"c":[{"l":1}],"i":""}': "field_missing",
            '{"i":"","s64":"%s"}' % ("A" * 43): None, '{"v":20e-1,"i":"","s64":"%s"}' % ("A" * 43): None,
        }.items():
            self.assertEqual(code_of(token), code, token[:60])

    def test_v2(self) -> None:
        s = packed((6, bytes(32)))
        i = packed((2, b"i"))
        for data, code in {
            b"\2" + i + b"\0\0" + s: None, b"\2\2\x81\0i\0\0" + s: "varint_overlong",
            b"\2\2\xff\xff\xff\xff\1": "varint_range", b"\2" + i + b"\5": "field_unknown",
            b"\2" + i + i: "field_duplicate", b"\2" + i + packed((1, b"l")) + b"\0": "field_order",
            b"\2\0": "field_missing", b"\2\1\0" + i + b"\0\0" + s: None, b"\2" + packed((1, b"\xff")): "utf8_invalid",
            b"\2" + i + b"\0" + packed((1, b"l")) + i + b"\0": "first_party_location",
            b"\2" + i + b"\0\1\0" + i + b"\0": "first_party_location",
            b"\2" + i + b"\0\0" + packed((1, b"l")): "field_missing", b"\2" + i + b"\0\0\7": "field_missing",
            b"\2" + i + b"\0" + i + b"\4\0": "vid_length", b"\2" + i + b"\0\0\6\x1f": "signature_length",
            b"\2" + i + b"\0\0" + s + b"\3": "trailing_bytes", b"\2" + i + b"\0" + (i + b"\0") * 33: "too_many_caveats",
            b"\2" + packed((2, b"i" * 2049)) + b"\0": "caveat_too_large", b"\2\2\x81\x10": "truncated",
            b"\2" + packed((2, b"i" * 2049)): "truncated", b"\2" + packed((2, b"i" * 2048)) + b"\0": "truncated",
            b"\2" + i + b"\0" + packed((2, b"x" * 8193)) + b"\0": "caveat_too_large",
            b"\2" + i + b"\0" + packed((2, b"x" * 8192)) + b"\0\0" + s: None, (b"\2" + i + b"\0\0" + s) * 10: "too_many_discharges",
            b"\2" + i + b"\0" + (packed((2, b"x" * 5200)) + b"\0") * 2 + b"\0" + s: "too_large",
        }.items():
            self.assertEqual(code_of(data), code, data[:60])

    def test_v1(self) -> None:
        head = packets((b"location", b""), (b"identifier", b"i"))
        cid, sig = packets((b"cid", b"c")), packets((b"signature", bytes(32)))
        vid, cl = packets((b"vid", bytes(72))), packets((b"cl", b""))
        for data, code in {
            head + cid + vid + cl + sig: None, head + cid + vid + sig: None, b"0006": "packet_header",
            b"00G": "packet_header", head + b"0008cid ": "packet_terminator", head + packets((b"x", b"")): "field_unknown",
            packets((b"identifier", b"i"), (b"location", b"")): "field_missing", head + head: "field_duplicate",
            packets((b"identifier", b"i")) + sig: "field_missing", head + cid + cl: "first_party_location",
            head + cid + packets((b"vid", b"")): "vid_length", head + packets((b"signature", b"")): "signature_length",
            packets((b"location", b"\xff")): "utf8_invalid", head + vid: "field_order",
            head + cid + vid + vid: "field_duplicate", head + sig + b"\n": "trailing_bytes",
            head + sig + cid: "trailing_bytes", head: "truncated",
            head + cid + vid + cl + cid + vid + cl + sig: None, head + cid + vid + cl + vid: "field_duplicate",
            head + cl: "field_order", head[:14] + cid: "field_missing", head + sig + b"0": "truncated",
            packets((b"location", b""), (b"identifier", b"i" * 2049)): "caveat_too_large",
            packets((b"location", b""), (b"identifier", b"i" * 2049))[:-1]: "truncated",
            head + packets((b"cid", b"c" * 8193)): "caveat_too_large", head + packets((b"cid", b"c" * 8192)) + sig: None,
            head + sig + b"fZZZlocat": "packet_header", head + sig + b"0000locatx": "trailing_bytes",
        }.items():
            self.assertEqual(code_of(data), code, data[:60])


class Canonical(unittest.TestCase):
    def test_numbers(self) -> None:
        for value, expected in {
            "0": "0", "-0": "0", "-0.0": "0", "1e21": "1e+21", "1e20": "100000000000000000000", "1e-6": "0.000001",
            "1e-7": "1e-7", "123456789012345680000": "123456789012345680000", "9007199254740993": "9007199254740992",
            "5e-324": "5e-324", "1.7976931348623157e308": "1.7976931348623157e+308", "4.50": "4.5", "2e-3": "0.002",
            "333333333.33333329": "333333333.3333333", "-1.5e-9": "-1.5e-9", "1E30": "1e+30", "10": "10",
            "0.000000000000000000000000001": "1e-27", "1234.5e16": "12345000000000000000",
        }.items():
            self.assertEqual(jcs.write(parse(value, 1)), expected)

    def test_rfc_8785_example(self) -> None:
        source = (
            '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
            '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
        )
        self.assertEqual(
            jcs.write(parse(source, 4)),
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
        )
        self.assertEqual(jcs.write({"\ufb33": 1, "\U0001F600": 2}), '{"\U0001F600":2,"\ufb33":1}')

    def test_hops(self) -> None:
        for hop, code in {
            '{"constraints":{"a":{"in":[10,9]}}}': None, '{"constraints":{"a":{"in":[9,10]}}}': "caveat_malformed",
            '{"operations":["a","a"]}': "caveat_malformed", '{"operations":["b","a"]}': "caveat_malformed",
            "{}": "caveat_malformed", '{"operations": ["a"]}': "caveat_malformed", '{"maxFurtherHops":-0}': "caveat_malformed",
            '{"maxFurtherHops":9007199254740992}': "caveat_malformed", '{"maxFurtherHops":9007199254740991}': None,
            '{"constraints":{"a":{"max":1e999}}}': "caveat_malformed", '{"constraints":{"a":{"max":NaN}}}': "caveat_malformed",
            '{"constraints":{"a":{"max":true}}}': "caveat_malformed", '{"constraints":{"a":{}}}': "caveat_malformed",
            '{"purpose":"\\u0041"}': "caveat_malformed", '{"purpose":"\\ud800"}': "caveat_malformed",
            '{"handover":1}': "caveat_unknown", '{"constraints":{"a":{"eq":1}}}': "caveat_unknown", "": "caveat_unknown",
            '{"constraints":{"__proto__":null}}': None, '{"nonce":"AAAAAAAAAAAAAAAA\\n"}': "caveat_malformed",
            '{"expires":"0000-02-29T23:59:59Z"}': None, '{"expires":"2026-01-01T24:00:00Z"}': "caveat_malformed",
        }.items():
            problems = read_hop(hop.encode())[1]
            self.assertEqual([p.code for p in problems], [code] if code else [], hop)
        self.assertFalse(is_time("\u0662026-01-01T00:00:00Z"))
        self.assertIsNotNone(read_identifier(IDENTIFIER))
        self.assertIsNone(read_identifier(IDENTIFIER.replace(b'"v":1', b'"v":true')))

    def test_operation_constraints(self) -> None:
        for constraint, codes in {
            '{"absent":true}': [], '{"max":1,"optional":true}': [], '{"optional":true}': ["caveat_malformed"],
            '{"absent":true,"max":1}': ["caveat_malformed"], '{"absent":false}': ["caveat_malformed"],
            '{"each":{"items":{"min":0}}}': [], '{"each":{"each":{"eq":1}}}': ["caveat_malformed"], '{"each":{"eq":1}}': ["caveat_unknown"],
            '{"items":{"max":256}}': [], '{"items":{"max":257}}': ["caveat_malformed"], '{"items":{"eq":1}}': ["caveat_unknown"],
            '{"path":"/data"}': [], '{"path":"/data/"}': ["caveat_malformed"], '{"prefix":""}': ["caveat_malformed"],
            '{"url":{"hosts":[".example.com"],"schemes":["https"]}}': [],
            '{"url":{"hosts":["xn--nxasmq6b.example"],"path":"/a%20b","schemes":["https"]}}': [],
            '{"url":{"hosts":[".xn--nxasmq6b"],"schemes":["https"]}}': ["caveat_malformed"],
            '{"url":{"eq":1}}': ["caveat_malformed", "caveat_unknown"], '{"eq":1,"optional":true}': ["caveat_unknown"],
        }.items():
            hop = '{"operationConstraints":{"*":{"a":%s}}}' % constraint
            self.assertEqual([p.code for p in read_hop(hop.encode())[1]], codes, hop)
        for name, allowed in {"a": True, "": True, "/a": False, "/a/b": True, "/~1a": True, "/~0a": False, "/": False, "/a/~": False}.items():
            problems = read_hop(b'{"operationConstraints":{"*":{"%s":1}}}' % name.encode())[1]
            self.assertEqual(not problems, allowed, name)

    def test_hosts(self) -> None:
        for host, is_one in {
            "a": True, "a-b.c1": True, "a.": False, "-a": False, "a_b": False, "A": False, "a.1": False, "a.0x": False,
            "1.2.3.4": True, "1.2.3": False, "1.2.3.04": False, "1.2.3.256": False, "a" * 64: False, "[::]": True,
            "[::1]": True, "[0:0:0:0:0:0:0:1]": False, "[1:0:0:2::3]": True, "[1::2:0:0:3:4]": True, "[1:0:0:2::3:4]": False, "[1:2:3:4:5:6::8]": False,
            "[1:2:3:4:5:6:0:8]": True, "[::ffff:1.2.3.4]": False, "[fe80::1%25a]": False, "[::A]": False, "[1::2::3]": False, "[]": False,
        }.items():
            self.assertEqual(is_host(host), is_one, host)

    def test_scan(self) -> None:
        scan_hop(b'{"a":["' + b"," * 300 + b'\\"[[[[[[[[' + b'"' + b",1" * 255 + b"]}")
        for hop, code in {b'{[' + b",1" * 256: "too_many_members", b'{"a\\\\":[[[[[[[': "too_deep", b'{[' + b",1" * 256 + b"[" * 7: "too_deep"}.items():
            with self.assertRaises(FormError) as caught:
                scan_hop(hop)
            self.assertEqual(caught.exception.code, code)


if __name__ == "__main__":
    unittest.main()
