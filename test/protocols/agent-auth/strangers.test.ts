import { expect, test } from "vitest";
import { objectIn } from "../../../src/client/received.js";
import { FULL } from "../../support/size.js";
import { type Answer, Driver, driver, granted, linked, newKey, said, send } from "./driver.js";
import { bank } from "./served-bank.js";

// Tests hosts without a user ("strangers") over HTTP.

const approvalIn = ({ body }: Answer) => objectIn(body["approval"]);

test("hosts without a user get a user code if the named user's list of approvals is full, and the user's agents can still use the list", async () => {
  const home = await bank({ settings: { bounds: { pendingPerUser: 2 } } });
  const hinted = { login_hint: "alice", preferred_method: "ciba" };
  const methods: unknown[] = [];
  let last: Answer | undefined;
  for (let at = 0; at < 4; at++) {
    last = await (await driver(home)).register(hinted);
    expect(said(last)).toBe("200");
    methods.push(approvalIn(last)["method"]);
  }
  expect(methods).toEqual(["ciba", "ciba", "device_authorization", "device_authorization"]);
  expect(last === undefined ? {} : approvalIn(last)).toMatchObject({
    user_code: expect.any(String),
    verification_uri: expect.any(String),
  });

  const own = await linked(home);
  const asked = await own.request(["transfer_funds"], { preferred_method: "ciba" });
  expect(said(asked)).toBe("200");
  expect(approvalIn(asked)).toMatchObject({ method: "ciba" });
  const waiting = await home.parties.approvals.waitingFor("alice");
  expect(waiting.map(({ subject }) => subject.principal)).toEqual(["alice", undefined, undefined]);
});

test("the answer to a registration with login_hint does not reveal whether the named user exists", async () => {
  const home = await bank();
  const shapes: unknown[] = [];
  for (const hint of ["alice", "nobody at all"]) {
    const one = await driver(home);
    const asked = { login_hint: hint, preferred_method: "ciba" };
    const { status, body } = await one.register(asked);
    shapes.push([status, approvalIn({ body } as Answer), Object.keys(body).sort()]);
  }
  expect(shapes[0]).toEqual(shapes[1]);
});

test("JWTs of hosts without a user do not use up the memory that is reserved for JWTs of users' agents", async () => {
  const home = await bank({ mostUsed: 8 });
  const own = await linked(home);
  // Each of these requests has a JWT with a valid signature. The JWT is recorded as used, although the request is
  // refused.
  const fill = async () => said(await (await driver(home)).register({ capabilities: ["fly"] }));
  const answers: string[] = [];
  for (let at = 0; at < 10; at++) answers.push(await fill());
  expect(answers.slice(0, 8)).toEqual(Array(8).fill("400 invalid_capabilities"));
  expect(answers.slice(8)).toEqual(["503 unavailable", "503 unavailable"]);
  expect(said(await own.asAgent("/agent/status"))).toBe("200");
  expect(said(await own.execute("list_payees", {}))).toBe("200");
  expect(said(await own.asHost(`/agent/status?agent_id=${own.agentId}`))).toBe("200");
  // A user's host that has rotated its key without a proof is not a stranger either.
  const fresh = await newKey();
  const rotated = await own.asHost("/host/rotate-key", { public_key: fresh.jwk });
  expect(said(rotated)).toBe("200");
  const after = new Driver(home, fresh, own.agent);
  expect(said(await after.asHost(`/agent/status?agent_id=${own.agentId}`))).toBe("200");
});

test("JWTs of hosts without a user do not block a host that a user made, even before that host has proven its key", async () => {
  const home = await bank({ mostUsed: 8 });
  const enrolled = await driver(home);
  const made = await home.parties.createHost({ principal: "alice", name: "Laptop" });
  const token = made.ok ? made.enrolmentToken : undefined;
  const { jwk: public_key } = enrolled.host;
  // Strangers have given the same key to their own hosts before.
  for (let at = 0; at < 2; at++) {
    const other = await driver(home);
    expect(said(await other.register({ mode: "autonomous" }))).toBe("200");
    expect(said(await other.asHost("/host/rotate-key", { public_key }))).toBe("200");
  }
  expect(said(await send(`${home.url}/host/enroll`, { json: { token, public_key } }))).toBe("200");
  for (let at = 0; at < 4; at++) await (await driver(home)).register({ capabilities: ["fly"] });
  expect(said(await (await driver(home)).register())).toBe("503 unavailable");
  // The host can still register an agent, and send requests while it waits for its user.
  expect(said(await enrolled.register())).toBe("200");
  const status = () => enrolled.asHost(`/agent/status?agent_id=${enrolled.agentId}`);
  expect(said(await status())).toBe("200");
});

if (FULL) {
  test("an agent of a host without a user that registers again and again leaves at most 500 ended grants", async () => {
    const home = await bank();
    const alone = await driver(home);
    const capabilities = [
      "check_balance",
      "list_payees",
      "transfer_funds",
      "delete_payee",
      "print_report",
      "always_fails",
      "fibs",
      "waits",
    ];
    for (let at = 0; at < 66; at++) {
      expect(said(await alone.register({ capabilities }))).toBe("200");
      home.clock.now += 301_000;
    }
    // 500 ended grants are kept, and all pending grants in addition.
    expect(await home.parties.grantsOf(alone.agentId)).toHaveLength(500 + capabilities.length);
  });
}

if (FULL) {
  test("the ledger keeps at most 60 refusals of hosts without a user, however many capabilities each refused request names", async () => {
    const home = await bank();
    const names = ["transfer_funds", "delete_payee", "always_fails", "fibs", "waits"];
    const alone = await driver(home);
    const asked = { mode: "autonomous", capabilities: names };
    expect(said(await alone.register(asked))).toBe("200");
    for (let at = 0; at < 15; at++) {
      expect(said(await (await driver(home)).register(asked))).toBe("200");
      for (let more = 0; more < 4; more++) expect(said(await alone.request(names))).toBe("200");
    }
    const refused = (await home.events()).filter(({ decision }) => decision === "refused");
    expect(refused).toHaveLength(60);
    expect(refused[0]).toMatchObject({ kind: "registration", codes: ["grant_denied"] });
    // A denial for a user's own agent is recorded with one event for each capability.
    const own = await granted(home, ["transfer_funds"]);
    await own.decide(await own.request(["delete_payee"]), "deny");
    const all = (await home.events()).filter(({ change }) => change === "grant.denied");
    expect(all).toMatchObject([{ skill: "delete_payee", codes: ["grant_denied"] }]);
  });
}

test("the ledger keeps at most 60 refused executions of agents without a user, and further executions get 429", async () => {
  const home = await bank({ settings: { bounds: { pendingHosts: 9 } } });
  const alone = await driver(home);
  const asked = { mode: "autonomous", capabilities: ["check_balance"] };
  expect(said(await alone.register(asked))).toBe("200");
  const balance = () => alone.execute("check_balance", { account_id: "acc_A" });
  expect(said(await balance())).toBe("200");
  const batch = Array.from({ length: 50 }, () => ({ capability: "transfer_funds" }));
  const run = () => alone.asAgent("/capability/batch-execute", { requests: batch });
  expect(said(await run())).toBe("200");
  const single = () => alone.execute("transfer_funds", { amount: 1, to: "acc_A" });
  for (let at = 0; at < 10; at++) expect(said(await single())).toBe("403 capability_not_granted");
  const late = await run();
  expect(said(late)).toBe("429 rate_limited");
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(said(await balance())).toBe("429 rate_limited");
  const refused = (await home.events()).filter(({ decision }) => decision === "refused");
  expect(refused).toHaveLength(60);
  // Users' agents at the same address are not affected.
  const own = await linked(home);
  expect(said(await own.execute("list_payees", {}))).toBe("200");
});

test("a user's own decisions stay in the approval history, whatever hosts without a user request and withdraw", async () => {
  const home = await bank({ settings: { bounds: { pendingPerUser: 1000 } } });
  const own = await granted(home, ["transfer_funds"]);
  const { approvals } = home.parties;
  const before = (await approvals.history("alice")).map(({ id }) => id);
  expect(before).toHaveLength(1);
  const hinted = { login_hint: "alice", preferred_method: "ciba" };
  for (let at = 0; at < 12; at++) {
    const alone = await driver(home);
    expect(said(await alone.register({ mode: "autonomous" }))).toBe("200");
    expect(said(await alone.asAgent("/agent/claim", hinted))).toBe("200");
    expect(said(await alone.asAgent("/agent/revoke", {}))).toBe("200");
    const waiting = await driver(home);
    if (at < 3) expect(said(await waiting.register(hinted))).toBe("200");
  }
  home.clock.now += 300_000;
  expect((await approvals.history("alice")).map(({ id }) => id)).toEqual(before);
  expect((await approvals.decided("alice", 1)).map(({ id }) => id)).toEqual(before);
  // A request that Alice's own agent makes and withdraws does not displace the decision either.
  const asked = await own.request(["delete_payee"]);
  expect(said(asked)).toBe("200");
  const taken = await own.asAgent("/agent/revoke-capability", { capabilities: ["delete_payee"] });
  expect(said(taken)).toBe("200");
  const after = await approvals.history("alice");
  expect(after.map(({ state }) => state).sort()).toEqual(["cancelled", "used"]);
  expect((await approvals.decided("alice", 1)).map(({ id }) => id)).toEqual(before);
});
