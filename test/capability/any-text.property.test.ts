import fc from "fast-check";
import { expect, test } from "vitest";
import { inspect, TokenError } from "../../src/index.js";
import { parseMacaroon, writeMacaroons } from "../../src/macaroon/index.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";
import { append, attenuated, codes, denials, fixture, GET, mint } from "./support.js";

const RUNS = sized(1200, 300, 3000);
const { issuer } = fixture();
const token = attenuated(mint(issuer), { operations: ["get"] });
const FORMS = ["v1", "v2", "v1json", "v2json"] as const;
const texts = FORMS.map((form) => writeMacaroons([parseMacaroon(token)], form));
const original = JSON.stringify(issuer.authorize(token, GET));

/** A valid token in any form, in which up to four characters are replaced. */
const mutated = fc
  .record({
    text: fc.constantFrom(...texts),
    at: fc.nat(),
    length: fc.nat(4),
    patch: fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.string({ unit: fc.constantFrom(...'AQgw_-+/=09{}[]",:'), maxLength: 3 }),
    ),
  })
  .map(({ text, at, length, patch }) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + patch + text.slice(start + length);
  });

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.base64String({ maxLength: 400 }),
  fc.json(),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
  fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.from([2, ...bytes]).toString("base64url")),
  mutated,
);

test("authorize returns a decision for any string, with a code and a message in each denial", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const decision = issuer.authorize(text, GET);
      for (const { code, message } of denials(decision)) {
        expect(code).toMatch(/^[a-z_]+$/);
        expect(message).not.toBe("");
      }
      if (!decision.allowed) expect(decision.denials.length).toBeGreaterThan(0);
    }),
    { numRuns: RUNS },
  );
});

test("authorize gives a token with replaced characters one denial, or the same decision as the original token", () => {
  fc.assert(
    fc.property(mutated, (text) => {
      const decision = issuer.authorize(text, GET);
      if (decision.allowed) expect(JSON.stringify(decision)).toBe(original);
      else {
        expect(decision.denials).toHaveLength(1);
        expect(decision).not.toHaveProperty("capability");
      }
    }),
    { numRuns: RUNS },
  );
});

test("a token with any bytes as a caveat is refused by authorize, and inspect still shows its links", () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  const object = fc.json({ maxDepth: 5 }).map((json) => new TextEncoder().encode(`{"a":${json}}`));
  fc.assert(
    fc.property(fc.oneof(bytes, object), (caveat) => {
      const child = append(token, caveat);
      const [code, ...others] = codes(issuer.authorize(child, GET));
      expect(code).toMatch(/^caveat_unknown$|^caveat_malformed$|^token_too_large$/);
      expect(others.every((other) => other === "caveat_unknown")).toBe(true);
      expect(inspect(child).links).toHaveLength(3);
    }),
    { numRuns: RUNS },
  );
});

test("inspect returns an unverified inspection or throws a TokenError, for any string", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      try {
        expect(inspect(text).verified).toBe(false);
      } catch (error) {
        expect(error).toBeInstanceOf(TokenError);
      }
    }),
    { numRuns: RUNS },
  );
});
