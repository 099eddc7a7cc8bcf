import { bytes, flip } from "../build/bytes.js";
import { append, type Built, tampered, third } from "../build/chain.js";
import {
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  identifier,
  KEY_B,
  misuse,
  NOW,
  refused,
  type Setup,
} from "./check-test.js";
import { acting, KNOWN, knowing, READ, RETRIEVE, WRITE } from "./grant-parts.js";

const CAPABILITY = { kind: "capability", id: "cap_AAAAAAAAAAAAAAAA" } as const;
const ASK = third("ask");
const OTHER = acting(WRITE);

function joined(
  comment: string,
  setup: Setup,
  ...denials: readonly [string, ...string[]]
): CheckTest {
  return refused(
    comment,
    ["Grant", "AllReported"],
    { ...OTHER, ...setup },
    "grant_denied",
    ...denials,
  );
}

/**
 * Defines a test with a wrong grant and an earlier fault. The earlier fault ends the check before the grant is
 * judged.
 */
function only(comment: string, setup: Setup, denial: string): CheckTest {
  return refused(comment, ["Grant", "OrderOfSteps"], { ...OTHER, ...setup }, denial);
}

function wrong(token: Built): Built {
  return tampered(token, { signature: flip(token.signature, 5) });
}

function regranted(token: Built): Built {
  const text = Buffer.from(token.identifier).toString().replace(READ, WRITE);
  return tampered(token, { identifier: bytes(text) });
}

export const grantSteps: CheckSubject = {
  subject: "the grant among the other steps",
  comment: "Section 7: steps 4, 5 and 6 are joined, and nothing of a grant is reported before them",
  tests: [
    joined(
      "another grant, and the capability is revoked",
      { revocations: () => ({ entries: [CAPABILITY] }) },
      "revoked",
    ),
    joined(
      "another grant, and a stale list",
      { revocations: () => ({ trustedUntil: NOW }) },
      "revocation_stale",
    ),
    joined(
      "another grant, and an operation that a hop does not name",
      { links: [EXPIRES, '{"operations":["search"]}'] },
      "operation_denied@2",
    ),
    joined(
      "another grant, and an expired hop",
      { links: ['{"expires":"2026-01-01T00:00:00Z"}'] },
      "expired@1",
    ),
    joined("another grant, and no expiry", { links: [RETRIEVE] }, "expiry_missing"),
    joined("another grant, and no hop at all", { links: [] }, "expiry_missing"),
    joined(
      "another grant, and a caveat that is no hop",
      { links: [EXPIRES, "time < 2030"] },
      "caveat_unknown@2",
    ),
    joined("another grant, and a malformed hop", { links: [EXPIRES, "{}"] }, "caveat_malformed@2"),
    joined(
      "another grant, and a discharge's hop that is not met",
      {
        links: [EXPIRES, ASK],
        discharges: [{ of: ASK, links: ['{"operations":["search"]}'] }],
      },
      "operation_denied@1/1",
    ),
    joined(
      "another grant, an operation of neither, and two hops that refuse it",
      {
        ...knowing({ grant: WRITE, operation: "format" }),
        links: [EXPIRES, RETRIEVE, '{"operations":["search"]}'],
      },
      "operation_denied@2",
      "operation_denied@3",
    ),
    joined(
      "an operation that the token's grant does not have: revoked, stale, denied and without expiry",
      {
        ...knowing({ grant: READ, operation: "delete" }),
        links: [RETRIEVE],
        revocations: () => ({ trustedUntil: NOW, entries: [CAPABILITY] }),
      },
      "revoked",
      "revocation_stale",
      "operation_denied@1",
      "expiry_missing",
    ),
    joined(
      "another grant, and a hop that seals the token with one behind it",
      {
        links: ['{"expires":"2026-01-01T01:00:00Z","maxFurtherHops":0}'],
        alter: (token) => append(token, RETRIEVE),
      },
      "too_many_hops@1",
    ),
    only("another grant, and a wrong signature", { alter: wrong }, "signature_mismatch"),
    only(
      "the service's grant written into the identifier",
      { alter: regranted },
      "signature_mismatch",
    ),
    only(
      "an operation that the grant does not have, and a wrong signature",
      { ...knowing({ grant: READ, operation: "delete" }), alter: wrong },
      "signature_mismatch",
    ),
    only("another grant, and an unknown key", { keys: [KEY_B] }, "unknown_key"),
    only(
      "another grant, and another issuer",
      { identifier: identifier({ iss: "search-agent" }) },
      "foreign_issuer",
    ),
    only(
      "another grant, and a malformed identifier",
      { identifier: identifier({ v: 2 }) },
      "token_malformed",
    ),
    only(
      "another grant, and a token cut short",
      { text: (token) => token.slice(0, -1) },
      "token_truncated",
    ),
    only("another grant, and no discharge", { links: [EXPIRES, ASK] }, "discharge_missing@2"),
    only(
      "another grant, and a discharge of another key",
      { links: [EXPIRES, ASK], discharges: [{ of: { ...ASK, caveatKey: "guess" } }] },
      "discharge_invalid/1",
    ),
    only(
      "another grant, and 33 hops",
      { links: [EXPIRES, ...Array<string>(32).fill('{"purpose":"x"}')] },
      "token_too_large",
    ),
  ],
};

/** Defines a test of a misuse that does not depend on the token. */
function misused(comment: string, setup: Setup): CheckTest {
  return misuse(comment, "Misuse", setup);
}

export const grantMisuse: CheckSubject = {
  subject: "misuse",
  comment: "Section 7: calls that a checker answers with no decision, before it looks at the token",
  tests: [
    misused("no grant, and the issuer does not know its grants", acting(null)),
    misused("an empty set, and the issuer does not know its grants", acting([])),
    misused("an empty set, though one known grant has the operation", knowing({ grant: [] })),
    misused("no grant, and no known grant has the operation", {
      ...knowing({ grant: null, operation: "format" }),
    }),
    misused("no grant, and two known grants have the operation", {
      ...knowing({ grant: null, operation: "list" }),
    }),
    misused("no grant, two known grants have the operation, and a hop names it", {
      ...knowing({ grant: null, operation: "list" }),
      links: [EXPIRES, '{"operations":["list"]}'],
    }),
    misused("no grant, and three known grants have the operation", {
      ask: { grant: null, operation: "list" },
      grants: [...KNOWN, { id: "documents:list", operations: ["list"] }],
    }),
    misused("no grant, and the operation in another case", {
      ...knowing({ grant: null, operation: "Retrieve" }),
    }),
    misused("no grant, and a pattern among a grant's operations is no wildcard", {
      ask: { grant: null },
      grants: [{ id: READ, operations: ["retr*", "**"] }],
    }),
    misused("no grant, and the only known grant has no operations", {
      ask: { grant: null },
      grants: [{ id: READ, operations: [] }],
    }),
    misused("a grant that the issuer does not know", knowing({ grant: "documents:admin" })),
    misused("a grant that the issuer does not know, and the token has", {
      ...knowing({ grant: "documents:admin" }),
      identifier: identifier({ grant: "documents:admin" }),
    }),
    misused("a known grant in another case", knowing({ grant: "Documents:read" })),
    misused("the empty string, which is no known grant", knowing({ grant: "" })),
    misused("* is no known grant", knowing({ grant: "*" })),
    misused("a set of which the issuer does not know one", {
      ...knowing({ grant: [READ, "documents:admin"] }),
    }),
    misused("the name of an object's own member", knowing({ grant: "constructor" })),
    misused("no grant, and an empty text for a token", { ...acting(null), text: () => "" }),
    misused("no grant, and a text that is not a token", {
      ...acting(null),
      text: () => "not a token",
    }),
    misused("no grant, and a forged token", { ...acting(null), alter: wrong }),
    misused("no grant, and a token of another issuer", {
      ...acting(null),
      identifier: identifier({ iss: "search-agent" }),
    }),
    misused("no grant, and an expired token", {
      ...acting(null),
      links: ['{"expires":"2026-01-01T00:00:00Z"}'],
    }),
    misused("no grant, and a revoked capability", {
      ...acting(null),
      revocations: () => ({ entries: [CAPABILITY] }),
    }),
    misused("an unknown grant, and a token cut short", {
      ...knowing({ grant: "documents:admin" }),
      text: (token) => token.slice(0, -1),
    }),
  ],
};
