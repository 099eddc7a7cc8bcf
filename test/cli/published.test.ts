import { spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { Bench, runProgram } from "./run.js";

// Most tests run the command in this process, from its sources. Users run the bundle, with the streams of its
// process. These tests run some command lines with the bundle; a full run has more of them.

const COMMAND = fileURLToPath(new URL("../../cli", import.meta.url));
const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init("--grant", "documents:read=retrieve,search");
  token = await bench.output("mint", "--grant", "documents:read", "--expires", "2h");
  bench.write("token", token);
});

/** Command lines that only a full run tries. */
const MORE = [
  ["keys", "list"],
  ["inspect", "AgIB", "--json"],
  ["diff", "@token", "@absent"],
  ["revoke"],
  ["revocations", "list"],
  ["convert", "@token", "--to", "v2json"],
  ["card", "http://127.0.0.1:1"],
  ["card", "lint", "token"],
  ["discover", "http://127.0.0.1:1", "--require", "pause_resume"],
  ["invoke", "http://127.0.0.1:1", "search", "@token", "--json"],
  ["session", "connect", "127.0.0.1:1", "--ambient", "--call", "tool/list"],
  ["audit"],
  ["grants", "list"],
  ["completion", "bash"],
  ["keys", "service", "no name"],
  ["attenuate", "@token", "--op", "delete", "--json"],
  ["verify", "@token", "--op", "delete", "--keys", "absent.jwks"],
  ["mint", "--grant", "documents:read", "--service", "no name"],
  ["card", "diff", "absent", "token"],
  ["audit", "tree", "none"],
  ["grants", "approve", "approval_none", "--json"],
  ["keys", "export", "none"],
];

describe("the built command prints and exits like its sources", () => {
  test.each([
    ["--help"],
    ["--version"],
    ["frobnicate"],
    ["init"],
    ["mint", "--grant", "documents:write"],
    ["attenuate", "@token", "--no-nonce", "--op", "search"],
    ["verify", "@token", "--op", "delete"],
    ["serve", "absent.json"],
    ["request", "http://127.0.0.1:1", "--grant", "documents:read"],
    ["session", "serve", "absent.json"],
    ["vectors", "check", "--filter", "known answers"],
    ...(FULL ? MORE : []),
  ])("%s %s", async (...args) => {
    const [here, built] = await Promise.all([bench.run(args), bench.spawned(args)]);
    expect(built).toEqual(here);
  });
});

test("the installed command exits with 6 and names the package if a dependency is not installed", async () => {
  const alone = new Bench();
  // The folder is outside this repository. Within it, Node would find the packages in node_modules.
  const folder = alone.path("node_modules/proviso-cli");
  for (const path of ["package.json", "dist"]) {
    cpSync(join(COMMAND, path), join(folder, path), { recursive: true });
  }
  const args = [join(folder, "dist/main.cjs"), "mint", "--grant", "g"];
  const env = { PROVISO_HOME: bench.home };
  expect(await runProgram(process.execPath, args, { cwd: alone.folder, env })).toEqual({
    status: 6,
    stdout: "",
    stderr:
      "proviso: not installed, and needed: libsql\n" +
      "hint: install proviso-cli again, with its optional dependencies\n",
  });
});

describe("standard input as a pipe", () => {
  test("is read even if it arrives late and in parts", async () => {
    const child = spawn(process.execPath, [MAIN, "convert", "--to", "v2"]);
    const said = child.stdout.setEncoding("utf8").toArray();
    for (const part of [token.slice(0, 40), token.slice(40), "\n"]) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      child.stdin.write(part);
    }
    child.stdin.end();
    expect((await said).join("")).toBe(`${token}\n`);
  });

  test("is refused if it is longer than 1 MiB", async () => {
    const { status, stderr } = await bench.spawned(["inspect"], { input: "a".repeat(2 ** 21) });
    expect(status).toBe(3);
    expect(stderr).toContain("more than 1048576 bytes; no token is that long");
  });
});
