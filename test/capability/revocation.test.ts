import { describe, expect, test } from "vitest";
import { bindDischarges, revocationId } from "../../src/index.js";
import {
  createKeyring,
  createRevocationList,
  type RevocationEntry,
  type RevocationList,
} from "../../src/issuer/index.js";
import { answering, needing } from "./made.js";
import { append, attenuated, codes, denials, fixture, GET, mint, NOW } from "./support.js";

const AT = "2030-01-01T00:00:00Z";

/** Returns the issuer's revocation entry for a presented token. */
function entryFor(issuer: ReturnType<typeof fixture>["issuer"], token: string): RevocationEntry {
  const revocation = issuer.revocationOf(token, "test");
  if (!revocation.ok) throw new Error(revocation.denial.message);
  return revocation.entry;
}

describe("authorize refuses a revoked token, and the denial says what was revoked", () => {
  test("for a link: its token and descendants are refused, and its parent is allowed", () => {
    const { issuer, revocations } = fixture();
    const parent = mint(issuer);
    const child = attenuated(parent, { operations: ["get"] });
    const grandchild = attenuated(child, { purpose: "more" });
    const entry = entryFor(issuer, child);
    expect(entry).toMatchObject({
      kind: "link",
      until: "2030-01-01T00:15:00Z",
      at: AT,
      reason: "test",
    });
    revocations.add(entry);
    const denial = {
      code: "revoked",
      hop: 2,
      rule: "link",
      actual: entry.id,
      message: "link 2 and all that descends from it is revoked",
    };
    expect(denials(issuer.authorize(child, GET))).toEqual([denial]);
    expect(denials(issuer.authorize(grandchild, GET))).toEqual([denial]);
    expect(denials(issuer.authorize(parent, GET))).toEqual([]);
  });

  test("for the first link: the whole capability", () => {
    const { issuer, revocations } = fixture();
    const token = mint(issuer);
    const decision = issuer.authorize(token, GET);
    const [id = ""] = decision.allowed ? decision.capability.revocationIds : [];
    revocations.add({ kind: "link", id, at: AT });
    expect(denials(issuer.authorize(token, GET))).toMatchObject([
      { code: "revoked", hop: 0, rule: "link", message: "the whole capability is revoked" },
    ]);
  });

  test("even if a faulty source returns an entry about another link", () => {
    const id = "rv_AAAAAAAAAAAAAAAAAAAAAA";
    const find = (): RevocationEntry[] => [{ kind: "link", id, at: AT }];
    const { issuer } = fixture({ revocations: { find, isCurrent: () => true } });
    expect(denials(issuer.authorize(mint(issuer), GET))).toMatchObject([
      { code: "revoked", rule: "link", actual: id },
    ]);
  });

  test("for a capability", () => {
    const { issuer, revocations } = fixture();
    const minted = issuer.mint({ grant: "files", operations: ["get"] });
    revocations.add({ kind: "capability", id: minted.id, at: AT });
    expect(denials(issuer.authorize(attenuated(minted.token, { purpose: "x" }), GET))).toEqual([
      {
        code: "revoked",
        rule: "capability",
        actual: minted.id,
        message: "this token's capability is revoked",
      },
    ]);
    expect(codes(issuer.authorize(mint(issuer), GET))).toEqual([]);
  });

  test("for a key", () => {
    const keys = createKeyring();
    const { issuer: before } = fixture({ keys });
    const { issuer, revocations } = fixture({ keys: keys.rotate() });
    revocations.add({ kind: "key", id: keys.minting.kid, at: AT });
    expect(denials(issuer.authorize(mint(before), GET))).toMatchObject([
      { code: "revoked", rule: "key", actual: keys.minting.kid },
    ]);
    expect(codes(issuer.authorize(mint(issuer), GET))).toEqual([]);
  });

  test("for a principal: tokens issued before the given moment are refused, and tokens issued at that moment are allowed", () => {
    let now = NOW;
    const { issuer, revocations } = fixture({ clock: () => now });
    const early = mint(issuer, { principal: "alice" });
    now += 1000;
    const late = mint(issuer, { principal: "alice" });
    const other = mint(issuer, { principal: "bob" });
    const nobody = mint(issuer);
    revocations.add({ kind: "principal", id: "alice", before: "2030-01-01T00:00:01Z", at: AT });
    expect(denials(issuer.authorize(early, GET))).toMatchObject([
      { code: "revoked", rule: "principal", actual: "alice" },
    ]);
    for (const token of [late, other, nobody])
      expect(codes(issuer.authorize(token, GET))).toEqual([]);
  });
});

describe("a revocation list past its trust limit", () => {
  const trustedUntil = "2030-01-01T00:00:00Z";
  const check = (now: number): string[] => {
    const revocations = createRevocationList({ version: 1, trustedUntil, entries: [] });
    const { issuer } = fixture({ revocations, clock: () => now });
    return codes(issuer.authorize(mint(issuer), GET));
  };

  test("refuses every token from the moment of the limit on", () => {
    expect(check(NOW - 1)).toEqual([]);
    expect(check(NOW)).toEqual(["revocation_stale"]);
  });

  test("refuses by the issuer's clock even if the call has an earlier time", () => {
    const revocations = createRevocationList({ version: 1, trustedUntil, entries: [] });
    const { issuer } = fixture({ revocations });
    const decision = issuer.authorize(mint(issuer), { ...GET, time: new Date(NOW - 1000) });
    expect(denials(decision)).toEqual([
      {
        code: "revocation_stale",
        rule: "trustedUntil",
        message: "the revocation list is too old to be relied on; refresh it and ask again",
      },
    ]);
  });

  test("refuses by the call's time if that is later than the clock", () => {
    const until = "2030-01-01T00:05:00Z";
    const revocations = createRevocationList({ version: 1, trustedUntil: until, entries: [] });
    const { issuer } = fixture({ revocations });
    const at = (milliseconds: number): string[] =>
      codes(issuer.authorize(mint(issuer), { ...GET, time: new Date(NOW + milliseconds) }));
    expect(at(0)).toEqual([]);
    expect(at(299_999)).toEqual([]);
    expect(at(300_000)).toEqual(["revocation_stale"]);
    const standing = issuer.standing(mint(issuer), { time: new Date(NOW + 300_000) });
    expect(codes(standing)).toEqual(["revocation_stale"]);
  });

  test.each<[string, unknown]>([
    ["a string", "yes"],
    ["1", 1],
    ["an object", {}],
    ["a promise of true", Promise.resolve(true)],
    ["undefined", undefined],
  ])("is assumed if the source's isCurrent answers %s", (_, answer) => {
    const source = { find: () => [], isCurrent: () => answer };
    const { issuer } = fixture({ revocations: source as unknown as RevocationList });
    expect(codes(issuer.authorize(mint(issuer), GET))).toEqual(["revocation_stale"]);
  });

  test("still reports the revocations that it knows", () => {
    const keys = createKeyring();
    const token = mint(fixture({ keys }).issuer);
    const entries = [entryFor(fixture({ keys }).issuer, token)];
    const revocations = createRevocationList({ version: 1, trustedUntil, entries });
    const { issuer } = fixture({ keys, revocations });
    expect(codes(issuer.authorize(token, GET))).toEqual(["revoked", "revocation_stale"]);
  });
});

describe("a source whose isCurrent answers anything but true refuses every token", () => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["1", 1],
    ["a string", "yes"],
    ["an object", {}],
    ["a promise", Promise.resolve(true)],
  ])("%s", (_, answered) => {
    const isCurrent = (): boolean => answered as boolean;
    const { issuer } = fixture({ revocations: { find: () => [], isCurrent } });
    const token = mint(issuer);
    expect(codes(issuer.authorize(token, GET))).toEqual(["revocation_stale"]);
    expect(codes(issuer.standing(token))).toEqual(["revocation_stale"]);
  });
});

describe("revocationOf a token presented with a discharge", () => {
  const first = answering("q1", '{"purpose":"first"}', '{"operations":["get"]}');
  const second = answering("q1", '{"purpose":"second"}');

  test.each(["link", "identifier"])(
    "returns an entry for the token although the discharge's %s is already revoked",
    (which) => {
      const { issuer, revocations } = fixture();
      const token = needing(mint(issuer), "q1");
      const presented = bindDischarges(token, [first.discharge]);
      const id = which === "link" ? first.revocationId : answering("q1").revocationId;
      revocations.add({ kind: "link", id, at: AT });
      expect(codes(issuer.authorize(presented, GET))).toEqual(["revoked"]);
      const revocation = issuer.revocationOf(presented);
      expect(revocation).toMatchObject({ ok: true, entry: { id: revocationId(token) } });
      expect(revocation).not.toHaveProperty("needless");
    },
  );

  test('returns needless: "revoked" once the token itself is revoked, whichever discharge is presented', () => {
    const { issuer, revocations } = fixture();
    const token = needing(mint(issuer), "q1");
    const [presented, another] = [first, second].map(({ discharge }) =>
      bindDischarges(token, [discharge]),
    );
    revocations.add({ kind: "link", id: first.revocationId, at: AT });
    expect(codes(issuer.authorize(another ?? "", GET))).toEqual([]);
    revocations.add(entryFor(issuer, presented ?? ""));
    expect(codes(issuer.authorize(another ?? "", GET))).toEqual(["revoked"]);
    expect(issuer.revocationOf(another ?? "")).toMatchObject({ ok: true, needless: "revoked" });
  });
});

describe("whoever presents a token may revoke it", () => {
  const { issuer } = fixture();

  test("even if its hops allow nothing", () => {
    const broken = append(append(mint(issuer), "?"), '{"operations":["x"]}');
    expect(entryFor(issuer, broken)).toMatchObject({ kind: "link" });
  });

  test("with an entry that ends when the token expires", () => {
    const keys = createKeyring();
    const { issuer: own } = fixture({ keys });
    expect(entryFor(own, mint(own)).until).toBe("2030-01-01T00:15:00Z");
  });

  test.each<[string, string, string]>([
    ["altered", mint(fixture({ keys: createKeyring() }).issuer), "unknown_key"],
    ["another issuer's", mint(fixture({ name: "other" }).issuer), "foreign_issuer"],
    ["not a token", "?", "token_malformed"],
  ])("unless it is %s", (_, text, code) => {
    expect(issuer.revocationOf(text)).toMatchObject({ ok: false, denial: { code } });
  });
});
