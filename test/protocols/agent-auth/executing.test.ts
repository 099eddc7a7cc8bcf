import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/capability/attenuate.js";
import { objectsIn } from "../../../src/client/received.js";
import { granted, linked, said } from "./driver.js";
import { bank, REPORTS } from "./served-bank.js";

const CONSTRAINTS = { amount: { max: 1000, min: 1 }, currency: "USD", to: { not_in: ["acc_X"] } };
const LIMITED = [{ name: "transfer_funds", constraints: CONSTRAINTS }];
const FINE = { amount: 12, to: "acc_A", currency: "USD" };

function narrowed(token: string, hop: Parameters<typeof attenuate>[1]): string {
  const outcome = attenuate(token, hop);
  if (!outcome.ok) throw new Error("it is not narrower");
  return outcome.token;
}

describe("execute", () => {
  test("runs a capability with the stored grant alone, and with the grant's token", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const answer = await one.execute("transfer_funds", FINE);
    expect(answer.body).toEqual({ data: { id: "transfer_1" } });
    const token = await one.token("transfer_funds");
    expect(said(await one.execute("transfer_funds", FINE, token))).toBe("200");
    expect(home.ran).toEqual(["transfer_funds 12 acc_A", "transfer_funds 12 acc_A"]);
    const invoked = (await home.events()).filter(({ kind }) => kind === "invocation");
    expect(invoked.map(({ decision, invoker }) => [decision, invoker])).toEqual([
      ["allowed", one.agentId],
      ["allowed", one.agentId],
    ]);
    const status = await one.asAgent("/agent/status");
    expect(status.body["last_used_at"]).toMatch(/^2026-05-04T12:/);
  });

  test("lists every constraint that the arguments violate, with and without a token", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const token = await one.token("transfer_funds");
    const beyond = { amount: 5000, to: "acc_X" };
    for (const presented of [undefined, token]) {
      const answer = await one.execute("transfer_funds", beyond, presented);
      expect(said(answer)).toBe("403 constraint_violated");
      expect(answer.body["violations"]).toEqual([
        { field: "amount", constraint: { max: 1000 }, actual: 5000 },
        { field: "currency", constraint: "USD" },
        { field: "to", constraint: { not_in: ["acc_X"] }, actual: "acc_X" },
      ]);
      expect(answer.headers.get("proviso-denial")).toBe("constraint_violated");
    }
    expect(home.ran).toEqual([]);
  });

  test("applies the limits of a token that was narrowed offline", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const token = narrowed(await one.token("transfer_funds"), {
      constraints: { amount: { max: 100 } },
    });
    expect(said(await one.execute("transfer_funds", FINE, token))).toBe("200");
    const over = await one.execute("transfer_funds", { ...FINE, amount: 101 }, token);
    expect(over.body["violations"]).toEqual([
      { field: "amount", constraint: { max: 100 }, actual: 101 },
    ]);
    expect(over.body["denials"]).toMatchObject([
      { remedy: { kind: "set_argument", pointer: "/amount", value: 100 } },
    ]);
    expect(said(await one.execute("transfer_funds", { ...FINE, amount: 101 }))).toBe("200");
    const single = narrowed(token, {
      operationConstraints: { transfer: { to: { prefix: "acc_9" }, "/note/text": "rent" } },
      arguments: { transfer: ["amount", "currency", "note", "to"] },
    });
    const more = { ...FINE, to: "acc_1", memo: "x" };
    const beyond = await one.execute("transfer_funds", more, single);
    expect(said(beyond)).toBe("403 constraint_violated");
    expect(beyond.body["violations"]).toEqual([
      { field: "/note/text", constraint: "rent" },
      { field: "to", constraint: { prefix: "acc_9" }, actual: "acc_1" },
      {
        field: "*",
        constraint: { arguments: ["amount", "currency", "note", "to"] },
        actual: "memo",
      },
    ]);
    const other = narrowed(token, { invokers: ["agent_other"] });
    const bound = await one.execute("transfer_funds", FINE, other);
    expect(said(bound)).toBe("403 capability_not_granted");
    expect(objectsIn(bound.body["denials"])[0]).toMatchObject({ code: "invoker_denied" });
  });

  test("refuses a token of another capability, a damaged token, and a request with two tokens", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const balance = await one.token("check_balance");
    const refused = await one.execute("transfer_funds", FINE, balance);
    expect(said(refused)).toBe("403 capability_not_granted");
    const damaged = `${balance.slice(0, -4)}AAAA`;
    const given = { account_id: "acc_1" };
    expect(said(await one.execute("check_balance", given, damaged))).toBe(
      "403 capability_not_granted",
    );
    expect(said(await one.execute("check_balance", given, `${balance}, ${balance}`))).toBe(
      "400 invalid_request",
    );
    const elsewhere = { "Proviso-Capability": balance };
    const status = await one.asAgent("/agent/status", undefined, undefined, elsewhere);
    expect(said(status)).toBe("400 invalid_request");
  });

  test("refuses a capability that is not granted, not in the JWT, or unknown", async () => {
    const home = await bank();
    const one = await linked(home);
    expect(said(await one.execute("transfer_funds", FINE))).toBe("403 capability_not_granted");
    const odd = { claims: { capabilities: ["list_payees"] } };
    const outside = await one.execute("check_balance", { account_id: "a" }, undefined, odd);
    expect(said(outside)).toBe("403 capability_not_granted");
    const unknown = await one.execute("check_balanse", {});
    expect(said(unknown)).toBe("404 capability_not_found");
    expect(unknown.body["message"]).toMatch(/did you mean "check_balance"/);
    const codes = (await home.events()).flatMap((event) => event.codes ?? []);
    expect(codes.filter((code) => code.startsWith("capability_")).length).toBeGreaterThan(1);
  });

  test("refuses a grant whose capability the server no longer offers", async () => {
    const home = await bank();
    const one = await granted(home, ["delete_payee"]);
    expect(said(await one.execute("delete_payee", {}))).toBe("200");
    const after = await home.again({ without: ["delete_payee"] });
    const same = Object.assign(Object.create(one), { bank: after }) as typeof one;
    expect(said(await same.execute("delete_payee", {}))).toBe("403 capability_not_granted");
  });

  test("refuses the tokens of a revoked grant", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const token = narrowed(await one.token("transfer_funds"), { purpose: "handed on" });
    const body = { agent_id: one.agentId, capabilities: ["transfer_funds"] };
    const revoked = await one.asAgent("/agent/revoke-capability", body);
    expect(revoked.body).toMatchObject({ agent_id: one.agentId, revoked: ["transfer_funds"] });
    expect(said(await one.execute("transfer_funds", FINE, token))).toBe(
      "403 capability_not_granted",
    );
    expect(said(await one.execute("transfer_funds", FINE))).toBe("403 capability_not_granted");
    expect(said(await one.execute("check_balance", { account_id: "a" }))).toBe("200");
  });

  test("checks the user's policy at each call", async () => {
    const home = await bank();
    const one = await granted(home, ["delete_payee"]);
    home.policy.replace({ rules: [] });
    expect(said(await one.execute("delete_payee", {}))).toBe("403 unauthorized");
  });

  test("checks arguments and results by their schemas, and hides the text of a skill's failure", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds", "always_fails", "fibs"]);
    const wrong = await one.execute("transfer_funds", { amount: "12", to: 7 });
    expect(said(wrong)).toBe("400 invalid_request");
    expect(objectsIn(wrong.body["denials"]).map(({ rule }) => rule)).toEqual([
      "arguments/amount",
      "arguments/to",
    ]);
    const closed = await one.execute("transfer_funds", { amount: 1, to: "acc_closed" });
    expect(closed.body).toMatchObject({
      error: "invalid_request",
      message: "the account is closed",
    });
    for (const capability of ["always_fails", "fibs"]) {
      const answer = await one.execute(capability, {});
      expect(said(answer)).toBe("500 internal_error");
      expect(JSON.stringify(answer.body)).not.toMatch(/secret|lie/);
    }
    expect(home.logged()).toMatch(/the output fails its schema: data must have required property/);
    for (const body of [{}, { capability: 7 }, { capability: "x", arguments: [] }]) {
      const answer = await one.asAgent("/capability/execute", body);
      expect(said(answer), JSON.stringify(body)).toBe("400 invalid_request");
    }
  });

  test("refuses a capability that must be executed at a location", async () => {
    const home = await bank();
    const one = await granted(home, ["print_report"]);
    const answer = await one.execute("print_report", {});
    expect(said(answer)).toBe("400 invalid_request");
    expect(answer.body["location"]).toBe(REPORTS);
    const token = await one.token("print_report");
    expect(said(await one.execute("list_payees", {}, token))).toBe("403 capability_not_granted");
  });

  test("ends a call at its time limit, and limits an agent's concurrent calls", async () => {
    const home = await bank({ timeout: 1000, mostRunning: 1 });
    const one = await granted(home, ["waits"]);
    const both = async (): Promise<readonly string[]> => {
      const answers = await Promise.all([one.execute("waits", {}), one.execute("waits", {})]);
      return answers.map(said).sort();
    };
    // Repeated, since the first call can end before the second begins if this process is paused.
    await expect.poll(both).toEqual(["429 rate_limited", "503 unavailable"]);
    expect(said(await one.execute("list_payees", {}))).toBe("200");
  });
});

describe("batch-execute", () => {
  test("answers each request separately and in order", async () => {
    const home = await bank();
    const one = await granted(home, LIMITED);
    const requests = [
      { id: "a", capability: "check_balance", arguments: { account_id: "acc_1" } },
      { capability: "transfer_funds", arguments: { ...FINE, amount: 5000 } },
      { capability: "delete_payee" },
      { capability: "fly" },
      { id: "e", capability: "list_payees" },
    ];
    const { body } = await one.asAgent("/capability/batch-execute", { requests });
    const responses: readonly JsonObject[] = objectsIn(body["responses"]);
    expect(responses.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "a completed",
      "1 failed",
      "2 failed",
      "3 failed",
      "e completed",
    ]);
    expect(responses[0]?.["data"]).toEqual({ account_id: "acc_1", balance: 12.5 });
    expect(responses[1]?.["error"]).toMatchObject({
      code: "constraint_violated",
      violations: [{ field: "amount", constraint: { max: 1000 }, actual: 5000 }],
    });
    expect(responses[2]?.["error"]).toMatchObject({ code: "capability_not_granted" });
    expect(responses[3]?.["error"]).toMatchObject({ code: "capability_not_found" });
  });

  test("refuses an empty list, more than 50 requests, malformed requests, and a presented token", async () => {
    const home = await bank();
    const one = await linked(home);
    const many = Array.from({ length: 51 }, () => ({ capability: "list_payees" }));
    for (const requests of [[], many, "all", [7], [{ id: 7, capability: "list_payees" }], [{}]]) {
      const answer = await one.asAgent("/capability/batch-execute", { requests });
      expect(said(answer)).toBe("400 invalid_request");
    }
    const token = await one.token("list_payees");
    const requests = [{ capability: "list_payees" }];
    const headers = { "Proviso-Capability": token };
    const answer = await one.asAgent("/capability/batch-execute", { requests }, undefined, headers);
    expect(said(answer)).toBe("400 invalid_request");
  });
});
