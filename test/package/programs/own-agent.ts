import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTaskStore, serveAgent } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createFixedTokens } from "proviso/auth";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";

const folder = mkdtempSync(join(tmpdir(), "proviso-own-agent-"));
const revocations = createRevocationList();
const database = await createStores(join(folder, "proviso.db"));
const ledger = openLedger(database);
const tasks = await openTaskStore(database);
const grants = [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }];
const agent = await createIssuingAgent({
  issuer: createIssuer({ name: "clock-agent", keys: createKeyring(), revocations, grants }),
  revocations,
  ledger,
  policy: createPolicyTable({
    rules: [{ principal: "alice", grant: "clock:read", operations: "*" }],
  }),
  skills: [
    {
      id: "tell_time",
      name: "Tell the time",
      description: "The year of the agent's clock",
      operation: "tell",
      reach: "none",
      input: { type: "object", additionalProperties: false },
      run: async () => ({ year: 2026 }),
    },
  ],
});
const token = "a-development-token";
const server = await serveAgent({
  agent,
  authenticator: createFixedTokens([{ token, principal: "alice", invoker: "assistant" }], {
    development: true,
    announce: () => {},
  }),
  card: { name: "Clock", description: "Tells the time", version: "1.0.0" },
  tasks,
  log: { info() {}, warn() {}, error() {} },
});

const authorized: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers });
};
interface Answer {
  readonly result: {
    readonly capabilities: readonly [{ readonly token: string }];
    readonly result: { readonly year: number };
  };
  readonly error?: object;
}

const rpc = async (method: string, params: object): Promise<Answer> => {
  const answer = await authorized(server.rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return JSON.parse(await answer.text());
};
const asked = await rpc("a2a/capabilities/request", { grants: ["clock:read"] });
const [capability] = asked.result.capabilities;
const call = { skill: "tell_time", arguments: {} };
const allowed = await rpc("a2a/skill/invoke", { ...call, token: capability.token });
const refused = await rpc("a2a/skill/invoke", call);

await server.close();
await tasks.close();
await ledger.close();
await database.close();
rmSync(folder, { recursive: true });
const ok = allowed.result.result.year === 2026 && refused.error !== undefined;
console.log(JSON.stringify({ ok }));
