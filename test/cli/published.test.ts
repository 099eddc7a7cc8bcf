import { spawn } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { Bench, document, runProgram } from "./run.js";

// Most tests run the command in their own process, from its sources. What is published is the bundle, with
// the process's own streams; here some verbs are run that way too, in a full run every one.

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init("--grant", "documents:read=retrieve,search");
  token = await bench.output("mint", "--grant", "documents:read", "--expires", "2h");
  bench.write("token", token);
});

/** What a full run tries besides. */
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

describe("the published command answers as its sources do", () => {
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

describe("where no package is installed beside it", () => {
  const alone = new Bench();
  const root = fileURLToPath(new URL("../..", import.meta.url));
  // Outside of this package, whose own packages it would find.
  const main = alone.path("node_modules/proviso/dist/cli/main.js");
  beforeAll(() => {
    for (const path of ["package.json", "dist/cli"]) {
      cpSync(join(root, path), alone.path(`node_modules/proviso/${path}`), { recursive: true });
    }
    alone.write("agent.json", readFileSync(join(root, "examples/documents-agent/agent.json")));
  });
  /** What docs/install.md installs for the command. */
  const all = /npm install --global \S+ (.*)/
    .exec(readFileSync(join(root, "docs/install.md"), "utf8"))?.[1]
    ?.split(" ");

  test.each([
    ["serve", "agent.json"],
    ["init", "--home", "home"],
    ["mint", "--grant", "g"],
    ["card", "lint", "agent.json"],
  ])("%s %s names all that the command needs, and installs them at once", async (...args) => {
    const env = { PROVISO_HOME: bench.home };
    const local = await runProgram(process.execPath, [main, ...args], { cwd: alone.folder, env });
    expect(local).toEqual({
      status: 6,
      stdout: "",
      stderr:
        `proviso: not installed, and needed: ${all?.join(", ")}\n` +
        `hint: npm install ${all?.join(" ")}\n`,
    });
  });

  test("outside of a project they are installed for all", async () => {
    const args = [main, "mint", "--grant", "g", "--json"];
    const env = { PROVISO_HOME: bench.home };
    const { stderr } = await runProgram(process.execPath, args, { cwd: bench.folder, env });
    expect(document(stderr)["error"]).toMatchObject({
      code: "package_missing",
      hint: `npm install --global ${all?.join(" ")}`,
    });
  });
});

describe("standard input as a pipe", () => {
  test("that is written slowly, and is not there at once", async () => {
    const child = spawn(process.execPath, [MAIN, "convert", "--to", "v2"]);
    const said = child.stdout.setEncoding("utf8").toArray();
    for (const part of [token.slice(0, 40), token.slice(40), "\n"]) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      child.stdin.write(part);
    }
    child.stdin.end();
    expect((await said).join("")).toBe(`${token}\n`);
  });

  test("that holds more than a pipe does, and more than any token", async () => {
    const { status, stderr } = await bench.spawned(["inspect"], { input: "a".repeat(2 ** 21) });
    expect(status).toBe(3);
    expect(stderr).toContain("more than 1048576 bytes; no token is that long");
  });
});
