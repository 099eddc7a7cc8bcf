import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { startDocumentsAgent } from "../support/documents-agent.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// docs/a2a.md and docs/a2a-conformance.md: what they point at is there, and what they show works.

const root = fileURLToPath(new URL("../..", import.meta.url));

function read(name: string): string {
  return readFileSync(join(root, "docs", name), "utf8");
}

test("every requirement of A2A names a test that there is", () => {
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

test.skipIf(!curl)("the examples with curl work as they are written", async () => {
  const blocks = [...read("a2a.md").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, code = ""]) => code,
  );
  expect(blocks).toHaveLength(3);
  for (const code of blocks) expect(code).toContain("A2A-Version: 1.0");
  const folder = temporaryFolder();
  const agent = await startDocumentsAgent(folder);
  onTestFinished(() => agent.close());
  const env = { ...process.env, URL: agent.url, PROVISO_ACCESS_TOKEN: agent.token };
  const printed = blocks.map((code) => {
    const run = spawnSync("sh", ["-eu", "-c", code], { cwd: folder, env, encoding: "utf8" });
    expect(`${run.status} ${run.stderr}`, code).toBe("0 ");
    return run.stdout;
  });
  const [granted = "", rpc = "", rest = ""] = printed;
  expect(granted).toBe("");
  expect(member(JSON.parse(rpc), "result", "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
  const [sent = "", listed = ""] = rest.split(/(?<=\})(?=\{)/);
  expect(member(JSON.parse(sent), "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
  expect(member(JSON.parse(listed), "totalSize")).toBe(2);
});

function member(json: Json, ...names: readonly string[]): Json | undefined {
  let found: Json | undefined = json;
  for (const name of names)
    found = found !== undefined && isJsonObject(found) ? found[name] : undefined;
  return found;
}
