import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { MAIN } from "../support/built.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { PACKAGE } from "./doc-comments.js";

// The long-running programs of the README: its server, called as it says, and its gate in front of an MCP server.

const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );

test("the README's server answers what its route allows, and refuses the rest", async () => {
  const [first = "", second = "", ...others] = blocks("js");
  expect(others).toEqual([]);
  expect(second).toContain("app.listen(8080);\n");
  // Inside the package, so that "proviso" resolves to the built package.
  mkdirSync(join(PACKAGE, ".examples"), { recursive: true });
  const folder = mkdtempSync(join(PACKAGE, ".examples", "readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const anyPort = second
    .replace("app.listen(8080);", "const server = app.listen(0);")
    .replace(":8080/", ":` + server.address().port + `/");
  writeFileSync(join(folder, "server.mjs"), `${first}${anyPort}`);
  const server = spawn(process.execPath, [join(folder, "server.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "close");
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  const [line] = await once(createInterface(server.stdout), "line");
  const [, header = "", token = "", url = ""] =
    /^curl -H "(Proviso-Capability): (\S+)" (http:\S+)$/.exec(String(line)) ?? [];
  const ask = async (address: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(address, { headers: { [header]: token } });
    const { id, denials } = JSON.parse(await answer.text());
    return [answer.status, id ?? denials[0].code];
  };
  expect(await ask(url)).toEqual([200, "rh_q1"]);
  expect(await ask(url.replace("rh_q1", "rh_q3"))).toEqual([403, "resource_denied"]);
});

test("the README's gate passes the tool that the token names, and no other", () => {
  const [config = ""] = blocks("json");
  const commands = blocks("sh").find((code) => code.includes("gate.json")) ?? "";
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "proviso"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, "proviso"), 0o755);
  // The same server from node_modules, since npx would ask the registry.
  const { servers, limits } = JSON.parse(config).plugins.mcp;
  const { memory } = servers;
  expect(memory).toEqual({
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-memory"],
    env: { MEMORY_FILE_PATH: "/srv/graphs/{principal}.jsonl" },
  });
  const installed = createRequire(import.meta.url).resolve(`${memory.args[1]}/dist/index.js`);
  const server = {
    command: process.execPath,
    args: [installed],
    env: { MEMORY_FILE_PATH: join(folder, "{principal}.jsonl") },
  };
  const gate = { ...JSON.parse(config), plugins: { mcp: { servers: { memory: server }, limits } } };
  writeFileSync(join(folder, "gate.json"), JSON.stringify(gate));
  // A reader waits until the host says that it serves.
  const waiting = commands.replace(/ &\n/, " &\nuntil [ -S gate.sock ]; do sleep 0.1; done\n");
  expect(waiting).not.toBe(commands);
  const run = spawnSync("sh", ["-c", `trap 'kill $!; wait' EXIT\n${waiting}`], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: folder, TMPDIR: process.env["TMPDIR"] },
  });
  expect(run.stdout, run.stderr).toMatch(/^Made a home at [\s\S]*entities/);
  expect(run.stderr).toContain(
    'argument "tool_name" must be "read_graph"; it is "delete_entities"',
  );
});
