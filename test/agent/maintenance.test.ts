import { describe, expect, test } from "vitest";
import { attenuate } from "../../src/index.js";
import { append, attenuated } from "../capability/support.js";
import { ALICE, BOB, call, codes, grantedOne, handleOf, NOW, REPORTS, world } from "./support.js";

describe("agent.attenuate", () => {
  test("makes the same token as attenuate() for the same nonce, and adds a fresh nonce if the hop has none", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, REPORTS);
    const hop = { operations: ["retrieve"], nonce: "AAAAAAAAAAAAAAAA" };
    const offline = attenuate(one.token, hop);
    const online = await agent.attenuate(BOB, { token: one.token }, hop);
    expect(online).toMatchObject({ ...offline, id: one.id });
    const nonces: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const twin = await agent.attenuate(ALICE, { id: one.id }, { operations: ["retrieve"] });
      nonces.push(twin.ok ? twin.hop.nonce : undefined);
    }
    expect(new Set(nonces).size).toBe(2);
  });

  test("refuses and lists the values of a hop that the token does not allow, and throws for an unknown hop key", async () => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, REPORTS);
    const wider = await agent.attenuate(ALICE, { token }, { operations: ["retrieve", "update"] });
    expect(wider).toMatchObject({
      ok: false,
      overreaches: [{ rule: "operations", value: "update" }],
    });
    const noHop = JSON.parse('{"operation":["retrieve"]}');
    await expect(agent.attenuate(ALICE, { token }, noHop)).rejects.toThrow(
      'did you mean "operations"?',
    );
  });

  test.each<[string, (token: string) => string, string]>([
    ["expired", (token) => append(token, '{"expires":"2029-01-01T00:00:00Z"}'), "expired"],
    ["another invoker's", (token) => append(token, '{"invokers":["other"]}'), "invoker_denied"],
    ["not a token", () => "noise", "token_malformed"],
  ])("refuses a token that is %s", async (_, change, code) => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, REPORTS);
    const outcome = await agent.attenuate(
      ALICE,
      { token: change(token) },
      { operations: ["retrieve"] },
    );
    expect(outcome).toMatchObject({ ok: false, denials: [{ code }] });
  });

  test("refuses a hop past the maximum number of links", async () => {
    const { agent } = await world();
    let { token } = await grantedOne(agent, { grants: ["clock:read"] });
    for (let links = 1; links < 32; links++) token = attenuated(token, { purpose: "p" });
    expect(codes(await call(agent, "tell", {}, [{ token }]))).toEqual(["allowed"]);
    const outcome = await agent.attenuate(ALICE, { token }, { purpose: "p" });
    expect(outcome).toMatchObject({ ok: false, denials: [{ code: "token_too_large" }] });
  });
});

describe("agent.introspect", () => {
  test("returns the authority that every hop of the token allows", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, REPORTS);
    const handle = handleOf(one, "First quarter");
    const child = attenuated(one.token, { resourceHandles: [handle], maxFurtherHops: 0 });
    expect(await agent.introspect(BOB, { token: child })).toMatchObject({
      active: true,
      id: one.id,
      grant: "documents:read",
      principal: "alice",
      hops: 2,
      expires: one.expires,
      attenuable: false,
      issued: "2030-01-01T00:00:00Z",
      authority: { operations: ["list", "retrieve"], resourceHandles: [handle] },
    });
    expect(await agent.introspect(ALICE, { id: one.id })).toMatchObject({
      hops: 1,
      attenuable: true,
      revocationId: one.revocationId,
    });
  });

  test("marks a legacy grant, and lists why an inactive token is refused", async () => {
    const { agent, clock } = await world();
    const { token } = await grantedOne(agent, { grants: ["documents:admin"] });
    expect(await agent.introspect(ALICE, { token })).toMatchObject({
      active: true,
      legacy: true,
      attenuable: false,
    });
    clock.now += 3_600_000;
    expect(await agent.introspect(ALICE, { token })).toMatchObject({
      active: false,
      denials: [{ code: "expired" }],
    });
    expect(await agent.introspect(ALICE, { token: "" })).toMatchObject({
      active: false,
      denials: [{ code: "token_malformed" }],
    });
    expect(await agent.introspect(ALICE, {})).toMatchObject({
      active: false,
      denials: [{ code: "capability_unknown" }],
    });
  });
});

describe("agent.revoke", () => {
  test("ends a child token and its descendants, and leaves parent and siblings valid", async () => {
    const { agent } = await world();
    const { token: parent } = await grantedOne(agent, { grants: ["clock:read"] });
    const [child, sibling] = ["a", "b"].map((purpose) => attenuated(parent, { purpose }));
    const grandchild = attenuated(child ?? "", { purpose: "c" });
    expect(await agent.revoke(BOB, { token: child ?? "" }, "lost")).toMatchObject({ ok: true });
    const alive = async (token = ""): Promise<string[]> =>
      codes(await call(agent, "tell", {}, [{ token }]));
    expect(await alive(child)).toEqual(["revoked"]);
    expect(await alive(grandchild)).toEqual(["revoked"]);
    expect(await alive(sibling)).toEqual(["allowed"]);
    expect(await alive(parent)).toEqual(["allowed"]);
    expect(await agent.revoke(ALICE, { token: parent })).toMatchObject({ ok: true });
    expect(await alive(sibling)).toEqual(["revoked"]);
    expect(await agent.admit(ALICE, [{ token: sibling ?? "" }])).toMatchObject({ allowed: false });
  });

  test('answers "needless" for a revoked or expired token, and adds no entry', async () => {
    const { agent, revocations, clock, ledger } = await world();
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    const other = await grantedOne(agent, { grants: ["clock:read"] });
    await agent.revoke(ALICE, { token });
    const before = revocations.snapshot().entries.length;
    for (const dead of [token, attenuated(token, { purpose: "p" })]) {
      expect(await agent.revoke(ALICE, { token: dead })).toMatchObject({
        ok: true,
        needless: "revoked",
      });
    }
    clock.now = NOW + 3_600_000;
    expect(await agent.revoke(ALICE, { token: other.token })).toMatchObject({
      ok: true,
      needless: "expired",
    });
    expect(revocations.snapshot().entries.length).toBe(before);
    expect(await ledger.list({ kind: "revocation" })).toHaveLength(1);
  });

  test("refuses a token that this issuer did not make", async () => {
    const { agent, revocations } = await world();
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    for (const [bad, code] of [
      ["noise", "token_malformed"],
      [`${token.slice(0, -4)}AAAA`, "signature_mismatch"],
    ]) {
      expect(await agent.revoke(ALICE, { token: bad ?? "" })).toMatchObject({
        ok: false,
        denials: [{ code }],
      });
    }
    expect(revocations.snapshot().entries).toEqual([]);
  });

  test("accepts a token without checking the token's invokers and audience", async () => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    const bound = append(token, '{"audience":["other"],"invokers":["other"]}');
    expect(await agent.revoke(BOB, { token: bound })).toMatchObject({ ok: true });
  });
});
