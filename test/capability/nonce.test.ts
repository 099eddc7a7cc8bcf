import { describe, expect, test } from "vitest";
import type { AttenuateOptions } from "../../src/index.js";
import { attenuate, inspect, revocationId } from "../../src/index.js";
import { attenuated, codes, fixture, GET, mint, misuse } from "./support.js";

const { issuer, revocations } = fixture();
const token = mint(issuer);
const NONCE = "AAAAAAAAAAAAAAAA";

describe("attenuate adds a nonce to the hop", () => {
  test("of 16 base64url characters, different each time", () => {
    const nonces = Array.from({ length: 100 }, () => {
      const child = attenuate(token, { operations: ["get"] });
      return child.ok ? child.hop.nonce : undefined;
    });
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{16}$/);
  });

  test("so that revoking one of two equal children leaves the other valid", () => {
    const [one, two] = [
      attenuated(token, { operations: ["get"] }),
      attenuated(token, { operations: ["get"] }),
    ];
    expect(revocationId(one)).not.toBe(revocationId(two));
    const revocation = issuer.revocationOf(one);
    if (revocation.ok) revocations.add(revocation.entry);
    expect(codes(issuer.authorize(one, GET))).toEqual(["revoked"]);
    expect(codes(issuer.authorize(two, GET))).toEqual([]);
  });

  test("even to an empty hop, to make a child that can be revoked alone", () => {
    const child = attenuate(token, {});
    expect(child).toMatchObject({ ok: true, hop: { nonce: expect.stringMatching(/^[\w-]{16}$/) } });
    expect(child.ok && Object.keys(child.hop)).toEqual(["nonce"]);
  });

  test("also with the option intersect", () => {
    const child = attenuate(token, { operations: ["get", "delete"] }, { intersect: true });
    expect(child).toMatchObject({
      ok: true,
      hop: { operations: ["get"], nonce: expect.any(String) },
    });
  });

  test("unless the hop has a nonce, and never changes the caller's hop", () => {
    const hop = { operations: ["get"], nonce: NONCE };
    const [one, two] = [attenuate(token, hop), attenuate(token, hop)];
    expect(one).toEqual(two);
    expect(one.ok && one.hop.nonce).toBe(NONCE);
    const bare = { operations: ["get"] };
    attenuate(token, bare);
    expect(bare).toEqual({ operations: ["get"] });
  });

  test("but refuses an inherited, undefined or malformed nonce", () => {
    const inherited = Object.assign(Object.create({ nonce: NONCE }), { operations: ["get"] });
    expect(misuse(() => attenuate(token, inherited))).toContain("hop must be a plain object");
    expect(misuse(() => attenuate(token, { nonce: undefined } as object))).toContain("undefined");
    expect(misuse(() => attenuate(token, { nonce: "short" }))).toContain('"nonce" must be');
  });
});

describe("the option nonce: false", () => {
  test("adds no nonce: equal hops make the same token", () => {
    const child = attenuated(token, { operations: ["get"] }, { nonce: false });
    expect(child).toBe(attenuated(token, { operations: ["get"] }, { nonce: false }));
    expect(inspect(child).links[1]?.hop).toEqual({ operations: ["get"] });
  });

  test("keeps a nonce that the hop has", () => {
    const child = attenuated(token, { nonce: NONCE }, { nonce: false });
    expect(inspect(child).links[1]?.hop).toEqual({ nonce: NONCE });
  });
});

test("an unknown option of attenuate is a TypeError that suggests the nearest option", () => {
  const misspelt = { nonces: false } as AttenuateOptions;
  expect(misuse(() => attenuate(token, { operations: ["get"] }, misspelt))).toBe(
    'options.nonces: unknown property; did you mean "nonce"?',
  );
});

test.each<[object, string]>([
  [{ nonce: 0 }, "options.nonce must be a boolean"],
  [{ intersect: "yes" }, "options.intersect must be a boolean"],
  [{ now: Number.NaN }, "options.now must be milliseconds since 1970"],
])("an option of attenuate with a wrong type is a TypeError: %j", (options, message) => {
  expect(misuse(() => attenuate(token, { operations: ["get"] }, options))).toBe(message);
});
