import express from "express";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Parties } from "../../../src/agent/parties/parties.js";
import { openHome } from "../../../src/home/open-home.js";
import { createIssuer, importKeyring } from "../../../src/issuer/index.js";
import { capabilityOf, createCapabilityMiddleware } from "../../../src/middleware/express.js";
import {
  AgentAuthError,
  createAgentAuthClient,
  generateKey,
} from "../../../src/protocols/agent-auth/client/index.js";
import { followRevocations } from "../../../src/protocols/revocations/index.js";
import { Bench, type Document } from "../../cli/run.js";
import { serve, TOKENS } from "../../cli/serving.js";

// Tests `proviso serve` with agent-auth, our client, and a service at a capability's location. The service knows only
// its own keys and the revocation feed.

const SKILLS = `
  const any = { type: "object" };
  const said = (id, operation, effect, input = any) => ({
    ...{ id, name: id, description: "Does " + id, operation, reach: "none", effect, input },
  });
  export default async function bank() {
    return {
      skills: [
        { ...said("check_balance", "balance", "read"), run: async () => ({ balance: 12.5 }) },
        {
          ...said("transfer_funds", "transfer", "write", {
            type: "object",
            properties: { amount: { type: "number" }, to: { type: "string" } },
            required: ["amount", "to"],
          }),
          output: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
          run: async ({ arguments: { amount } }) => ({ id: "transfer of " + amount }),
        },
        {
          ...said("print_report", "print", "read"),
          run: async () => { throw new Error("it is run elsewhere"); },
        },
      ],
    };
  }
`;

const CONFIG: Document = {
  name: "Bank",
  description: "A bank that agents can use",
  home: "home",
  protocols: ["agent-auth", "revocations"],
  grants: [
    { id: "accounts:read", description: "See accounts", operations: ["balance", "print"] },
    { id: "payments:make", description: "Make payments", operations: ["transfer"] },
  ],
  policy: { rules: [{ principal: "alice", grant: "*", operations: "*" }] },
  skills: "bank.mjs",
  authentication: {
    development: [{ token: TOKENS.alice, principal: "alice", invoker: "assistant" }],
  },
  agentAuth: { defaults: ["check_balance"], public: ["check_balance"] },
};

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  bench.write("bank.mjs", SKILLS);
});

/** Decides an approval as Alice: by a user code or, without a code, in her list of approvals. */
async function decide(hops: { [place: string]: object } = {}, userCode?: string): Promise<void> {
  const home = await openHome({ folder: bench.home });
  try {
    const { revocations, partyStore: store } = home;
    const { approvals } = new Parties({ store, revocations });
    const [waiting] = await approvals.waitingFor("alice");
    const found = userCode === undefined ? waiting : await approvals.byUserCode(userCode);
    if (found === undefined) throw new Error("nothing waits");
    const by = { principal: "alice", userCode };
    const answer = { answer: "approve", digest: found.digest, hops } as const;
    const outcome = await approvals.decide(found.id, by, answer);
    if (!outcome.ok) throw new Error(outcome.message);
  } finally {
    await home.close();
  }
}

/** Starts a service that prints reports, at the location of the capability. */
async function reportService() {
  const app = express();
  let route: express.RequestHandler = (_req, res) => void res.status(503).end();
  app.use(express.json());
  app.post("/agent/execute", (req, res, next) => route(req, res, next));
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const location = `http://127.0.0.1:${port}/agent/execute`;
  return {
    location,
    /**
     * Gives the service its keys and the address of the revocation feed. The service knows nothing else of the issuer.
     */
    open: async (feed: string) => {
      const keys = importKeyring(JSON.parse(await bench.output("keys", "service", location)));
      const revocations = followRevocations({ url: feed, keys });
      onTestFinished(() => revocations.close());
      await revocations.refresh();
      const service = createIssuer({
        name: "documents-agent",
        keys,
        revocations,
        audience: location,
      });
      const requires = createCapabilityMiddleware(service);
      const check = requires({
        grant: "accounts:read",
        operation: "print",
        arguments: (req: express.Request) => req.body.arguments,
      });
      const print: express.RequestHandler = (req, res) =>
        void res.json({ data: { printed: req.body.arguments, for: capabilityOf(req).principal } });
      route = (req, res, next) =>
        check(req, res, (error) => (error ? next(error) : print(req, res, next)));
      return revocations;
    },
  };
}

describe("proviso serve", () => {
  test("serves agent-auth from registration to revocation, with executions at the server and at a location", async () => {
    const reports = await reportService();
    const { running, url } = await serve(bench, {
      ...CONFIG,
      agentAuth: { ...CONFIG["agentAuth"], locations: { print_report: reports.location } },
    });
    const { discoveryUrl, revocationsUrl } = JSON.parse(running.stdout);
    expect(discoveryUrl).toBe(`${url}/.well-known/agent-configuration`);
    const list = await reports.open(revocationsUrl);

    const hostKey = await generateKey();
    const host = await createAgentAuthClient({ provider: url, hostKey, hostName: "Laptop" });
    expect(host.discovery.document["provider_name"]).toBe("Bank");
    const key = await generateKey();
    const agent = await host.register({
      name: "Clerk",
      key,
      capabilities: ["check_balance"],
      reason: "the books",
    });
    const { approval, grants } = agent.state;
    expect(grants).toEqual([{ capability: "check_balance", status: "pending" }]);
    expect(approval?.verificationUri).toBe(`${url}/approvals/device`);
    const waited = agent.waitForApproval({ interval: 0.02 });
    await decide({}, approval?.userCode);
    expect((await waited).status).toBe("active");
    expect(await agent.execute("check_balance")).toEqual({ balance: 12.5 });

    const listing = await agent.list({ query: "report" });
    expect(listing.capabilities).toMatchObject([{ name: "print_report", granted: false }]);
    const asked = await agent.request([
      { name: "transfer_funds", constraints: { amount: { max: 1000 } } },
      { name: "print_report", constraints: { pages: { max: 9 } } },
    ]);
    expect(asked.grants.map(({ status }) => status)).toEqual(["pending", "pending"]);
    await decide({ "0": { constraints: { to: "acc_A" } } });
    const active = await agent.waitForApproval({ interval: 0.02 });
    const transfer = active.grants.find(({ capability }) => capability === "transfer_funds");
    expect(transfer?.constraints).toEqual({ amount: { max: 1000 }, to: "acc_A" });

    const paid = await agent.execute("transfer_funds", { amount: 12, to: "acc_A" });
    expect(paid).toEqual({ id: "transfer of 12" });
    await expect(agent.execute("transfer_funds", { amount: "12", to: "acc_A" })).rejects.toThrow(
      "the arguments of transfer_funds: /amount must be number",
    );
    const refused = agent.execute("transfer_funds", { amount: 5000, to: "acc_B" });
    const fault = await refused.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(AgentAuthError);
    expect(fault).toMatchObject({
      code: "constraint_violated",
      body: {
        violations: [
          { field: "amount", constraint: { max: 1000 }, actual: 5000 },
          { field: "to", constraint: "acc_A", actual: "acc_B" },
        ],
      },
    });
    const small = await agent.narrow("transfer_funds", { constraints: { amount: { max: 5 } } });
    const token = small.ok ? small.token : "";
    const over = agent.execute("transfer_funds", { amount: 6, to: "acc_A" }, { token });
    await expect(over).rejects.toMatchObject({ code: "constraint_violated" });
    const wider = await agent.narrow("transfer_funds", { constraints: { amount: { max: 5000 } } });
    expect(wider.ok).toBe(false);

    // At the location, only the token is checked.
    const printed = await agent.execute("print_report", { pages: 3 });
    expect(printed).toEqual({ printed: { pages: 3 }, for: "alice" });
    const thick = agent.execute("print_report", { pages: 10 });
    await expect(thick).rejects.toMatchObject({ status: 403 });
    const bare = await fetch(reports.location, { method: "POST" });
    expect(bare.status).toBe(401);
    expect(await agent.revokeCapabilities(["print_report"])).toEqual(["print_report"]);
    await list.refresh();
    expect(list.size).toBe(1);
    const reprint = fetch(reports.location, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Proviso-Capability":
          active.grants.find(({ capability }) => capability === "print_report")?.token ?? "",
      },
      body: JSON.stringify({ capability: "print_report", arguments: { pages: 3 } }),
    });
    expect((await reprint).headers.get("Proviso-Denial")).toBe("revoked");

    const nextKey = await generateKey();
    await host.rotateAgentKey(agent.id, nextKey);
    await expect(agent.status()).rejects.toMatchObject({ code: "invalid_jwt", status: 401 });
    const same = await host.open(agent.id, nextKey);
    expect((await same.status()).status).toBe("active");
    await host.rotateHostKey(await generateKey());
    expect((await host.status(agent.id)).status).toBe("active");
    expect((await host.list()).capabilities.length).toBe(3);
    await same.revoke();
    expect((await same.status()).status).toBe("revoked");
    await host.revokeHost();
    await expect(host.list()).rejects.toMatchObject({ code: "host_revoked" });
  });

  test.each([
    [
      "a malformed capability name",
      { skills: SKILLS.replace('"check_balance"', '"check-balance"') },
      'agentAuth: skill "check-balance": a capability\'s name has a to z, 0 to 9 and "_" alone',
    ],
    [
      "an operation in two grants",
      {
        grants: [
          ...CONFIG["grants"],
          { id: "more:read", description: "More", operations: ["balance"] },
        ],
      },
      'skill "check_balance": its operation "balance" is in several grants',
    ],
    [
      "a default capability that changes data",
      { agentAuth: { defaults: ["transfer_funds"] } },
      'agentAuth.defaults[0]: "transfer_funds" may write',
    ],
    [
      "an unknown default capability",
      { agentAuth: { defaults: ["check_balanse"] } },
      'agentAuth.defaults[0]: there is no capability "check_balanse"; did you mean "check_balance"?',
    ],
    [
      "an unknown public capability",
      { agentAuth: { public: ["balance"] } },
      'agentAuth.public[0]: there is no capability "balance"',
    ],
    [
      "a location for an unknown capability",
      { agentAuth: { locations: { fly: "https://x.example" } } },
      'location of "fly": there is no such skill',
    ],
    [
      "settings without the protocol",
      { protocols: ["revocations"] },
      'agentAuth: has no effect: "protocols" does not name "agent-auth"',
    ],
  ])("refuses to start with %s", async (_, { skills, ...change }: Document, expected) => {
    if (skills !== undefined) bench.write("other.mjs", skills);
    const config = {
      ...CONFIG,
      ...change,
      ...(skills === undefined ? {} : { skills: "other.mjs" }),
    };
    bench.write("wrong.json", JSON.stringify(config));
    const { status, stderr } = await bench.run(["serve", "wrong.json"]);
    expect(stderr).toContain(expected);
    expect(status).toBeGreaterThan(1);
  });

  test("starts with a default capability that changes data if allowedDefaults names the capability", async () => {
    const agentAuth = { defaults: ["transfer_funds"], allowedDefaults: ["transfer_funds"] };
    const { url } = await serve(bench, { ...CONFIG, agentAuth });
    expect((await fetch(`${url}/capability/list`)).status).toBe(401);
  });
});
