import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { runProgram } from "../cli/run.js";
import { startDocumentsAgent } from "../support/documents-agent.js";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { runExamples } from "./run-examples.js";

// docs/a2a.md and docs/a2a-conformance.md: their links exist, and their examples work.

const root = fileURLToPath(new URL("../..", import.meta.url));

function read(name: string): string {
  return readFileSync(join(root, "docs", name), "utf8");
}

test("every requirement in docs/a2a-conformance.md names an existing test file", () => {
  const rows = read("a2a-conformance.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (section|---) /.test(line));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) {
    const [section = "", requirement = "", how = "", test = ""] = row.slice(2, -2).split(" | ");
    expect(section, row).toMatch(/^\d/);
    for (const words of [requirement, how]) expect(words.trim(), row).not.toBe("");
    const [, file = ""] = /^`([^`]+\.test\.ts)`$/.exec(test) ?? [];
    const path = file.includes("/") ? file : `test/protocols/a2a/${file}`;
    expect(file, row).not.toBe("");
    expect(existsSync(join(root, path)), `${path}: ${row}`).toBe(true);
  }
  expect(read("a2a.md")).toContain("(a2a-conformance.md)");
});

const curl = spawnSync("curl", ["--version"]).status === 0;
if (!curl) console.warn("curl is missing: the examples are skipped (apt-get install curl)");

test.skipIf(!curl)("the curl examples of docs/a2a.md work as written", async () => {
  const blocks = [...read("a2a.md").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, code = ""]) => code,
  );
  expect(blocks).toHaveLength(3);
  for (const code of blocks) expect(code).toContain("A2A-Version: 1.0");
  const folder = temporaryFolder();
  const agent = await startDocumentsAgent(folder);
  onTestFinished(() => agent.close());
  const env = { URL: agent.url, PROVISO_ACCESS_TOKEN: agent.token };
  const printed: string[] = [];
  for (const code of blocks) {
    const run = await runProgram("sh", ["-eu", "-c", code], { cwd: folder, env });
    expect(`${run.status} ${run.stderr}`, code).toBe("0 ");
    printed.push(run.stdout);
  }
  const [granted = "", rpc = "", rest = ""] = printed;
  expect(granted).toBe("");
  expect(member(JSON.parse(rpc), "result", "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
  const [sent = "", listed = ""] = rest.split(/(?<=\})(?=\{)/);
  expect(member(JSON.parse(sent), "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
  expect(member(JSON.parse(listed), "totalSize")).toBe(2);
});

if (FULL) {
  test("the example of docs/a2a.md that guards an existing agent works as written", async () => {
    const [, code = ""] = /^```js\n([\s\S]*?)^```$/m.exec(read("a2a.md")) ?? [];
    const guarding = code.trimEnd().split("\n");
    expect(guarding.length).toBeLessThanOrEqual(10);
    const example = {
      file: "docs/a2a.md",
      line: 1,
      code: [...AROUND[0], ...guarding, ...AROUND[1]],
    };
    expect([...(await runExamples([example]))]).toEqual([]);
  });
}

/** The code around the page's example, which readers have already, and a call with and without a capability. */
const AROUND = [
  `
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { restHandler } from "@a2a-js/sdk/server/express";
import express from "express";
import { capabilityExtension, guard } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
const revocations = createRevocationList();
const database = await createStores(process.env.TMPDIR + "/guarded.db");
const ledger = openLedger(database);
const operations = [{ operation: "talk", reach: "none" }, { operation: "file", reach: "none" }];
const grants = [{ id: "desk", description: "Talk", operations: ["talk", "file"] }];
const agent = await createIssuingAgent({
  issuer: createIssuer({ name: "desk", keys: createKeyring(), revocations, grants }),
  policy: createPolicyTable({ rules: [{ principal: "alice", grant: "desk", operations: ["talk"] }] }),
  ...{ revocations, ledger, skills: [], operations },
});
const tasks = new InMemoryTaskStore();
const executor = {
  cancelTask: async () => {},
  execute: async ({ userMessage }, bus) => bus.publish(AgentEvent.message(userMessage)),
};
const card = {
  supportedInterfaces: ["JSONRPC", "HTTP+JSON"].map((protocolBinding) => ({
    ...{ protocolBinding, protocolVersion: "1.0" },
  })),
  capabilities: { extensions: [capabilityExtension(agent)] },
};
const app = express();
app.use((req, _res, next) => {
  if (req.get("Authorization") === "Bearer alice") req.user = { sub: "alice", client: "app" };
  next();
});`.split("\n"),
  `
const server = app.listen(0, "127.0.0.1");
await new Promise((listening) => server.once("listening", listening));
const [{ token }] = (await agent.request({ principal: "alice", invoker: "app" }, { grants: ["desk"] })).capabilities;
const post = async (headers, ...parts) => {
  const message = { messageId: "m", role: "ROLE_USER", parts };
  const { status } = await fetch("http://127.0.0.1:" + server.address().port + "/a2a/rest/message:send", {
    method: "POST",
    headers: {
      ...{ "Content-Type": "application/json", "A2A-Version": "1.0", ...headers },
      "A2A-Extensions": "urn:proviso:a2a:capabilities:1",
    },
    body: JSON.stringify({ message }),
  });
  return status;
};
const alice = { Authorization: "Bearer alice" };
const holder = { ...alice, "Proviso-Capability": token };
await post({}, { text: "hi" }); // => 401
await post(alice, { text: "hi" }); // => 403
await post(holder, { text: "hi" }); // => 200
await post(holder, { text: "hi" }, { raw: "AA==" }); // => 403
server.close();
await ledger.close();
await database.close();`.split("\n"),
] as const;

function member(json: Json, ...names: readonly string[]): Json | undefined {
  let found: Json | undefined = json;
  for (const name of names)
    found = found !== undefined && isJsonObject(found) ? found[name] : undefined;
  return found;
}
