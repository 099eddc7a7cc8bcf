import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";

// Most tests run the command in their own process, from its sources. What is published is the bundle, with
// the process's own streams; here each verb is run that way too, and in a full run the verbs below it and every example of the help.

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init("--grant", "documents:read=retrieve,search");
  token = await bench.output("mint", "--grant", "documents:read", "--expires", "2h");
  bench.write("token", token);
});

/** Verbs below those that a quick run tries, and other ways to the same. */
const MORE = [
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
    ["keys", "list"],
    ["mint", "--grant", "documents:write"],
    ["attenuate", "@token", "--no-nonce", "--op", "search"],
    ["inspect", "AgIB", "--json"],
    ["verify", "@token", "--op", "delete"],
    ["diff", "@token", "@absent"],
    ["revoke"],
    ["revocations", "list"],
    ["convert", "@token", "--to", "v2json"],
    ["serve", "absent.json"],
    ["card", "http://127.0.0.1:1"],
    ["card", "lint", "token"],
    ["discover", "http://127.0.0.1:1", "--require", "pause_resume"],
    ["request", "http://127.0.0.1:1", "--grant", "documents:read"],
    ["invoke", "http://127.0.0.1:1", "search", "@token", "--json"],
    ["session", "serve", "absent.json"],
    ["session", "connect", "127.0.0.1:1", "--ambient", "--call", "tool/list"],
    ["audit"],
    ["grants", "list"],
    ["vectors", "check", "--filter", "known answers"],
    ["completion", "bash"],
    ...(FULL ? MORE : []),
  ])("%s %s", async (...args) => {
    const [here, built] = await Promise.all([bench.run(args), bench.spawned(args)]);
    expect(built).toEqual(here);
  });
});

test("a package that it needs and does not find is named, with how to get it", async () => {
  const hooks = `export const resolve = (name, context, next) =>
    next(name.replace(/^@a2a-js\\/sdk/, "a2a-is-absent"), context);`;
  const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
  const hiding = url(
    `import { register } from "node:module"; register(${JSON.stringify(url(hooks))});`,
  );
  const config = fileURLToPath(
    new URL("../../examples/documents-agent/agent.json", import.meta.url),
  );
  const env = { NODE_OPTIONS: `--import ${hiding}` };
  expect(await bench.spawned(["serve", config], { env })).toEqual({
    status: 6,
    stdout: "",
    stderr:
      "proviso: this needs the package a2a-is-absent, which is not installed\n" +
      "hint: npm install a2a-is-absent\n",
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
