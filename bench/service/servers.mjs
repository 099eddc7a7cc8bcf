// The servers of the service bench, by kind. All of them authenticate callers in the same way and have the same
// limits on bodies.
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { attenuate } from "proviso";
import { guard, openTaskStore, serveAgent } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createFixedTokens } from "proviso/auth";
import { createIssuer, createKeyring } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
import { openRevoked } from "./revoked.mjs";
import { ACCESS_TOKEN, ALICE, BODY_BYTES, cardAt, executor, tell } from "./setting.mjs";

/** @import { Request, RequestHandler } from "express" */
/** @import { IssuingAgent } from "proviso/agent" */
/** @import { Ledger } from "proviso/stores" */

/**
 * `bare`: no guard. `guarded`: the guard, with the SDK's task store, no ledger. `ledger`: with the ledger. `durable`:
 * an agent of this package, with its task store and its ledger in one SQLite file. `volatile`: like `durable`, but
 * without the ledger.
 * @typedef {"bare" | "guarded" | "ledger" | "volatile" | "durable"} Kind
 */

/** @typedef {{ readonly grants: number, readonly revocations: number, readonly folder: string }} Size */

/** @typedef {{ readonly url: string, readonly token: string, readonly close: () => Promise<void> }} Running */

/** @type {Ledger} */
const NO_LEDGER = {
  note() {},
  async commit() {},
  issued: async () => undefined,
  list: async () => [],
  async close() {},
};

const authenticator = createFixedTokens([{ token: ACCESS_TOKEN, ...ALICE }], {
  development: true,
  announce: () => {},
});

/** Returns the caller, by the same authenticator as in the agent's own server. @param {Request} req */
async function callerOf({ method, originalUrl: url, headers }) {
  const found = await authenticator.authenticate({ method, url, headers });
  return found.ok ? found.caller : undefined;
}

/** @param {Kind} kind @param {Size} size @returns {Promise<Running>} */
export async function startServer(kind, size) {
  if (kind === "bare") return startBare();
  const file = join(size.folder, `${kind}-${process.pid}.db`);
  const database = await createStores(file);
  const isKept = kind === "ledger" || kind === "durable";
  const ledger = isKept ? openLedger(database) : NO_LEDGER;
  const ownServer = kind === "durable" || kind === "volatile";
  const revoked = await openRevoked(size);
  const agent = await createAgent(ledger, revoked.revocations, size.grants, ownServer);
  const started = ownServer ? await startOwn(agent, database) : await startGuarded(agent);
  return {
    url: started.url,
    token: await tokenFrom(agent),
    async close() {
      await started.close();
      await ledger.close();
      await database.close();
      await revoked.close();
      for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
    },
  };
}

/** @param {...RequestHandler} handlers */
async function mounted(...handlers) {
  const app = express().disable("x-powered-by").disable("etag");
  app.use("/a2a/jsonrpc", ...handlers);
  const server = createServer(app);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/a2a/jsonrpc`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sdkHandler = () =>
  new DefaultRequestHandler(
    cardAt("http://127.0.0.1/a2a/jsonrpc"),
    new InMemoryTaskStore(),
    executor,
  );

/** @returns {Promise<Running>} */
async function startBare() {
  /** @type {RequestHandler} */
  const authentication = async (req, res, next) => {
    if ((await callerOf(req)) === undefined) res.status(401).end();
    else next();
  };
  const body = express.json({ limit: BODY_BYTES, inflate: false });
  const userBuilder = UserBuilder.noAuthentication;
  const answers = jsonRpcHandler({ requestHandler: sdkHandler(), userBuilder });
  return { ...(await mounted(authentication, body, answers)), token: "" };
}

/** @param {IssuingAgent} agent */
function startGuarded(agent) {
  const { jsonRpc } = guard({
    agent,
    handler: sdkHandler(),
    caller: callerOf,
    body: { bytes: BODY_BYTES },
    needs: () => ({ operation: "tell" }),
  });
  return mounted(jsonRpc);
}

/** @param {IssuingAgent} agent @param {Awaited<ReturnType<typeof createStores>>} database */
async function startOwn(agent, database) {
  const most = Number.MAX_SAFE_INTEGER;
  const tasks = await openTaskStore(database, { quota: { tasks: most, bytes: most } });
  const server = await serveAgent({
    agent,
    tasks,
    authenticator,
    log: { info() {}, warn() {}, error() {} },
    rate: { requests: 1_000_000_000, seconds: 1 },
    mostRunning: 100_000,
    card: { name: "Bench", description: "Bench", version: "1.0.0" },
  });
  return {
    url: server.rpcUrl,
    close: async () => {
      await server.close();
      await tasks.close();
    },
  };
}

/**
 * @param {Ledger} ledger
 * @param {Awaited<ReturnType<typeof openRevoked>>["revocations"]} revocations
 * @param {number} count grants
 * @param {boolean} hasSkill
 */
async function createAgent(ledger, revocations, count, hasSkill) {
  const others = Array.from({ length: count - 1 }, (_, at) => ({
    id: `other-${at}:read`,
    description: "Something else",
    operations: [`other_${at}`],
  }));
  const skill = { id: "tell", name: "tell", description: "Tells the time", operation: "tell" };
  const reach = /** @type {const} */ ("none");
  const operations = others.map(({ operations: [operation = ""] }) => ({ operation, reach }));
  return createIssuingAgent({
    issuer: createIssuer({
      name: "bench",
      keys: createKeyring(),
      revocations,
      grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }, ...others],
    }),
    revocations,
    ledger,
    policy: createPolicyTable({
      rules: [{ principal: "alice", grant: "clock:read", operations: "*" }],
    }),
    skills: hasSkill
      ? [{ ...skill, reach, input: { type: "object", additionalProperties: false }, run: tell }]
      : [],
    operations: hasSkill ? operations : [{ operation: "tell", reach }, ...operations],
  });
}

/** A token of three hops. @param {IssuingAgent} agent */
async function tokenFrom(agent) {
  const issued = await agent.request(ALICE, { grants: ["clock:read"], purpose: "bench" });
  let token = (issued.ok ? issued.capabilities[0]?.token : undefined) ?? "";
  for (const hop of [{ operations: ["tell"] }, { invokers: ["orchestrator"] }]) {
    const child = attenuate(token, hop);
    if (!child.ok) throw new Error("not narrowed");
    token = child.token;
  }
  return token;
}
