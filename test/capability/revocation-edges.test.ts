import { describe, expect, test } from "vitest";
import type { RevocationSource } from "../../src/issuer/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { codes, denials, fixture, GET, mint, misuse, NOW, utf8 } from "./support.js";

describe("authorize of a token with two discharges", () => {
  const { issuer, revocations } = fixture();
  const third = utf8("third");
  // Each of the two discharges of the token has its own tags.
  const needing = ["a", "b"].reduce(
    (macaroon, identifier) => addThirdPartyCaveat(macaroon, { key: third, identifier }),
    parseMacaroon(mint(issuer)),
  );
  const discharge = (identifier: string): ReturnType<typeof bindDischarge> =>
    bindDischarge(
      needing,
      addFirstPartyCaveat(createMacaroon(createRootKey(third), { identifier }), '{"purpose":"x"}'),
    );
  const text = writeMacaroons([needing, discharge("a"), discharge("b")], "v2");

  test("gives one denial if a link of the token or of a discharge is revoked", () => {
    const decision = issuer.authorize(text, GET);
    const ids = decision.allowed ? decision.capability.revocationIds : [];
    expect(ids.length).toBeGreaterThan(0);
    for (const id of new Set(ids)) {
      const source: RevocationSource = {
        find: ({ links }) =>
          links
            .filter((one) => one === id)
            .map(() => ({ kind: "link", id, at: "2030-01-01T00:00:00Z" })),
        isCurrent: () => true,
      };
      const keys = fixture().keys;
      const asked = createIssuer({ name: "agent", keys, revocations: source, clock: () => NOW });
      expect(codes(asked.authorize(text, GET))).toEqual(["revoked"]);
    }
    expect(revocations.size).toBe(0);
  });

  test("asks the revocation source about each link once", () => {
    let asked: readonly string[] = [];
    const source: RevocationSource = {
      find: ({ links }) => {
        asked = links;
        return [];
      },
      isCurrent: () => true,
    };
    const { keys } = fixture();
    const by = createIssuer({ name: "agent", keys, revocations: source, clock: () => NOW });
    expect(denials(by.authorize(text, GET))).toEqual([]);
    expect(new Set(asked).size).toBe(asked.length);
  });
});

describe("an issuer whose clock returns anything but a finite number throws a TypeError", () => {
  test.each<[string, unknown]>([
    ["a string", "1893456000000"],
    ["a Date", new Date(NOW)],
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["minus infinity", Number.NEGATIVE_INFINITY],
    ["undefined", undefined],
    ["null", null],
    ["a bigint", 1_893_456_000_000n],
    ["a promise", Promise.resolve(NOW)],
  ])("%s", (_, now) => {
    const keys = createKeyring();
    const token = mint(fixture({ keys }).issuer);
    const clock = (() => now) as () => number;
    const issuer = createIssuer({
      name: "agent",
      keys,
      revocations: createRevocationList(),
      clock,
    });
    const message = "clock must give milliseconds since 1970, as a finite number";
    for (const run of [
      () => issuer.authorize(token, GET),
      () => issuer.authorize(token, { ...GET, time: new Date(NOW) }),
      () => issuer.standing(token),
      () => issuer.revocationOf(token),
      () => mint(issuer),
    ]) {
      expect(misuse(run)).toBe(message);
    }
  });
});

describe("the moment at which a revocation list must be current", () => {
  const asked: number[] = [];
  const revocations: RevocationSource = {
    find: () => [],
    isCurrent: (now) => {
      asked.push(now);
      return true;
    },
  };
  const { issuer } = fixture({ revocations, clock: () => NOW + 250 });
  const token = mint(issuer);
  const momentFor = (time?: number): number => {
    asked.length = 0;
    issuer.authorize(token, time === undefined ? GET : { ...GET, time: new Date(time) });
    return asked[0] ?? Number.NaN;
  };

  test("is the clock's time, in milliseconds, if the call has no time or an earlier time", () => {
    expect([momentFor(), momentFor(NOW), momentFor(NOW - 60_000)]).toEqual(
      Array(3).fill(NOW + 250),
    );
  });

  test("is the call's time if that is later than the clock", () => {
    expect(momentFor(NOW + 60_000)).toBe(NOW + 60_000);
  });

  test("is never before the call's time, fractions of a second included", () => {
    expect(momentFor(NOW + 60_999)).toBeGreaterThanOrEqual(NOW + 60_999);
  });
});
