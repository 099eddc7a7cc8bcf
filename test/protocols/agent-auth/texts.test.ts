import { describe, expect, test } from "vitest";
import { driver, granted, grantsIn, linked, newKey, said, send } from "./driver.js";
import { bank } from "./served-bank.js";

describe("names and reasons that users see", () => {
  test("have their markup removed, in the body and in the JWT", async () => {
    const home = await bank();
    const one = await driver(home);
    const answer = await one.register({
      name: "<b>Clerk</b> <script>alert(1)</script>",
      host_name: "Laptop<!-- x -->",
      reason: 'pay <a href="https://evil.example">here</a>, if 3 < 5',
      binding_message: "<<b>b>rent<?php ?>",
      preferred_method: "ciba",
    });
    expect(answer.body["name"]).toBe("Clerk alert(1)");
    expect(await home.parties.hostByKey(one.host.thumbprint)).toMatchObject({ name: "Laptop" });
    const [approval] = await home.parties.approvals.list();
    expect(approval?.subject).toMatchObject({
      purpose: "pay here, if 3 < 5",
      bindingMessage: "rent",
      agent: { name: "Clerk alert(1)" },
      host: { name: "Laptop" },
    });
    const named = { claims: { host_name: "<i>Desk</i>" } };
    await one.register({ name: "Clerk" }, { odd: named });
    expect(await home.parties.hostByKey(one.host.thumbprint)).toMatchObject({ name: "Desk" });
    expect(said(await one.register({ name: "<b></b>" }))).toBe("400 invalid_request");
  });
});

describe("null", () => {
  test("is refused as the value of an optional property", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const other = await linked(home);
    const spare = await newKey();
    const about = { agent_id: other.agentId };
    const requests: readonly (readonly [path: string, json: object, by: "host" | "agent"])[] = [
      ["/agent/revoke", { agent_id: null }, "agent"],
      ["/agent/reactivate", { agent_id: null }, "host"],
      ["/agent/rotate-key", { ...about, public_key: null }, "host"],
      ["/agent/rotate-key", { ...about, public_key: spare.jwk, proof: null }, "host"],
      ["/host/rotate-key", { public_key: spare.jwk, proof: null }, "host"],
      ["/host/revoke", { host_id: null }, "host"],
      ["/agent/request-capability", { capabilities: ["fly"], reason: null }, "agent"],
      ["/agent/request-capability", { capabilities: [{ name: "a", constraints: null }] }, "agent"],
      ["/capability/execute", { capability: "list_payees", arguments: null }, "agent"],
      ["/capability/batch-execute", { requests: [{ id: null, capability: "x" }] }, "agent"],
    ];
    for (const [path, json, by] of requests) {
      const answer = await (by === "host" ? other.asHost(path, json) : one.asAgent(path, json));
      expect(said(answer), path).toMatch(/^400 invalid_(request|public_key)$/);
    }
    for (const member of [
      "capabilities",
      "mode",
      "reason",
      "host_name",
      "preferred_method",
      "login_hint",
      "binding_message",
    ]) {
      const stranger = await driver(home);
      const answer = await stranger.register({ [member]: null });
      expect(said(answer), member).toBe("400 invalid_request");
    }
    const introspected = await send(`${home.url}/agent/introspect`, { json: { token: null } });
    expect(said(introspected)).toBe("400 invalid_request");
  });

  test("does not occur in answers: absent properties are left out", async () => {
    const home = await bank();
    const one = await driver(home);
    const answer = await one.register();
    const { body } = await one.asHost(`/agent/status?agent_id=${one.agentId}`);
    expect(Object.keys(body).sort()).toEqual([
      "agent_capability_grants",
      "agent_id",
      "created_at",
      "host_id",
      "mode",
      "name",
      "status",
    ]);
    expect(JSON.stringify([answer.body, body])).not.toContain("null");
    const alone = await driver(home);
    await alone.register({ mode: "autonomous" });
    const json = { token: await alone.agentJwt() };
    const introspected = await send(`${home.url}/agent/introspect`, { json });
    expect(introspected.body).not.toHaveProperty("user_id");
  });
});

describe("the status of an agent", () => {
  test("has for each grant the properties that the specification gives for the grant's state", async () => {
    const home = await bank();
    const one = await linked(home);
    const limits = { amount: { max: 10 } };
    const asked = await one.request(
      [{ name: "transfer_funds", constraints: limits }, "delete_payee", "print_report"],
      { reason: "the rent" },
    );
    expect(grantsIn(asked)).toEqual([
      { capability: "transfer_funds", status: "pending" },
      { capability: "delete_payee", status: "pending" },
      { capability: "print_report", status: "pending" },
    ]);
    const [waiting] = await home.parties.approvals.waitingFor("alice");
    if (waiting === undefined) throw new Error("nothing waits");
    const { id, digest } = waiting;
    const by = { principal: "alice" };
    await home.parties.approvals.decide(id, by, {
      answer: "approve",
      digest,
      granted: [0, 2],
      reason: "no deletions",
    });
    await one.asHost("/agent/revoke-capability", {
      agent_id: one.agentId,
      capabilities: ["print_report", "delete_payee"],
    });
    const grants = grantsIn(await one.asAgent("/agent/status"));
    const of = (name: string) => grants.find(({ capability }) => capability === name);
    expect(of("transfer_funds")).toMatchObject({ status: "active", constraints: limits });
    expect(of("delete_payee")).toEqual({
      capability: "delete_payee",
      status: "denied",
      reason: expect.any(String),
    });
    expect(of("print_report")).toEqual({
      capability: "print_report",
      status: "denied",
      reason: "its host revoked it",
    });
  });

  test("names the user of a linked host, even while the agent is pending", async () => {
    const home = await bank();
    const one = await linked(home);
    const waiting = await driver(home);
    const same = Object.assign(Object.create(waiting), { host: one.host }) as typeof waiting;
    await same.register({ capabilities: ["transfer_funds"] });
    const { body } = await same.asHost(`/agent/status?agent_id=${same.agentId}`);
    expect(body).toMatchObject({ status: "pending", user_id: "alice" });
  });
});
