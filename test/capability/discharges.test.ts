import { describe, expect, test } from "vitest";
import { bindDischarges } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { revocationIdOf } from "../../src/revocation/id.js";
import { append, codes, denials, fixture, GET, mint, tokenError, utf8 } from "./support.js";

const SHARED = utf8("shared with the third party");
const { issuer, revocations } = fixture();

/** Returns a token that requires a discharge for each question. */
function asking(...questions: readonly string[]): string {
  return macaroonToText(
    questions.reduce(
      (macaroon, identifier) => addThirdPartyCaveat(macaroon, { key: SHARED, identifier }),
      parseMacaroon(mint(issuer)),
    ),
  );
}

/** Returns the third party's discharge for a question, with `hops` as its caveats. */
function answer(question: string, ...hops: readonly string[]): string {
  const bare = createMacaroon(createRootKey(SHARED), { identifier: question });
  return macaroonToText(hops.reduce(addFirstPartyCaveat, bare));
}

describe("a token that needs a discharge", () => {
  const token = asking("q1");

  test("is allowed with the discharge", () => {
    const decision = issuer.authorize(bindDischarges(token, [answer("q1")]), GET);
    expect(decision).toMatchObject({ allowed: true, capability: { hops: [{}, { number: 2 }] } });
    expect(decision.allowed && decision.capability.hops[1]).not.toHaveProperty("hop");
  });

  test("allows what the token and the discharge both allow, until the earlier of the two expires", () => {
    const hop = { constraints: { size: { max: 5 } }, expires: "2030-01-01T00:05:00Z" };
    const presented = bindDischarges(token, [answer("q1", JSON.stringify(hop))]);
    const decision = issuer.authorize(presented, { ...GET, arguments: { size: 5 } });
    expect(decision).toMatchObject({
      allowed: true,
      capability: {
        expires: hop.expires,
        authority: { operations: ["get", "put"], constraints: { size: { max: 5 } } },
      },
    });
    expect(decision.allowed && Object.isFrozen(decision.capability.authority)).toBe(true);
    expect(codes(issuer.authorize(presented, { ...GET, arguments: { size: 6 } }))).toEqual([
      "constraint_violated",
    ]);
    const later = JSON.stringify({ expires: "2030-01-01T00:59:00Z" });
    const own = issuer.authorize(bindDischarges(token, [answer("q1", later)]), GET);
    expect(own).toMatchObject({ allowed: true, capability: { expires: "2030-01-01T00:15:00Z" } });
  });

  test("cannot be extended by the issuer if a discharge is presented with it", () => {
    const authentic = issuer.authenticate(bindDischarges(token, [answer("q1")]));
    if (!authentic.ok) throw new Error(authentic.denial.message);
    const { token: known } = authentic;
    expect(tokenError(() => issuer.extend(known, { purpose: "x" }))).toBe("has_discharges");
    const bare = issuer.authenticate(mint(issuer));
    expect(bare.ok && issuer.extend(bare.token, { purpose: "x" }).ok).toBe(true);
  });

  test("is refused without the discharge", () => {
    expect(denials(issuer.authorize(token, GET))).toEqual([
      {
        code: "discharge_missing",
        rule: "discharge_missing",
        hop: 2,
        message: "no discharge was presented for caveat 2",
      },
    ]);
  });

  const unbound = writeMacaroons([parseMacaroon(token), parseMacaroon(answer("q1"))], "v2");
  const twice = bindDischarges(token, [answer("q1"), answer("q1", '{"purpose":"x"}')]);
  const bound = bindDischarge(parseMacaroon(token), parseMacaroon(answer("q1")));
  const attenuated = writeMacaroons([parseMacaroon(append(token, '{"purpose":"x"}')), bound], "v2");
  test.each<[string, string, string, number]>([
    ["is not bound to the token", unbound, "discharge_mismatch", 1],
    ["was bound before the token was narrowed", attenuated, "discharge_mismatch", 1],
    [
      "is followed by a discharge that no caveat asks for",
      bindDischarges(token, [answer("q1"), answer("q2")]),
      "discharge_unused",
      2,
    ],
    ["is presented twice", twice, "discharge_duplicate", 2],
    [
      "follows a discharge that no caveat asks for",
      bindDischarges(token, [answer("q3"), answer("q1")]),
      "discharge_unused",
      1,
    ],
  ])("is refused if the discharge %s", (_, text, rule, discharge) => {
    expect(denials(issuer.authorize(text, GET))).toEqual([
      { code: "discharge_invalid", rule, discharge, message: expect.any(String) },
    ]);
  });

  test("is refused if one discharge is presented for two caveats", () => {
    const text = bindDischarges(asking("q1", "q1"), [answer("q1")]);
    expect(denials(issuer.authorize(text, GET))).toMatchObject([
      { code: "discharge_invalid", rule: "discharge_reused", hop: 3 },
    ]);
  });
});

describe("the hops of a discharge", () => {
  const token = asking("q1", "q2");
  const check = (...hops: readonly string[]): unknown =>
    denials(issuer.authorize(bindDischarges(token, [answer("q1"), answer("q2", ...hops)]), GET));

  test("allow a call within their rules", () => {
    expect(check('{"operations":["get"]}', '{"expires":"2030-01-01T00:01:00Z"}')).toEqual([]);
  });

  test.each<[string, string, object]>([
    [
      "a hop's operations",
      '{"operations":["read"]}',
      { code: "operation_denied", rule: "operations" },
    ],
    ["a hop's expiry", '{"expires":"2029-01-01T00:00:00Z"}', { code: "expired", rule: "expires" }],
    ["a caveat that is not a hop", "account = 7", { code: "caveat_unknown" }],
  ])("refuse a call because of %s", (_, hop, denial) => {
    expect(check('{"purpose":"x"}', hop)).toMatchObject([{ ...denial, hop: 2, discharge: 2 }]);
  });

  test("are the only hops that maxFurtherHops of the discharge counts", () => {
    expect(check('{"maxFurtherHops":0}')).toEqual([]);
    expect(check('{"maxFurtherHops":0}', '{"purpose":"x"}')).toMatchObject([
      { code: "too_many_hops", hop: 1, discharge: 2 },
    ]);
  });

  test("are part of the effective authority", () => {
    const answers = [answer("q1", '{"operations":["get"]}'), answer("q2", '{"invokers":["a"]}')];
    const decision = issuer.authorize(bindDischarges(token, answers), { ...GET, invoker: "a" });
    expect(decision).toMatchObject({
      allowed: true,
      capability: { authority: { operations: ["get"], invokers: ["a"] } },
    });
  });

  test("do not replace the token's own expiry", () => {
    const { keys, issuer: own } = fixture();
    const { identifier } = parseMacaroon(mint(own));
    const root = addThirdPartyCaveat(createMacaroon(keys.minting.root, { identifier }), {
      key: SHARED,
      identifier: "q1",
    });
    const discharge = answer("q1", '{"expires":"2030-01-01T00:01:00Z"}');
    const text = bindDischarges(macaroonToText(root), [discharge]);
    expect(codes(own.authorize(text, GET))).toEqual(["expiry_missing"]);
  });
});

test("a token is refused if a link of the discharge presented with it is revoked", () => {
  const text = bindDischarges(asking("q1"), [answer("q1", '{"purpose":"x"}')]);
  const link = parseMacaroon(answer("q1", '{"purpose":"x"}'));
  const id = revocationIdOf(link.signature);
  revocations.add({ kind: "link", id, at: "2030-01-01T00:00:00Z" });
  expect(denials(issuer.authorize(text, GET))).toEqual([
    {
      code: "revoked",
      hop: 1,
      discharge: 1,
      rule: "link",
      actual: id,
      message: "in discharge 1, link 1 and all that descends from it is revoked",
    },
  ]);
});

describe("bindDischarges refuses to bind", () => {
  const token = asking("q1");
  const many = Array.from({ length: 9 }, (_, i) => answer(`q${i}`));
  test.each<[string, string, readonly string[], string]>([
    [
      "to a token that already has discharges",
      bindDischarges(token, [answer("q1")]),
      [answer("q1")],
      "has_discharges",
    ],
    [
      "discharges that have discharges of their own",
      token,
      [bindDischarges(token, [answer("q1")])],
      "has_discharges",
    ],
    ["discharges that cannot be read", token, ["?"], "base64_character"],
    ["to a token that cannot be read", "", [answer("q1")], "empty"],
    ["more than eight discharges", token, many, "too_many_discharges"],
  ])("%s", (_, text, discharges, code) => {
    expect(tokenError(() => bindDischarges(text, discharges))).toBe(code);
  });
});
