// Measures calls of one skill over HTTP on loopback: an agent with its ledger, and the same agent with a ledger that
// does nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attenuate } from "proviso";
import { openTaskStore, serveAgent } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createFixedTokens } from "proviso/auth";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
import { inTurns, microseconds, ratio, rounded, timed } from "../measure.mjs";

/** @import { Figures } from "../measure.mjs" */
/** @import { Ledger } from "proviso/stores" */

const CALLS = 300;
const CONNECTIONS = 10;
const TOKEN = "development-token-of-alice";
const alice = { principal: "alice", invoker: "orchestrator" };

/** @type {Ledger} */
const nothing = {
  note() {},
  async commit() {},
  issued: async () => undefined,
  list: async () => [],
  async close() {},
};

/**
 * Starts an agent, and returns functions that call it with a token that has been narrowed twice.
 * @param {string} home
 * @param {Ledger} ledger
 */
async function start(home, ledger) {
  const revocations = createRevocationList();
  const database = await createStores(join(home, `tasks-${Math.random()}.db`));
  const tasks = await openTaskStore(database);
  const agent = await createIssuingAgent({
    issuer: createIssuer({
      name: "bench",
      keys: createKeyring(),
      revocations,
      grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell", "wind"] }],
    }),
    revocations,
    ledger,
    policy: createPolicyTable({
      rules: [{ principal: "alice", grant: "clock:read", operations: "*" }],
    }),
    skills: ["tell", "wind"].map((operation) => ({
      id: operation,
      name: operation,
      description: operation,
      operation,
      reach: /** @type {const} */ ("none"),
      input: { type: "object", additionalProperties: false },
      run: async () => ({ year: 2026 }),
    })),
  });
  const log = { info() {}, warn() {}, error() {} };
  const server = await serveAgent({
    agent,
    tasks,
    log,
    rate: { requests: 1_000_000_000, seconds: 1 },
    authenticator: createFixedTokens([{ token: TOKEN, ...alice }], {
      development: true,
      announce: () => {},
    }),
    card: { name: "Bench", description: "Bench", version: "1.0.0" },
  });
  const issued = await agent.request(alice, { grants: ["clock:read"], purpose: "bench" });
  let token = (issued.ok ? issued.capabilities[0]?.token : undefined) ?? "";
  for (const hop of [{ operations: ["tell"] }, { invokers: ["orchestrator"] }]) {
    const child = attenuate(token, hop);
    if (!child.ok) throw new Error("not narrowed");
    token = child.token;
  }
  const params = { skill: "tell", arguments: {}, token };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "a2a/skill/invoke", params });
  const connections = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  /** @returns {Promise<void>} */
  const call = () =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
      const sent = request(
        server.rpcUrl,
        { method: "POST", agent: connections, headers },
        (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += String(chunk);
          });
          response.on("end", () => {
            if (text.includes('"year":2026')) resolve();
            else reject(new Error(text));
          });
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });

  return {
    /**
     * Returns milliseconds per call. Parallel connections each make one call after another. The time ends when the
     * ledger has written every entry.
     */
    async calls() {
      const began = performance.now();
      const each = CALLS / CONNECTIONS;
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          for (let done = 0; done < each; done++) await call();
        }),
      );
      await ledger.list({ limit: 1 });
      return (performance.now() - began) / CALLS;
    },
    /** Returns milliseconds per decision, without HTTP. */
    async decisions() {
      const invocation = { skill: "tell", arguments: {}, capabilities: [{ token }] };
      const began = performance.now();
      for (let done = 0; done < CALLS; done++) {
        const answer = await agent.invoke(alice, invocation);
        if (!answer.ok) throw new Error(JSON.stringify(answer.denials));
      }
      await ledger.list({ limit: 1 });
      return (performance.now() - began) / CALLS;
    },
    async stop() {
      connections.destroy();
      await server.close();
      await tasks.close();
      await ledger.close();
      await database.close();
    },
  };
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const home = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  const database = await createStores(join(home, "proviso.db"));
  const real = await start(home, openLedger(database));
  const none = await start(home, nothing);
  try {
    /** @type {Figures} */
    const figures = {
      title: "What the ledger costs a call",
      about: `Microseconds a call of one skill, ${CALLS} in a round, until all is written.`,
      columns: ["", "with the ledger", "without", "ratio"],
      rows: [],
      ratios: {},
    };
    for (const [what, measure] of /** @type {const} */ ([
      [`over HTTP, ${CONNECTIONS} connections`, "calls"],
      ["the gate alone, without HTTP", "decisions"],
    ])) {
      for (let warm = 0; warm < 5; warm++) for (const one of [real, none]) await one[measure]();
      const contenders = [timed("with", real[measure]), timed("without", none[measure])];
      const rounds = await inTurns(contenders, { rounds: quick ? 5 : 31, milliseconds: 0 });
      const times = rounded(ratio(rounds, "with", "without") ?? Number.NaN);
      const both = contenders.map(({ name }) => microseconds(rounds, name));
      figures.rows.push([what, ...both, times]);
      figures.ratios[`a call with the ledger, ${what}: time to without`] = times;
    }
    return [figures];
  } finally {
    await real.stop();
    await none.stop();
    await database.close();
    rmSync(home, { recursive: true, force: true });
  }
}
