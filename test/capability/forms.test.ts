import { describe, expect, test } from "vitest";
import { diff, inspect, type TokenDiff } from "../../src/index.js";
import { createIssuer, type RevocationSource } from "../../src/issuer/index.js";
import {
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { issuer, needing, TOKEN, withIdentifier } from "./made.js";
import { append, attenuated, codes, denials, fixture, GET, mint, NOW, utf8 } from "./support.js";

// These tests check the exact properties of every result: for an absent value, the property is absent, never
// undefined.

function keysOf(value: object | undefined): string[] {
  return Object.keys(value ?? {}).sort();
}

describe("without a principal, the property principal is absent from", () => {
  test("minted, allowed and refused capabilities", () => {
    expect(keysOf(issuer.mint({ grant: "g", operations: ["get"] }))).not.toContain("principal");
    const allowed = issuer.authorize(TOKEN, GET);
    expect(allowed.allowed).toBe(true);
    expect(keysOf(allowed.capability)).not.toContain("principal");
    const refused = issuer.authorize(TOKEN, { ...GET, operation: "list" });
    expect(keysOf(refused.capability)).toEqual(["grant", "id", "revocationIds"]);
  });

  test("the query to a revocation list", () => {
    const asked: object[] = [];
    const revocations: RevocationSource = {
      find: (query) => {
        asked.push(query);
        return [];
      },
      isCurrent: () => true,
    };
    const { keys } = fixture();
    const one = createIssuer({ name: "agent", keys, revocations, clock: () => NOW });
    one.authorize(mint(one), GET);
    one.authorize(mint(one, { principal: "user:alice" }), GET);
    expect(asked.map(keysOf)).toEqual([
      ["capability", "issued", "keys", "links"],
      ["capability", "issued", "keys", "links", "principal"],
    ]);
  });
});

test("a denial that is not about a link has no link number", () => {
  const key = createRootKey(utf8("third"));
  const root = parseMacaroon(needing(TOKEN, "a"));
  const wrong = bindDischarge(root, createMacaroon(createRootKey(utf8("x")), { identifier: "a" }));
  const [mismatch] = denials(issuer.authorize(writeMacaroons([root, wrong], "v2"), GET));
  expect(keysOf(mismatch)).toEqual(["code", "discharge", "message", "rule"]);
  expect(mismatch).toMatchObject({ rule: "discharge_mismatch", discharge: 1 });
  const [missing] = denials(issuer.authorize(macaroonToText(root), GET));
  expect(keysOf(missing)).toEqual(["code", "hop", "message", "rule"]);
  const spare = bindDischarge(root, createMacaroon(key, { identifier: "b" }));
  const many = writeMacaroons([root, ...Array<typeof spare>(9).fill(spare)], "v2");
  expect(codes(issuer.authorize(many, GET))).toEqual(["token_too_large"]);
});

describe("limits are inclusive, and the limit on nesting applies to hops only", () => {
  test.each<[string, string, () => string]>([
    ["an identifier of 2,048 bytes", "token_malformed", () => withIdentifier("x".repeat(2048))],
    ["an identifier of 2,049 bytes", "token_too_large", () => withIdentifier("x".repeat(2049))],
    ["a deep third-party caveat", "discharge_missing", () => needing(TOKEN, "{[[[[[[[[")],
    [
      "a deeply nested caveat that is not an object",
      "caveat_unknown",
      () => append(TOKEN, "[[[[[[[["),
    ],
    ["a deep hop", "token_too_large", () => append(TOKEN, "{[[[[[[[")],
  ])("%s gets the code %s", (_, code, make) => {
    expect(codes(issuer.authorize(make(), GET))).toEqual([code]);
  });
});

test("an identifier with arrays in place of strings is malformed", () => {
  const right = {
    grant: "files",
    id: "cap_AAAAAAAAAAAAAAAA",
    iss: "agent",
    issued: "2030-01-01T00:00:00Z",
    kid: inspect(TOKEN, { now: NOW }).capability?.kid,
    v: 1,
  };
  const made = (parts: object): string =>
    append(withIdentifier(JSON.stringify(parts)), '{"expires":"2030-01-01T00:15:00Z"}');
  expect(codes(issuer.authorize(made(right), GET))).toEqual([]);
  for (const name of ["grant", "id", "iss", "issued", "kid"] as const) {
    const listed = made({ ...right, [name]: [right[name]] });
    expect(codes(issuer.authorize(listed, GET)), name).toEqual(["token_malformed"]);
  }
});

describe("an inspection", () => {
  test("has no property for a part that the token lacks", () => {
    const generic = inspect(withIdentifier("a"), { now: NOW });
    expect(keysOf(generic)).not.toContain("grant");
    expect(keysOf(generic)).not.toContain("location");
    const bytes = macaroonToText(
      createMacaroon(createRootKey(utf8("k")), {
        identifier: Uint8Array.of(255),
        location: "here",
      }),
    );
    expect(inspect(bytes, { now: NOW }).location).toBe("here");
    expect(inspect(bytes, { now: NOW }).identifier).toStrictEqual({ base64url: "_w", hex: "ff" });
  });

  test("shows a third-party caveat's location, if it has one", () => {
    const asked = { key: utf8("third"), identifier: "a" };
    const parent = parseMacaroon(TOKEN);
    const there = addThirdPartyCaveat(parent, { ...asked, location: "https://who.example" });
    const links = [needing(TOKEN, "a"), macaroonToText(there)].map((one) => inspect(one).links[1]);
    expect(keysOf(links[0])).toEqual(["kind", "number", "raw"]);
    expect(links[1]?.location).toBe("https://who.example");
  });

  test("lists every problem of a link", () => {
    const { warnings } = inspect(append(TOKEN, '{"colour":1,"purpose":2}'), { now: NOW });
    expect(warnings.map(({ message }) => message)).toEqual([
      'link 2 would be refused: unknown key "colour" in a hop; there are operations, resourceHandles, ' +
        "constraints, operationConstraints, arguments, expires, notBefore, audience, invokers, maxFurtherHops, purpose, nonce; " +
        '"purpose" must be a string, not 2',
    ]);
  });
});

describe("diff", () => {
  const changes = (result: TokenDiff): unknown => (result.derived ? result.changes : result.reason);

  test("reports a third-party caveat and an unreadable caveat as changes", () => {
    const third = diff(TOKEN, needing(TOKEN, "a"));
    expect(changes(third)).toEqual([
      {
        rule: "link 2",
        after: "third-party",
        message: "link 2: a discharge from a third party is needed now",
      },
    ]);
    const unreadable = diff(
      TOKEN,
      append(attenuated(TOKEN, { purpose: "a" }, { nonce: false }), "{}"),
    );
    expect(changes(unreadable)).toMatchObject([
      { rule: "link 3", message: "link 3 cannot be read, so every check refuses the child" },
    ]);
    expect(unreadable.derived && unreadable.added).toStrictEqual([{ purpose: "a" }]);
  });

  test("does not report links that both tokens share, or purposes, as changes", () => {
    const parent = needing(attenuated(TOKEN, { constraints: { n: 1 } }), "a");
    expect(changes(diff(parent, attenuated(parent, { purpose: "b" })))).toStrictEqual([]);
    expect(changes(diff(parent, parent))).toStrictEqual([]);
  });

  test("does not take a first-party and a third-party caveat with the same content for the same link", () => {
    const hop = '{"purpose":"a"}';
    const [one, other] = [append(TOKEN, hop), needing(TOKEN, hop)];
    expect(changes(diff(one, other))).toBe("not_a_descendant");
    expect(changes(diff(other, one))).toBe("not_a_descendant");
    // Two caveats for the same third party have different keys.
    expect(changes(diff(other, needing(TOKEN, hop)))).toBe("not_a_descendant");
  });
});
