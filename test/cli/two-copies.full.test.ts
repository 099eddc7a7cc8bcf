import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { Bench, document } from "./run.js";
import { RunningProgram } from "./running.js";

// The command contains a copy of the library, and a user's module imports another copy. Each copy recognizes
// the other's objects by their shape or name.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Makes a folder in which the built library is installed. */
function withLibrary(): Bench {
  const bench = new Bench();
  const modules = bench.path("node_modules");
  for (const path of ["package.json", "dist/src"]) {
    cpSync(join(ROOT, path), join(modules, "proviso", path), { recursive: true });
  }
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "ajv"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  return bench;
}

const SKILLS = `
  import { attenuate, inspect, TokenError } from "proviso";
  import { createSkill, SkillInputError } from "proviso/agent";
  import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";

  const revocations = createRevocationList();
  const issuer = createIssuer({ name: "own", keys: createKeyring(), revocations });
  const own = issuer.mint({ grant: "g", operations: ["get", "put"] }).token;
  const input = { type: "object", properties: { start: { type: "string" } }, required: ["start"] };
  const narrow = createSkill({
    id: "narrow",
    name: "Narrow",
    description: "Narrows a token",
    operation: "narrow",
    reach: "none",
    input,
    run: async ({ arguments: { start } }) => {
      try {
        const child = attenuate(start + own, { operations: ["get"] });
        return { left: inspect(child.token).authority.operations.join() };
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        throw new SkillInputError("that is no token: " + error.code);
      }
    },
  });
  export default async () => ({ skills: [narrow] });
`;

test("serve accepts a skill and a SkillInputError from another copy of the library", async () => {
  const bench = withLibrary();
  await bench.output("init", "agent", "agent");
  const folder = bench.path("agent");
  const config = JSON.parse(bench.read("agent/agent.json"));
  config.grants = [{ id: "tokens:use", description: "Narrow", operations: ["narrow"] }];
  config.policy = { rules: [{ principal: "alice", grant: "tokens:use", operations: "*" }] };
  bench.write("agent/agent.json", JSON.stringify(config));
  bench.write("agent/skills.mjs", SKILLS);
  const served = new RunningProgram(
    [MAIN, "serve", "agent.json", "--port", "0", "--json"],
    {},
    folder,
  );
  const { url } = document(await served.says(/^\{.*\}\n/));
  const run = (...args: readonly string[]) =>
    bench.spawned([...args, "--access-token", "@tokens.json"], { cwd: folder });
  const asked = await run("request", url, "--grant", "tokens:use", "-o", "capability");
  expect(asked.status, asked.stderr).toBe(0);

  const narrow = (start: string) =>
    run("invoke", url, "narrow", "@capability", "--arg", `start="${start}"`);
  expect(await narrow("")).toEqual({ status: 0, stdout: "left: get\n", stderr: "" });
  const refused = await narrow("no");
  expect(refused).toMatchObject({ status: 1, stdout: "" });
  expect(refused.stderr).toMatch(/the skill rejects the call: that is no token: [a-z_]+\n/);
});

const TOOLS = `
  import { PluginError } from "proviso/a2e";
  const input = { type: "object" };
  export default () => [
    {
      name: "full",
      description: "Is full",
      input,
      run() { throw new PluginError("tool_full", "no room is left", { retryable: true }); },
    },
  ];
`;

test("session connect prints the message of a PluginError that another copy of the library threw", async () => {
  const bench = withLibrary();
  await bench.init();
  bench.write("tools.mjs", TOOLS);
  bench.write("session.json", JSON.stringify({ home: "home", plugins: { tools: "tools.mjs" } }));
  bench.write(
    "token",
    await bench.output("mint", "--grant", "a2e:tools", "--any-op", "--principal", "alice"),
  );
  const served = new RunningProgram(
    [MAIN, "session", "serve", "session.json", "--json"],
    { PROVISO_HOME: bench.home },
    bench.folder,
  );
  const { address } = JSON.parse(await served.says(/^\{.*\}$/m));
  const args = ["session", "connect", address, "--token", "@token", "--call", "tool/call", "full"];
  const { status, stderr } = await bench.spawned(args);
  expect(status).not.toBe(0);
  expect(stderr).toContain("no room is left");
});

test("serve says where to install the library if the module of skills cannot import it", async () => {
  const bench = new Bench();
  await bench.output("init", "agent", "agent");
  bench.write("agent/skills.mjs", SKILLS);
  const cwd = bench.path("agent");
  const { status, stderr } = await bench.spawned(["serve", "agent.json"], { cwd });
  expect(status).toBe(6);
  expect(stderr).toMatch(/Cannot find package 'proviso' imported from \S+skills\.mjs\n/);
  expect(stderr).toContain(
    `hint: install it beside the module: cd ${cwd} && npm install proviso\n`,
  );
});
