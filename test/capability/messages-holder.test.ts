import { describe, expect, test } from "vitest";
import { encodeIdentifier } from "../../src/capability/identifier.js";
import { attenuate, bindDischarges, inspect } from "../../src/index.js";
import { createMacaroon, createRootKey, macaroonToText } from "../../src/macaroon/index.js";
import { canonical, issuer, needing, PARTS, TOKEN, withIdentifier } from "./made.js";
import {
  append,
  attenuated,
  codes,
  fixture,
  GET,
  mint,
  mintOpen,
  misuse,
  NOW,
  utf8,
} from "./support.js";

// The complete message of each refusal and error that holders and programs get.

describe("the warnings of inspect", () => {
  const warnings = (token: string, now = NOW): string[] =>
    inspect(token, { now }).warnings.map(({ message }) => message);

  test("are none for a sound token", () => {
    expect(warnings(TOKEN)).toEqual([]);
  });

  test.each<[string, () => string]>([
    ["link 2 would be refused: the caveat is empty", () => append(TOKEN, "{}")],
    ["no hop names operations, so every operation of its grant is allowed", () => mintOpen(issuer)],
    [
      "the hops contradict each other in operations, constraints.n: nothing is allowed",
      () =>
        ['{"constraints":{"n":1},"operations":["list"]}', '{"constraints":{"n":2}}'].reduce(
          append,
          TOKEN,
        ),
    ],
    ["1 third-party caveat needs a discharge", () => needing(TOKEN, "a")],
    ["2 third-party caveats need discharges", () => needing(needing(TOKEN, "a"), "b")],
    [
      "it lives for more than a day",
      () => mint(fixture({ maxLifetime: 200_000 }).issuer, { expires: new Date(NOW + 90_000_000) }),
    ],
    [
      "it is not valid before 2030-01-01T00:01:00Z",
      () => mint(issuer, { notBefore: new Date(NOW + 60_000) }),
    ],
    [
      "no hop says when the token expires, so every check refuses it",
      () => append(withIdentifier(canonical(PARTS)), '{"operations":["get"]}'),
    ],
    [
      "every check would refuse it: more than 32 caveats in one macaroon",
      () => Array<string>(32).fill('{"purpose":"a"}').reduce(append, TOKEN),
    ],
    [
      "this is a macaroon, but not a capability of proviso: every check here refuses it",
      () => withIdentifier("a"),
    ],
  ])("are exactly: %s", (message, make) => {
    expect(warnings(make())).toEqual([message]);
  });

  test("are none for an unexpired token that lives exactly one day, and none for a token whose notBefore is the current time", () => {
    const day = mint(issuer, { expires: new Date(NOW + 86_400_000) });
    expect(warnings(day)).toEqual([]);
    expect(warnings(day, NOW + 86_400_000)).toEqual(["it expired at 2030-01-02T00:00:00Z"]);
    expect(warnings(mint(issuer, { notBefore: new Date(NOW) }))).toEqual([]);
  });
});

describe("the message for misuse", () => {
  const other = macaroonToText(createMacaroon(createRootKey(utf8("third")), { identifier: "a" }));
  const both = bindDischarges(needing(TOKEN, "a"), [other]);

  test("is about discharges if bindDischarges or attenuate gets a token that already has discharges", () => {
    expect(() => bindDischarges(both, [other])).toThrow(
      "the token is followed by discharges already",
    );
    expect(() => bindDischarges(TOKEN, [both])).toThrow("give each discharge on its own");
    expect(() => attenuate(both, { operations: ["get"] })).toThrow(
      "discharges are bound to this token as it is; attenuate it first, then bind them to the child",
    );
  });

  test("of attenuate names the hop of the token that cannot be read", () => {
    const result = attenuate(append(TOKEN, "{}"), { operations: ["get"] });
    expect(result).toEqual({
      ok: false,
      overreaches: [
        {
          rule: "caveats",
          value: 2,
          allowed: null,
          message:
            "hop 2 cannot be read, so every check would refuse this token: the caveat is empty",
        },
      ],
    });
  });

  test.each<[string, object]>([
    [
      "expires 2030-01-01T00:00:00Z is not after now, 2030-01-01T00:00:00Z",
      { expires: new Date(NOW) },
    ],
    [
      "expires 2030-01-02T00:00:01Z is later than this issuer allows; the latest is 2030-01-02T00:00:00Z",
      { expires: new Date(NOW + 86_401_000) },
    ],
    [
      "notBefore 2030-01-01T00:15:00Z is not before expires 2030-01-01T00:15:00Z",
      { notBefore: new Date(NOW + 900_000) },
    ],
    ["request.grant must be a non-empty string, not an empty string", { grant: "" }],
    ["a caveat has 8274 bytes; at most 8192 are allowed", { purpose: "x".repeat(8200) }],
  ])("of mint is: %s", (message, request) => {
    expect(misuse(() => mint(issuer, request))).toBe(message);
  });

  test("of encodeIdentifier says that the version is not 1", () => {
    expect(misuse(() => encodeIdentifier({ ...PARTS, v: 2 } as never))).toBe(
      "the identifier's version is not 1; a newer checker may know it",
    );
  });

  test("of createIssuer says that a limit can only be lowered", () => {
    expect(misuse(() => fixture({ limits: { caveats: 33 } }))).toBe(
      "limits.caveats can only be lowered: at most 32, not 33",
    );
    const low = fixture({ limits: { caveats: 1 } });
    const token = attenuated(mint(low.issuer), { operations: ["get"] });
    expect(codes(low.issuer.authorize(token, GET))).toEqual(["token_too_large"]);
  });
});
