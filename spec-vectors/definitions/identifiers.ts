import { concat } from "../build/bytes.js";
import {
  allowed,
  type CheckSubject,
  type CheckTest,
  ID,
  identifier,
  KEY_A,
  KEY_B,
  type Key,
  refused,
} from "./check-test.js";
import type { Flag } from "./notes.js";

/** Defines a test of an invalid identifier. It is refused before anything else is judged. */
function malformed(
  comment: string,
  text: string | Uint8Array,
  more: readonly Flag[] = [],
): CheckTest {
  return refused(comment, ["Identifier", ...more], { identifier: text }, "token_malformed");
}

function key(kid: string): Key {
  return { ...KEY_A, kid };
}

const deep = `{"grant":${"[".repeat(980)}${"]".repeat(980)}}`;

export const identifiers: CheckSubject = {
  subject: "identifier",
  comment: "Section 6: the members of an identifier",
  tests: [
    allowed("every member", "Normal", {}),
    allowed("without a principal", "Normal", { identifier: identifier({ principal: undefined }) }),
    allowed("an id of 17 characters behind cap_", "Identifier", {
      identifier: identifier({ id: "cap_AAAAAAAAAAAAAAAA1" }),
    }),
    allowed("an id with - and _", "Identifier", {
      identifier: identifier({ id: "cap_-_-_-_-_-_-_-_-_" }),
    }),
    allowed("an id of 200 characters behind cap_", "Identifier", {
      identifier: identifier({ id: `cap_${"A".repeat(200)}` }),
    }),
    allowed("a grant beyond ASCII", ["Identifier", "Unicode"], {
      identifier: identifier({ grant: "\u6587\u66f8:\u8aad\u3080" }),
    }),
    allowed("issued in the future, which nothing forbids", "Identifier", {
      identifier: identifier({ issued: "2030-01-01T00:00:00Z" }),
    }),
    allowed("issued in the year 0000", ["Identifier", "TimeEdge"], {
      identifier: identifier({ issued: "0000-01-01T00:00:00Z" }),
    }),
    malformed("version 2", identifier({ v: 2 })),
    malformed("version 0", identifier({ v: 0 })),
    malformed("version 1 as a string", identifier({ v: "1" }), ["TypeConfusion"]),
    malformed("version true", identifier({ v: true }), ["TypeConfusion"]),
    malformed("version 1 written 1.0", ID.replace('"v":1', '"v":1.0'), ["CanonicalForm"]),
    malformed("no version", identifier({ v: undefined })),
    malformed("no issuer", identifier({ iss: undefined })),
    malformed("an empty issuer", identifier({ iss: "" })),
    malformed("an issuer that is null", identifier({ iss: null }), ["TypeConfusion"]),
    malformed("an issuer in an array", identifier({ iss: ["documents-agent"] }), ["TypeConfusion"]),
    malformed("no key id", identifier({ kid: undefined })),
    malformed("an empty key id", identifier({ kid: "" })),
    malformed("a key id that is a number", identifier({ kid: 1 }), ["TypeConfusion"]),
    malformed("no id", identifier({ id: undefined })),
    malformed("an id of 15 characters behind cap_", identifier({ id: "cap_AAAAAAAAAAAAAAA" })),
    malformed("an id that starts with CAP_", identifier({ id: "CAP_AAAAAAAAAAAAAAAA" })),
    malformed("an id that starts with rv_", identifier({ id: "rv_AAAAAAAAAAAAAAAAAA" })),
    malformed("an id with something before cap_", identifier({ id: "xcap_AAAAAAAAAAAAAAAA" })),
    malformed("an id in standard base64", identifier({ id: "cap_AAAAAAAAAAAAAAA+" })),
    malformed("an id with padding", identifier({ id: "cap_AAAAAAAAAAAAAAAA==" })),
    malformed("an id with a newline behind it", identifier({ id: "cap_AAAAAAAAAAAAAAAA\n" })),
    malformed("an id in full-width letters", identifier({ id: `cap_${"\uff21".repeat(16)}` }), [
      "Unicode",
    ]),
    malformed("an id that is a number", identifier({ id: 1234567890123456 }), ["TypeConfusion"]),
    malformed("no grant", identifier({ grant: undefined })),
    malformed("an empty grant", identifier({ grant: "" })),
    malformed("a grant in an array", identifier({ grant: ["documents:read"] }), ["TypeConfusion"]),
    malformed("no issued", identifier({ issued: undefined })),
    malformed("issued as seconds since 1970", identifier({ issued: 1767225600 })),
    malformed("issued without Z", identifier({ issued: "2026-01-01T00:00:00" }), ["TimeEdge"]),
    malformed("issued with milliseconds", identifier({ issued: "2026-01-01T00:00:00.000Z" }), [
      "TimeEdge",
    ]),
    malformed("issued on 29 February 2025", identifier({ issued: "2025-02-29T00:00:00Z" }), [
      "TimeEdge",
    ]),
    malformed("an empty principal", identifier({ principal: "" })),
    malformed("a principal that is null", identifier({ principal: null })),
    malformed("a principal that is an object", identifier({ principal: { id: "user:alice" } })),
    malformed("an unknown member", identifier({ scope: "all" })),
    malformed("a hop's key", identifier({ operations: ["retrieve"] })),
    malformed("a member in another case", identifier({ Principal: "user:alice" })),
    malformed("a member called __proto__", ID.replace("{", '{"__proto__":{},'), [
      "ObjectPrototype",
    ]),
    malformed("members in another order", `{"v":1,${ID.slice(1).replace(',"v":1', "")}`, [
      "CanonicalForm",
    ]),
    malformed("white space", ID.replace(":", ": "), ["CanonicalForm"]),
    malformed("a newline behind it", `${ID}\n`, ["CanonicalForm"]),
    malformed("a member twice", ID.replace('"v":1', '"v":1,"v":1'), ["CanonicalForm"]),
    malformed(
      "a grant twice, the last of them narrower",
      ID.replace('"id"', '"grant":"documents:search","id"'),
      ["CanonicalForm"],
    ),
    malformed(
      "an escape where none is needed",
      ID.replace("documents:read", "\\u0064ocuments:read"),
      ["CanonicalForm"],
    ),
    malformed("a lone surrogate", ID.replace("documents:read", "\\ud800"), [
      "CanonicalForm",
      "Unicode",
    ]),
    malformed("a byte order mark before it", `\ufeff${ID}`, ["CanonicalForm"]),
    malformed("not JSON", ID.slice(0, -1)),
    malformed("an array", `[${ID}]`),
    malformed("a string", '"cap_AAAAAAAAAAAAAAAA"'),
    malformed("an empty object", "{}"),
    malformed("an empty identifier", ""),
    malformed("not UTF-8", concat(ID.slice(0, -1), 0xff, "}")),
    malformed("arrays nested 980 deep", deep, ["Limit"]),
    malformed("any other macaroon", "we used our secret key"),
  ],
};

export const keys: CheckSubject = {
  subject: "issuer and keys",
  comment: "Section 7, step 2: whose token it is and which key it was made under",
  tests: [
    allowed("the only key", "KeyRotation", { keys: [KEY_A] }),
    allowed("an older key beside the newer one", "KeyRotation", { keys: [KEY_A, KEY_B] }),
    allowed("the newer key beside the older one", "KeyRotation", {
      identifier: identifier({ kid: "key_b" }),
      secret: KEY_B.secret,
      keys: [KEY_A, KEY_B],
    }),
    allowed("a key id beyond ASCII", ["KeyRotation", "Unicode"], {
      identifier: identifier({ kid: "cl\u00e9" }),
      keys: [key("cl\u00e9")],
    }),
    refused("a retired key", ["KeyRotation", "WrongIssuer"], { keys: [KEY_B] }, "unknown_key"),
    refused(
      "a key id in another case",
      "WrongIssuer",
      { identifier: identifier({ kid: "KEY_A" }) },
      "unknown_key",
    ),
    refused(
      "a key id with a space behind it",
      "WrongIssuer",
      { identifier: identifier({ kid: "key_a " }) },
      "unknown_key",
    ),
    refused(
      "a key id in another normal form",
      ["WrongIssuer", "Unicode"],
      { identifier: identifier({ kid: "cle\u0301" }), keys: [key("cl\u00e9")] },
      "unknown_key",
    ),
    refused(
      "the name of an object's own method as key id",
      ["WrongIssuer", "ObjectPrototype"],
      { identifier: identifier({ kid: "constructor" }) },
      "unknown_key",
    ),
    refused(
      "__proto__ as key id",
      ["WrongIssuer", "ObjectPrototype"],
      { identifier: identifier({ kid: "__proto__" }) },
      "unknown_key",
    ),
    refused(
      "made under one key and naming the other",
      ["Forged", "KeyRotation"],
      { secret: KEY_B.secret, keys: [KEY_A, KEY_B] },
      "signature_mismatch",
    ),
    refused(
      "another issuer",
      "WrongIssuer",
      { identifier: identifier({ iss: "search-agent" }) },
      "foreign_issuer",
    ),
    refused(
      "an issuer in another case",
      "WrongIssuer",
      { identifier: identifier({ iss: "Documents-Agent" }) },
      "foreign_issuer",
    ),
    refused(
      "an issuer whose name begins with this one's",
      "WrongIssuer",
      { identifier: identifier({ iss: "documents-agent.example" }) },
      "foreign_issuer",
    ),
    refused(
      "an issuer whose name is the beginning of this one's",
      "WrongIssuer",
      { identifier: identifier({ iss: "documents" }) },
      "foreign_issuer",
    ),
    refused(
      "another issuer that has the same key",
      "WrongIssuer",
      { issuer: "search-agent" },
      "foreign_issuer",
    ),
    refused(
      "another issuer and an unknown key",
      ["WrongIssuer", "OrderOfSteps"],
      { issuer: "search-agent", keys: [KEY_B] },
      "foreign_issuer",
    ),
  ],
};
