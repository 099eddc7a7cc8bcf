import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Observation } from "../../src/agent/ledger.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { attenuated } from "../capability/support.js";
import { storageError } from "../issuer/support.js";
import {
  ALICE,
  BOB,
  call,
  codes,
  granted,
  grantedOne,
  handleOf,
  NOW,
  REPORTS,
  world,
} from "./support.js";

const AT = new Date(NOW).toISOString();

describe("the ledger records", () => {
  test("an issuance with its caller, purpose, capability and handles", async () => {
    const { agent, ledger } = await world();
    const one = await grantedOne(agent, { ...Object(REPORTS), purpose: "sum up" });
    expect(await ledger.list()).toEqual([
      {
        kind: "issuance",
        decision: "allowed",
        at: AT,
        ...ALICE,
        purpose: "sum up",
        capability: one.id,
        grant: "documents:read",
        handles: one.resourceHandles?.map(({ handle }) => handle),
      },
    ]);
    expect(await ledger.issued(one.id)).toMatchObject({ ...ALICE, expires: one.expires });
  });

  test("a request that yielded no capability, with the reason", async () => {
    const { agent, ledger } = await world();
    await agent.request(ALICE, { grants: ["nothing"], purpose: "p" });
    await agent.request(ALICE, { grants: ["documents:write"], purpose: "p" });
    await agent.request(BOB, { grants: ["documents:admin"] });
    const resourceQuery = { collection: "reports", filter: { quarter: "Q9" } };
    await agent.request(ALICE, { grants: ["documents:read"], resourceQuery });
    await agent.request(ALICE, []);
    const told = (await ledger.list()).map(({ decision, codes, principal }) => [
      decision,
      codes,
      principal,
    ]);
    expect(told).toEqual([
      ["refused", ["unknown_grant"], "alice"],
      ["refused", ["missing_required_grants"], "alice"],
      ["refused", ["nothing_left"], "bob"],
      ["refused", ["nothing_found"], "alice"],
      ["refused", ["invalid_request"], "alice"],
    ]);
  });

  test("a call with its skill, its handles and each hop of its token", async () => {
    const { agent, ledger } = await world();
    const one = await grantedOne(agent, REPORTS);
    const document = handleOf(one, "First quarter");
    const child = attenuated(one.token, { operations: ["retrieve"], purpose: "delegated" });
    await call(agent, "retrieve", { document }, [{ token: child }]);
    await call(agent, "list", {}, [{ token: child }], BOB);
    const [allowed, refused] = await ledger.list({ kind: "invocation" });
    expect(allowed).toMatchObject({
      at: AT,
      decision: "allowed",
      ...ALICE,
      authority: "capability",
      skill: "retrieve",
      operation: "retrieve",
      capability: one.id,
      handles: [document],
      grant: "documents:read",
      path: [{ revocationId: one.revocationId }, { hop: { purpose: "delegated" } }],
    });
    expect(refused).toMatchObject({
      decision: "refused",
      ...BOB,
      skill: "list",
      operation: "list",
      capability: one.id,
      codes: ["operation_denied"],
      path: allowed?.path,
    });
    expect(refused).not.toHaveProperty("values");
  });

  test("a revocation with its link, its caller and the reason", async () => {
    const { agent, ledger } = await world();
    const { id, token, revocationId } = await grantedOne(agent, { grants: ["clock:read"] });
    await agent.revoke(BOB, { token }, "task done");
    expect(await ledger.list({ kind: "revocation" })).toMatchObject([
      {
        decision: "allowed",
        ...BOB,
        capability: id,
        purpose: "task done",
        path: [{ revocationId }],
      },
    ]);
  });

  test("a refused admission, with the codes", async () => {
    const { agent, ledger } = await world();
    await agent.admit(ALICE, []);
    await agent.admit(ALICE, [{ token: "noise" }, { id: "cap_AAAAAAAAAAAAAAAA" }]);
    const told = (await ledger.list({ decision: "refused" })).map(({ codes }) => codes);
    expect(told).toEqual([["capability_missing"], ["token_malformed", "capability_unknown"]]);
  });

  test("the values of arguments that the operator named, and no other values", async () => {
    const { agent, ledger } = await world({ recordValues: ["page", "__proto__", "absent"] });
    const one = await grantedOne(agent, REPORTS);
    await call(agent, "compare", JSON.parse('{"page":7,"__proto__":{"x":1},"other":"o"}'), [one]);
    const [event] = await ledger.list({ kind: "invocation" });
    expect(JSON.stringify(event?.values)).toBe('{"page":7,"__proto__":{"x":1}}');
  });
});

describe("a clearance", () => {
  test("is recorded when it is used, and can be used once", async () => {
    const { agent, ledger, ran } = await world();
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    const asked = { skill: "tell", arguments: {}, capabilities: [{ token }] };
    const leave = await agent.clear(ALICE, asked);
    if (!leave.allowed) throw new Error("it was refused");
    expect(await ledger.list({ kind: "invocation" })).toEqual([]);
    await agent.run(leave, ALICE, new AbortController());
    await expect(agent.run(leave, ALICE, new AbortController())).rejects.toThrow(TypeError);
    agent.forgo(leave, ALICE, "timed_out");
    expect(await ledger.list({ kind: "invocation" })).toMatchObject([{ decision: "allowed" }]);
    expect(ran).toEqual(["tell"]);
  });

  test("is recorded as a refusal if the caller aborted the call before the skill ran", async () => {
    const seen: Observation[] = [];
    const { agent, ledger, ran } = await world({ observe: (one) => void seen.push(one) });
    const { id, token } = await grantedOne(agent, { grants: ["clock:read"] });
    const asked = { skill: "tell", arguments: {}, capabilities: [{ token }] };
    for (const name of ["TimeoutError", "AbortError"]) {
      const controller = new AbortController();
      const outcome = agent.invoke(ALICE, asked, controller.signal);
      controller.abort(new DOMException("over", name));
      await expect(outcome).rejects.toThrow("over");
    }
    const line = { decision: "refused", skill: "tell", capability: id };
    expect(await ledger.list({ kind: "invocation" })).toMatchObject([
      { ...line, codes: ["timed_out"] },
      { ...line, codes: ["cancelled"] },
    ]);
    expect(seen.slice(1)).toMatchObject([{ code: "timed_out" }, { code: "cancelled" }]);
    expect(ran).toEqual([]);
  });
});

test("on a nearly full disk nothing is issued, but calls run and revocations are recorded", async () => {
  const { agent, issuer, database, revocations } = await world({ reserve: 2 ** 52 });
  const full = await storageError(() => agent.request(ALICE, { grants: ["clock:read"] }));
  expect(full.code).toBe("store_full");
  const { capability } = issuer.issue(() => ({
    grant: "clock:read",
    principal: "alice",
    operations: ["tell"],
  }));
  const { id, token } = capability;
  const told = async (): Promise<string[]> => codes(await call(agent, "tell", {}, [{ token }]));
  expect(await told()).toEqual(["allowed"]);
  expect(await agent.revoke(ALICE, { token })).toMatchObject({ ok: true });
  expect(await told()).toEqual(["revoked"]);
  expect(revocations.snapshot().entries).toHaveLength(1);
  const committed = await new LedgerStore(database).list();
  expect(committed).toMatchObject([{ kind: "revocation", capability: id, ...ALICE }]);
  expect(committed).toHaveLength(1);
});

describe("an observer", () => {
  test("gets every decision and the first code of each refusal, without names of people", async () => {
    const seen: Observation[] = [];
    const { agent } = await world({ mode: "prefer", observe: (one) => void seen.push(one) });
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    await call(agent, "tell", {}, [{ token }]);
    await call(agent, "tell", {});
    await call(agent, "list", {}, [{ token }]);
    await agent.request(ALICE, {});
    await agent.revoke(ALICE, { token });
    const told = seen.map(({ seconds, ...rest }) => {
      expect(seconds).toBeGreaterThanOrEqual(0);
      return Object.values(rest).join(" ");
    });
    expect(told).toEqual([
      "issuance allowed",
      "invocation allowed capability",
      "invocation allowed ambient",
      "invocation refused grant_denied",
      "issuance refused invalid_request",
      "revocation allowed",
    ]);
  });
});

describe("the stored files", () => {
  test("contain no token, no signature, no key and no value of an argument that recordValues does not name", async () => {
    const { agent, ledger, keys, root } = await world({ mode: "prefer", recordValues: ["page"] });
    const grants = ["documents:read", "documents:write", "documents:admin", "clock:read"];
    const all = await granted(agent, { ...Object(REPORTS), grants });
    const secrets = keys.ring.exportJwkSet().keys.map(({ k }) => k);
    const tokens: string[] = [];
    for (const one of all) {
      const child = one.attenuable
        ? attenuated(one.token, { operations: [...one.operations] })
        : one.token;
      tokens.push(one.token, child);
      const document = one.resourceHandles?.[0]?.handle ?? "none";
      for (const token of [one.token, child, `${child.slice(0, -4)}AAAA`]) {
        for (const skill of ["retrieve", "compare", "list", "update", "tell", token]) {
          const given = {
            document,
            text: "Geheimnis-1",
            nested: [token, { "Geheimnis-2": "x" }],
            page: 3,
          };
          await call(agent, skill === token ? "tell" : skill, given, [{ token }, { id: token }]);
        }
        await agent.admit(ALICE, [{ token }, { id: token }]);
        await agent.introspect(ALICE, { token });
      }
      await agent.attenuate(ALICE, { token: child }, { purpose: "narrowed" });
      await agent.revoke(ALICE, { token: child }, "done");
    }
    await ledger.flush();
    const directory = dirname(root);
    const files = readdirSync(directory).filter((name) => name.startsWith("proviso.db"));
    const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))));
    expect(bytes.includes(all[0]?.id ?? "absent")).toBe(true);
    expect(bytes.includes("Geheimnis")).toBe(false);
    expect(tokens.length).toBeGreaterThan(8);
    for (const secret of [...secrets, ...tokens]) {
      // The signature is the end of the token, in text and in bytes.
      const raw = Buffer.from(secret, "base64url").subarray(-32);
      for (const part of [secret.slice(-40), raw, raw.toString("hex"), raw.toString("base64")]) {
        expect(bytes.includes(part)).toBe(false);
      }
    }
  });
});
