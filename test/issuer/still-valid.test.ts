import fc from "fast-check";
import { expect, test } from "vitest";
import { attenuate } from "../../src/capability/attenuate.js";
import { formatTime } from "../../src/caveats/time.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";
import type { RevocationSource } from "../../src/revocation/source.js";
import { sized } from "../support/size.js";

// Compares the short check of a token, made again right before a call runs, with the full check.

const BEGUN = Date.parse("2026-03-01T12:00:00Z");
const SECOND = 1000;
const CALL = { grant: "documents:read", operation: "retrieve", invoker: "assistant" };
const BY = { invoker: "assistant" };

/** A token of two hops that is valid from 10 to 60 seconds after the start, checked after 30 seconds. */
function world(trusted: number) {
  let now = BEGUN + 30 * SECOND;
  let keys = createKeyring();
  const list = createRevocationList();
  const revocations: RevocationSource = {
    find: (query) => list.find(query),
    isCurrent: (at) => at < BEGUN + trusted * SECOND,
  };
  const issuer = createIssuer({
    name: "documents-agent",
    keys: () => keys,
    revocations,
    clock: () => now,
  });
  const expires = formatTime(BEGUN + 600 * SECOND);
  const { token } = issuer.mint({ grant: CALL.grant, operations: [CALL.operation], expires });
  const child = attenuate(token, {
    notBefore: formatTime(BEGUN + 10 * SECOND),
    expires: formatTime(BEGUN + 60 * SECOND),
    invokers: ["assistant"],
  });
  const authentication = issuer.authenticate(child.ok ? child.token : "");
  if (!authentication.ok) throw new TypeError("the token must be authentic");
  const authentic = authentication.token;
  const steps: Readonly<Record<string, () => void>> = {
    revoke() {
      const revocation = issuer.revocationOf(authentic);
      if (revocation.ok) list.add(revocation.entry);
    },
    revokeParent() {
      const revocation = issuer.revocationOf(token);
      if (revocation.ok) list.add(revocation.entry);
    },
    loseKeys() {
      keys = createKeyring();
    },
  };
  const setClock = (at: number): void => {
    now = BEGUN + at;
  };
  return { issuer, authentic, steps, setClock };
}

test("isStillValid() is true exactly if standing() allows the token, whatever changes in time, revocations and keys", () => {
  const moment = fc.oneof(
    fc.constantFrom(9_999, 10_000, 59_999, 60_000),
    fc.integer({ min: 0, max: 120_000 }),
  );
  const step = fc.oneof(moment, moment, fc.constantFrom("revoke", "revokeParent", "loseKeys"));
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(fc.constantFrom(40, 600), fc.array(step, { maxLength: 6 }), (trusted, walk) => {
      const { issuer, authentic, steps, setClock } = world(trusted);
      expect(issuer.authorize(authentic, CALL).allowed).toBe(true);
      for (const one of walk) {
        if (typeof one === "number") setClock(one);
        else steps[one]?.();
        const stands = issuer.standing(authentic, BY).allowed;
        expect(issuer.isStillValid(authentic)).toBe(stands);
        seen.add(stands);
      }
    }),
    { numRuns: sized(300, 60) },
  );
  expect(seen.size).toBe(2);
});
