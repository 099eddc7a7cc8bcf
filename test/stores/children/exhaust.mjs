// `exhaust.mjs FOLDER`: calls an agent that serves the folder. The first calls are made with free file
// descriptors, the next without any, and the last with free file descriptors again. Prints the answers and the
// errors as one line of JSON.
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { openFolder } from "proviso/sources";
import { createStores, openLedger } from "proviso/stores";

const [, , path = ""] = process.argv;
const home = mkdtempSync(join(tmpdir(), "proviso-test-"));
const folder = await openFolder(path);
const revocations = createRevocationList();
const database = await createStores(join(home, "proviso.db"));
const ledger = openLedger(database);
const open = { collections: ["reports"], filter: { confidential: false } };
const shared = { description: "A skill", operation: "read" };
const agent = await createIssuingAgent({
  issuer: createIssuer({
    name: "documents-agent",
    keys: createKeyring(),
    revocations,
    grants: [{ id: "documents:read", description: "Read", operations: ["read"] }],
  }),
  revocations,
  ledger,
  resources: folder,
  policy: createPolicyTable({
    rules: [{ principal: "alice", grant: "documents:read", operations: "*", resources: open }],
  }),
  skills: [
    {
      ...shared,
      id: "list",
      name: "List",
      reach: "scoped",
      input: { type: "object" },
      run: async ({ resources }) => [...resources.values()].map(({ displayName }) => displayName),
    },
    {
      ...shared,
      id: "retrieve",
      name: "Retrieve",
      reach: "named",
      input: { type: "object" },
      run: async ({ resources }) => resources.size === 1,
    },
  ],
});
const alice = { principal: "alice", invoker: "assistant" };
const request = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };
const granted = await agent.request(alice, request);
const [{ token, resourceHandles }] = granted.capabilities;
const [{ handle }] = resourceHandles;

async function call(skill, given) {
  const call = { skill, arguments: given, capabilities: [{ token }] };
  const outcome = await agent.invoke(alice, call);
  return outcome.ok ? outcome.result : outcome.denials.map(({ code }) => code);
}

async function told(ask) {
  try {
    return await ask();
  } catch (error) {
    return `${error.name}: ${error.cause?.code}`;
  }
}

async function asked() {
  return {
    get: await told(async () => (await folder.get("reports/open.md"))?.displayName ?? "gone"),
    find: await told(async () => {
      const query = { collection: "reports", filter: { confidential: false } };
      const found = await folder.find(query);
      return found.ok ? found.resources.map(({ displayName }) => displayName) : found.denial.code;
    }),
    text: await told(async () => (await folder.readText("reports/open.md")).endsWith("Text.\n")),
    list: await told(() => call("list", {})),
    retrieve: await told(() => call("retrieve", { resourceHandle: handle })),
  };
}

const before = await asked();
const taken = [];
try {
  for (;;) taken.push(openSync("/dev/null", "r"));
} catch (error) {
  if (error.code !== "EMFILE") throw error;
}
const exhausted = await asked();
for (const fd of taken) closeSync(fd);
const after = await asked();
await ledger.close();
await database.close();
rmSync(home, { recursive: true });
console.log(JSON.stringify({ before, exhausted, after }));
