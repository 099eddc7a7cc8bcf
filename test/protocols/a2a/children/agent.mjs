// `agent.mjs HOME` serves an issuing agent with its files in HOME, and creates the files if HOME is empty. It
// prints `{"url"}` when it listens. SIGTERM stops it cleanly; then it prints `{"stopped":true}`.
import { existsSync, mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openTaskStore, serveAgent } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createFixedTokens } from "proviso/auth";
import { createIssuer, createKeyring } from "proviso/issuer";
import { openFolder } from "proviso/sources";
import {
  createKeyringFile,
  followKeyringFile,
  openLedger,
  openResourceNumbers,
  openRevocations,
  openStores,
} from "proviso/stores";

const [, , home = ""] = process.argv;
const at = (name) => join(home, name);
const first = !existsSync(at("keyring.json"));
if (first) {
  createKeyringFile(at("keyring.json"), createKeyring());
  mkdirSync(at("documents/reports"), { recursive: true });
  for (const quarter of ["Q1", "Q2"]) {
    const text = `---\ntitle: ${quarter}\nquarter: ${quarter}\n---\nAll went well.\n`;
    writeFileSync(at(`documents/reports/${quarter}.md`), text);
  }
}
const folder = await openFolder(at("documents"));
const stores = await openStores(at("proviso.db"), "create");
const revocations = await openRevocations(stores);
const ledger = openLedger(stores);
const tasks = await openTaskStore(stores, { lease: 1000 });
const input = {
  type: "object",
  properties: {
    resourceHandle: { type: "string", format: "resource-handle" },
    milliseconds: { type: "integer" },
  },
  additionalProperties: false,
};
const shared = { name: "For tests", description: "For tests", input };
const agent = await createIssuingAgent({
  issuer: createIssuer({
    name: "restarting-agent",
    keys: followKeyringFile(at("keyring.json")),
    revocations,
    grants: [
      { id: "documents:read", description: "Read", operations: ["retrieve"] },
      { id: "work:do", description: "Wait", operations: ["wait"] },
    ],
  }),
  revocations,
  ledger,
  resources: folder,
  resourceNumbers: openResourceNumbers(stores),
  policy: createPolicyTable({ rules: [{ principal: "alice", grant: "*", operations: "*" }] }),
  skills: [
    {
      ...shared,
      id: "retrieve_document",
      operation: "retrieve",
      reach: "named",
      run: async ({ resources }) => [...resources.values()].map(({ displayName }) => displayName),
    },
    {
      ...shared,
      id: "wait",
      operation: "wait",
      reach: "none",
      run: async ({ arguments: { milliseconds }, signal }) => {
        console.log(JSON.stringify({ waiting: milliseconds }));
        await pause(milliseconds, undefined, { signal });
        return { waited: milliseconds };
      },
    },
  ],
});
const server = await serveAgent({
  agent,
  tasks,
  rate: { requests: 1_000_000, seconds: 1 },
  authenticator: createFixedTokens(
    [{ token: "development-token-of-alice", principal: "alice", invoker: "orchestrator" }],
    { development: true, announce: () => {} },
  ),
  card: { name: "Restarting", description: "For tests", version: "1.0.0" },
  log: { info() {}, warn() {}, error() {} },
});
writeSync(1, `${JSON.stringify({ url: server.url })}\n`);

process.once("SIGTERM", async () => {
  await server.close();
  await tasks.close();
  await ledger.close();
  await stores.close();
  writeSync(1, `${JSON.stringify({ stopped: true })}\n`);
});
