import { describe, expect, test } from "vitest";
import { objectIn, objectsIn } from "../../../src/client/received.js";
import {
  Driver,
  driver,
  granted,
  grantsIn,
  grantWords,
  linked,
  newKey,
  said,
  send,
} from "./driver.js";
import { bank, REPORTS } from "./served-bank.js";

const TRANSFER = {
  name: "transfer_funds",
  constraints: { amount: { max: 1000 }, currency: "USD" },
};

describe("request-capability", () => {
  test("default capabilities are granted at once, with a token and the limits that the agent asked for", async () => {
    const home = await bank();
    const one = await driver(home);
    await one.register({ mode: "autonomous", capabilities: ["list_payees"] });
    const limits = { account_id: { in: ["acc_1", "acc_2"] } };
    const answer = await one.request([{ name: "check_balance", constraints: limits }]);
    expect(answer.body).toMatchObject({ agent_id: one.agentId, status: "active" });
    const [grant, ...others] = grantsIn(answer);
    expect(others).toEqual([]);
    expect(grant).toMatchObject({ capability: "check_balance", status: "active" });
    expect(grant?.["constraints"]).toEqual(limits);
    expect(home.issuer.isAuthentic(String(grant?.["token"]))).toBe(true);
  });

  test("a request beyond the default capabilities waits for the user, and a repeated request gets the same approval", async () => {
    const home = await bank();
    const one = await linked(home);
    const answer = await one.request([TRANSFER], {
      reason: "pay the rent",
      binding_message: "rent, May",
    });
    expect(answer.body["status"]).toBe("pending");
    const [grant] = grantsIn(answer);
    expect(grant).toEqual({ capability: "transfer_funds", status: "pending" });
    expect(grantWords(await one.asAgent("/agent/status"))).toContain("transfer_funds pending");
    const again = await one.request([TRANSFER]);
    expect(again.body["status"]).toBe("pending");
    expect(objectIn(again.body["approval"])).toEqual(objectIn(answer.body["approval"]));
    expect(await home.parties.approvals.waitingFor("alice")).toHaveLength(1);

    await one.decide(answer);
    const after = await one.asAgent("/agent/status");
    const active = grantsIn(after).find(({ capability }) => capability === "transfer_funds");
    expect(active).toMatchObject({ status: "active", constraints: TRANSFER.constraints });
    expect(active?.["granted_by"]).toBe("alice");
    expect(said(await one.request([TRANSFER]))).toBe("409 already_granted");
    const narrower = { ...TRANSFER, constraints: { amount: { max: 10 }, currency: "USD" } };
    expect(said(await one.request([narrower]))).toBe("409 already_granted");
    const wider = await one.request([{ ...TRANSFER, constraints: { amount: { max: 5000 } } }]);
    expect(wider.body["status"]).toBe("pending");
  });

  test("a request with the ciba method has no user code, and is decided in the user's list of approvals", async () => {
    const home = await bank();
    const one = await linked(home);
    const answer = await one.request(["transfer_funds"], { preferred_method: "ciba" });
    expect(answer.body["approval"]).toEqual({ method: "ciba", expires_in: 300, interval: 5 });
    await one.decide(answer, "deny", { reason: "too much" });
    const grants = grantsIn(await one.asAgent("/agent/status"));
    const denied = grants.find(({ capability }) => capability === "transfer_funds");
    expect(denied).toEqual({ capability: "transfer_funds", status: "denied", reason: "too much" });
  });

  test("the constraints of agent, server and approver are merged, and the agent's status shows the merged constraints", async () => {
    const constraints = { transfer_funds: { amount: { min: 1 } } };
    const home = await bank({ settings: { constraints } });
    const one = await linked(home);
    const answer = await one.request([TRANSFER]);
    const to = { in: ["acc_A", "acc_B"] };
    const hops = { "0": { constraints: { amount: { max: 100 }, to } } };
    await one.decide(answer, "approve", { hops });
    const grants = grantsIn(await one.asAgent("/agent/status"));
    const active = grants.find(({ capability }) => capability === "transfer_funds");
    const expected = { amount: { max: 100, min: 1 }, currency: "USD", to };
    expect(active?.["constraints"]).toEqual(expected);
  });

  test("a request is denied if its approval expires", async () => {
    const home = await bank();
    const one = await linked(home);
    await one.request(["transfer_funds"]);
    home.clock.now += 301_000;
    const answer = await one.asAgent("/agent/status");
    expect(grantWords(answer)).toContain("transfer_funds denied");
  });

  test("a request repeated with its idempotency key gets the same answer; another request with that key is refused", async () => {
    const home = await bank();
    const one = await linked(home);
    const ask = (capabilities: readonly string[], key: string) =>
      one.asAgent("/agent/request-capability", { capabilities }, undefined, {
        "Idempotency-Key": key,
      });
    const first = await ask(["transfer_funds"], "k1");
    const again = await ask(["transfer_funds"], "k1");
    expect(again.body).toEqual(first.body);
    expect(said(await ask(["delete_payee"], "k1"))).toBe("400 invalid_request");
  });

  test("malformed requests, unknown capabilities and too many pending requests are refused", async () => {
    const home = await bank({ settings: { bounds: { pendingPerAgent: 1 } } });
    const one = await linked(home);
    expect(said(await one.request([]))).toBe("400 invalid_request");
    expect(said(await one.request("transfer_funds"))).toBe("400 invalid_request");
    expect(said(await one.request([7]))).toBe("400 invalid_request");
    expect(said(await one.request(["fly"]))).toBe("400 invalid_capabilities");
    const names = Array.from({ length: 65 }, (_, at) => `capability_${at}`);
    expect(said(await one.request(names))).toBe("400 invalid_request");
    const constant = { name: "transfer_funds", constraints: { to: { const: "acc_A" } } };
    expect(said(await one.request([constant]))).toBe("400 unknown_constraint_operator");
    expect(said(await one.request(["transfer_funds"]))).toBe("200");
    expect(said(await one.request(["delete_payee"]))).toBe("403 limit_exceeded");
    const codes = (await home.events()).flatMap((event) => event.codes ?? []);
    for (const code of ["invalid_request", "invalid_capabilities", "limit_exceeded"]) {
      expect(codes).toContain(code);
    }
  });

  test("a capability that the user's policy does not permit is denied at once, with the policy as reason", async () => {
    const home = await bank();
    const one = await linked(home, "bob");
    const answer = await one.request(["delete_payee"]);
    const [grant] = grantsIn(answer);
    expect(grant).toMatchObject({ status: "denied", reason: expect.stringMatching(/policy/) });
  });
});

describe("tokens of grants", () => {
  test("are returned only for the capabilities that a narrowed JWT names", async () => {
    const home = await bank();
    const one = await linked(home);
    const odd = { claims: { capabilities: ["list_payees"] } };
    const grants = grantsIn(await one.asAgent("/agent/status", undefined, odd));
    const having = grants.filter(({ token }) => token !== undefined);
    expect(having.map(({ capability }) => capability)).toEqual(["list_payees"]);
  });

  test("are minted anew at each call, with the same capability id", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const first = await one.token("transfer_funds");
    home.clock.now += 60_000;
    const second = await one.token("transfer_funds");
    expect(second).not.toBe(first);
    const idOf = (token: string) => {
      const read = home.issuer.authenticate(token);
      return read.ok ? read.token.identifier.id : "";
    };
    expect(idOf(second)).toBe(idOf(first));
  });
});

describe("a policy that no longer permits a grant", () => {
  const REPORT = { capabilities: ["print_report"], aud: REPORTS };

  test("removes the grant's token and its entry in introspection, even for a JWT for a location", async () => {
    const home = await bank();
    const one = await granted(home, ["print_report", "transfer_funds"]);
    const withTokens = async (): Promise<unknown[]> => {
      const grants = grantsIn(await one.asAgent("/agent/status"));
      return grants.flatMap(({ capability, token }) => (token === undefined ? [] : [capability]));
    };
    const introspected = async (claims: object): Promise<unknown[]> => {
      const token = await one.agentJwt({ claims: { ...claims } });
      const { body } = await send(`${home.url}/agent/introspect`, { json: { token } });
      expect(body["active"]).toBe(true);
      return objectsIn(body["agent_capability_grants"]).map(({ capability }) => capability);
    };
    const all = ["check_balance", "list_payees", "print_report", "transfer_funds"];
    expect((await withTokens()).sort()).toEqual(all);
    expect((await introspected({})).sort()).toEqual(all);
    expect(await introspected(REPORT)).toEqual(["print_report"]);

    const operations = ["balance"];
    home.policy.replace({ rules: [{ principal: "alice", grant: "accounts:read", operations }] });
    expect(await withTokens()).toEqual(["check_balance"]);
    expect(await introspected({})).toEqual(["check_balance"]);
    expect(await introspected(REPORT)).toEqual([]);
    // The answer to a refused execution gives the reason.
    const refused = await one.execute("transfer_funds", { amount: 1, to: "acc_A" });
    expect(said(refused)).toBe("403 unauthorized");
    expect(refused.headers.get("Proviso-Denial")).toContain("policy_denied");
  });
});

describe("reactivation", () => {
  test("gives an expired agent only the default capabilities", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const token = await one.token("transfer_funds");
    home.clock.now += 2 * 60 * 60 * 1000;
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_expired");
    const seen = await one.asHost(`/agent/status?agent_id=${one.agentId}`);
    expect(seen.body["status"]).toBe("expired");
    const answer = await one.asHost("/agent/reactivate", { agent_id: one.agentId });
    expect(answer.body).toMatchObject({ agent_id: one.agentId, status: "active" });
    expect(grantWords(answer)).toEqual(["check_balance active", "list_payees active"]);
    const status = grantWords(await one.asAgent("/agent/status"));
    expect(status).toContain("transfer_funds denied");
    const refused = await one.execute("transfer_funds", { amount: 1, to: "acc_A" }, token);
    expect(refused.status).toBe(403);
    const again = await one.asHost("/agent/reactivate", { agent_id: one.agentId });
    expect(again.body["status"]).toBe("active");
  });

  test("does not restore a default capability that the user revoked, but a new agent of the host gets that capability", async () => {
    const home = await bank();
    const one = await linked(home);
    const ended = await home.parties.activeGrants("alice");
    for (const { grant } of ended.filter(({ grant }) => grant.capability === "list_payees")) {
      await home.parties.revokeGrant(grant.id, { principal: "alice" });
    }
    for (const _ of [1, 2]) {
      home.clock.now += 2 * 60 * 60 * 1000;
      const answer = await one.asHost("/agent/reactivate", { agent_id: one.agentId });
      expect(answer.body["status"]).toBe("active");
      expect(grantWords(answer)).toEqual(["check_balance active"]);
      expect(said(await one.execute("list_payees", {}))).toBe("403 capability_not_granted");
    }
    const next = new Driver(home, one.host, await newKey());
    expect(grantWords(await next.register())).toContain("list_payees active");
  });

  test("is allowed only for a host's own agents", async () => {
    const home = await bank();
    const one = await linked(home);
    const other = await linked(home);
    const of = (body: object) => other.asHost("/agent/reactivate", body);
    expect(said(await of({ agent_id: one.agentId }))).toBe("403 unauthorized");
    expect(said(await of({ agent_id: "agent_x" }))).toBe("404 agent_not_found");
    expect(said(await of({}))).toBe("400 invalid_request");
    expect(said(await other.asHost("/agent/status"))).toBe("400 invalid_request");
    const status = `/agent/status?agent_id=${one.agentId}`;
    expect(said(await other.asHost(status))).toBe("403 unauthorized");
    expect(said(await other.asHost("/agent/status?agent_id=x"))).toBe("404 agent_not_found");
  });
});
