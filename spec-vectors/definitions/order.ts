import { bytes, flip } from "../build/bytes.js";
import { type Built, tampered, third } from "../build/chain.js";
import {
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  identifier,
  KEY_B,
  NOW,
  refused,
  type Setup,
} from "./check-test.js";

const PAST = '{"expires":"2026-01-01T00:00:00Z"}';
const SEARCH = '{"operations":["search"]}';
const ASK = third("ask");

function wrong(token: Built): Built {
  return tampered(token, { signature: flip(token.signature, 5) });
}

/** Defines a test with a second fault, in a later step. Only the first fault is reported. */
function only(comment: string, setup: Setup, denial: string): CheckTest {
  return refused(comment, "OrderOfSteps", setup, denial);
}

/** Defines a test of a changed token with a second fault. Only the signature is reported. */
function forged(comment: string, setup: Setup): CheckTest {
  return refused(
    comment,
    ["OrderOfSteps", "Forged"],
    { alter: wrong, ...setup },
    "signature_mismatch",
  );
}

function edited(from: string, to: string): (token: Built) => Built {
  return (token) =>
    tampered(token, {
      identifier: bytes(Buffer.from(token.identifier).toString().replace(from, to)),
      caveats: token.caveats.map(({ cid, ...rest }) => ({
        ...rest,
        cid: bytes(Buffer.from(cid).toString().replace(from, to)),
      })),
    });
}

export const order: CheckSubject = {
  subject: "order of steps",
  comment:
    "Section 7: what is reported, and that nothing is reported of a token that is not authentic",
  tests: [
    forged("a forged token whose hop has expired", { links: [PAST] }),
    forged("a forged token that asks for what no hop allows", { links: [EXPIRES, SEARCH] }),
    forged("a forged token with a caveat that is no hop", { links: [EXPIRES, "time < 2030"] }),
    forged("a forged token with a malformed hop", { links: [EXPIRES, "{}"] }),
    forged("a forged token without expiry", { links: [] }),
    forged("a forged token that is revoked", {
      revocations: () => ({ entries: [{ kind: "capability", id: "cap_AAAAAAAAAAAAAAAA" }] }),
    }),
    forged("a forged token and a stale list", { revocations: () => ({ trustedUntil: NOW }) }),
    forged("a forged token without its discharge", { links: [EXPIRES, ASK] }),
    forged("a forged token with a discharge that nothing needs", { discharges: [{ of: ASK }] }),
    forged("an operation added to a set", {
      links: [EXPIRES, SEARCH],
      alter: edited('["search"]', '["retrieve","search"]'),
    }),
    forged("the expiry moved", { links: [PAST], alter: edited('T00:00:00Z"}', 'T23:00:00Z"}') }),
    forged("another principal written into the identifier", {
      alter: edited("user:alice", "user:admin"),
    }),
    forged("another grant written into the identifier", {
      alter: edited("documents:read", "documents:write"),
    }),
    forged("the last hop dropped", {
      links: [EXPIRES, SEARCH],
      alter: (token) => tampered(token, { caveats: token.caveats.slice(0, 1) }),
    }),
    forged("the issuer's hop dropped", {
      links: [EXPIRES, '{"expires":"2026-01-01T00:45:00Z"}'],
      alter: (token) => tampered(token, { caveats: token.caveats.slice(1) }),
    }),
    forged("hops swapped", {
      links: [EXPIRES, '{"purpose":"x"}'],
      alter: (token) => tampered(token, { caveats: token.caveats.toReversed() }),
    }),
    only(
      "another issuer, and a wrong signature",
      { identifier: identifier({ iss: "search-agent" }), alter: wrong },
      "foreign_issuer",
    ),
    only(
      "another issuer, and an expired hop",
      { identifier: identifier({ iss: "search-agent" }), links: [PAST] },
      "foreign_issuer",
    ),
    only("an unknown key, and a wrong signature", { keys: [KEY_B], alter: wrong }, "unknown_key"),
    only(
      "an unknown key that is revoked",
      { keys: [KEY_B], revocations: () => ({ entries: [{ kind: "key", id: "key_a" }] }) },
      "unknown_key",
    ),
    only(
      "a malformed identifier, and a wrong signature",
      { identifier: identifier({ v: 2 }), alter: wrong },
      "token_malformed",
    ),
    only(
      "a malformed identifier of another issuer",
      { identifier: identifier({ iss: "search-agent", x: 1 }) },
      "token_malformed",
    ),
    only(
      "too large, and of another issuer",
      { identifier: identifier({ iss: "search-agent" }), links: Array<string>(33).fill("{}") },
      "token_too_large",
    ),
    only(
      "a hop nested too deep, and a wrong signature",
      { links: [EXPIRES, "{[[[[[[["], alter: wrong },
      "token_too_large",
    ),
    only("a missing discharge, and an expired hop", { links: [PAST, ASK] }, "discharge_missing@2"),
    only(
      "a discharge of another key, and a hop that no one meets",
      { links: [EXPIRES, SEARCH, ASK], discharges: [{ of: { ...ASK, caveatKey: "guess" } }] },
      "discharge_invalid/1",
    ),
    only(
      "a discharge that nothing needs, and a revoked capability",
      {
        discharges: [{ of: ASK }],
        revocations: () => ({ entries: [{ kind: "capability", id: "cap_AAAAAAAAAAAAAAAA" }] }),
      },
      "discharge_invalid/1",
    ),
    refused(
      "an expired hop and an operation that is not allowed",
      ["OrderOfSteps", "AllReported"],
      { links: [PAST, SEARCH] },
      "expired@1",
      "operation_denied@2",
    ),
    refused(
      "a caveat that is no hop and one that refuses",
      ["OrderOfSteps", "AllReported"],
      { links: [EXPIRES, "time < 2030", SEARCH] },
      "caveat_unknown@2",
      "operation_denied@3",
    ),
    refused(
      "revoked, expired, unreadable and without expiry of its own",
      ["OrderOfSteps", "AllReported"],
      {
        links: [SEARCH, "{}"],
        revocations: () => ({
          trustedUntil: NOW,
          entries: [{ kind: "capability", id: "cap_AAAAAAAAAAAAAAAA" }],
        }),
      },
      "revoked",
      "revocation_stale",
      "operation_denied@1",
      "caveat_malformed@2",
      "expiry_missing",
    ),
  ],
};
