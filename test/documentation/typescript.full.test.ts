import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Bench, document } from "../cli/run.js";
import { RunningHere } from "../cli/running.js";
import { PACKAGE } from "./doc-comments.js";

// The TypeScript programs of docs/agent.md compile with the settings on the page, and `proviso serve` serves
// the result.

const page = readFileSync(new URL("../../docs/agent.md", import.meta.url), "utf8");
const COMPILER = fileURLToPath(
  new URL("../../node_modules/typescript-native/bin/tsc", import.meta.url),
);
// The folder is inside the package, so that Node resolves "proviso" to the built package.
mkdirSync(join(PACKAGE, ".examples"), { recursive: true });
const folder = mkdtempSync(join(PACKAGE, ".examples", "typescript-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the only block of a language that contains a string. */
function block(language: string, text: string): string {
  const all = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  const [found = "", ...more] = all.flatMap(([, code = ""]) => (code.includes(text) ? [code] : []));
  expect(found, text).not.toBe("");
  expect(more, text).toEqual([]);
  return found;
}

test("the TypeScript agent of docs/agent.md compiles and is served, and a mistake in its skill is a compile error", async () => {
  const skills = block("ts", "AgentModule");
  const wrong = skills.replace("sum: a + b", "sum: a.trim() + b");
  const files = {
    "tsconfig.json": block("json", "compilerOptions"),
    "agent.ts": block("js", "serveAgent({"),
    "skills.ts": skills,
    "wrong.ts": wrong,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const compiled = spawnSync(process.execPath, [COMPILER, "-p", folder], { encoding: "utf8" });
  expect(compiled.stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(
      /wrong\.ts\(.*: error TS2339: Property 'trim' does not exist on type 'number'\.$/,
    ),
  ]);

  const config = JSON.parse(block("json", '"skills"'));
  writeFileSync(
    join(folder, "agent.json"),
    JSON.stringify({ ...config, skills: "dist/skills.js" }),
  );
  const caller = { token: "a-token-for-development", principal: "alice", invoker: "assistant" };
  writeFileSync(join(folder, "tokens.json"), JSON.stringify([caller]), { mode: 0o600 });
  const bench = new Bench();
  await bench.output("init", "--home", join(folder, "home"));
  const own = new RunningHere(["serve", "agent.json", "--json"], { cwd: folder });
  const { url } = document(await own.says(/^\{.*\}\n/));
  bench.write("access", caller.token);
  const as = ["--access-token", "@access"];
  await bench.output("request", url, "--grant", "numbers:use", ...as, "-o", "capability");
  const sum = await bench.json(
    "invoke",
    url,
    "add",
    "@capability",
    "--arg",
    "a=2",
    "--arg",
    "b=3",
    ...as,
  );
  expect(sum).toMatchObject({ status: 0, result: { sum: 5 } });
});
