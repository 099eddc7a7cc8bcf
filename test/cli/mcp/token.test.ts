import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Bench, TOKEN } from "../run.js";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

const FILE = "home/mcp.token";

test("mcp token makes a home and a token file that only this user can read", async () => {
  const answer = await bench.json("mcp", "token", "--op", "read_text_file");
  expect(answer).toMatchObject({
    status: 0,
    file: bench.path(FILE),
    home: bench.home,
    madeHome: true,
    grant: "mcp",
    hop: { operations: ["read_text_file"] },
  });
  expect(answer).not.toHaveProperty("token");
  for (const name of ["home/keyring.json", "home/config.json", FILE]) {
    expect(statSync(bench.path(name)).mode & 0o777, name).toBe(0o600);
  }
  expect(bench.read(FILE).trim()).toMatch(TOKEN);
  const days = (Date.parse(answer["expires"]) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
});

test("mcp token uses an existing home, and replaces the token in an existing token file", async () => {
  await bench.init("--max-lifetime", "2h");
  const first = await bench.output("mcp", "token", "--op", "read_text_file");
  const text = bench.read(FILE);
  expect(first).not.toContain("Made a home");
  expect(first).toContain("expires in 2 h");
  expect(first).toContain(`--home ${bench.home} --token @${bench.path(FILE)}`);
  expect(first).not.toContain(text.trim());
  await bench.output("mcp", "token", "--op", "write_file");
  expect(bench.read(FILE)).not.toBe(text);
  expect(await bench.output("inspect", `@${FILE}`)).toContain("write_file");
});

test("mcp token says how to revoke copies of a token that it replaces while that token is in force", async () => {
  const first = await bench.output("mcp", "token", "--op", "read_text_file");
  expect(first).not.toContain("Copies");
  const copy = bench.read(FILE).trim();
  const { id } = (await bench.json("inspect", copy))["capability"];
  const second = await bench.output("mcp", "token", "--op", "write_file");
  expect(second).toContain(`the token that it replaces, ${id}, stay valid`);
  const [, words = ""] = / revoke (--home .*)/.exec(second) ?? [];
  await bench.output("revoke", ...words.split(" "));
  const check = ["verify", copy, "--grant", "mcp", "--op", "read_text_file"];
  expect((await bench.run(check)).status).toBe(5);

  await bench.output("revoke", `@${FILE}`);
  expect(await bench.output("mcp", "token", "--op", "a")).not.toContain("Copies");
  bench.write(FILE, "no token");
  const third = await bench.json("mcp", "token", "--op", "a");
  expect(third).not.toHaveProperty("replaced");
  expect(await bench.json("mcp", "token", "--op", "a")).toMatchObject({
    replaced: { id: third["id"], revocationId: third["revocationId"] },
  });
});

test("mcp token prints commands whose words a shell reads as they are, also for a home with a space in its name", async () => {
  const home = ["--home", bench.path("my home")];
  await bench.output("mcp", "token", "--op", "a", ...home);
  const second = await bench.output("mcp", "token", "--op", "b", ...home);
  expect(second).toContain(` revoke --home '${bench.path("my home")}' --id rv_`);
  expect(second).toContain(` mcp gate --home '${bench.path("my home")}' `);
});

test("mcp token does not wait for a writer if its output is a named pipe", async () => {
  execFileSync("mkfifo", [bench.path("pipe")]);
  const { status } = await bench.run(["mcp", "token", "--op", "a", "--output", "pipe"]);
  expect(status).toBe(0);
});

test("mcp token accepts the flags of mint, and verify enforces the token's limits", async () => {
  const limits = ["--arg", "read_text_file:path under /data", "--only-args", "read_text_file:path"];
  await bench.output(
    "mcp",
    "token",
    "-o",
    "t",
    "--grant",
    "files",
    "--op",
    "read_text_file",
    ...limits,
  );
  expect(await bench.output("mcp", "token", "-o", "u", "--grant", "files", "--op", "a")).toContain(
    `--grant files --token @${bench.path("u")}`,
  );
  const verify = (...args: readonly string[]) =>
    bench.json("verify", "@t", "--grant", "files", "--op", "read_text_file", ...args);
  expect(await verify("--arg", "path=/data/a")).toMatchObject({ status: 0, allowed: true });
  expect(await verify("--arg", "path=/data/../etc")).toMatchObject({ status: 1 });
  expect(await verify("--arg", "path=/data/a", "--arg", "head=1")).toMatchObject({ status: 1 });
});

test("mcp token refuses an unlisted operation of a grant that the home lists, and accepts any operation of an unlisted grant", async () => {
  await bench.init("--grant", "documents:read=retrieve", "--grant", "files=read_text_file");
  await bench.output("mcp", "token", "--op", "any_tool_of_a_server");
  const { status, stderr } = await bench.run([
    "mcp",
    "token",
    "--grant",
    "files",
    "--op",
    "write_file",
  ]);
  expect(status).toBe(2);
  expect(stderr).toContain("write_file");
});

test.each([
  [[], "no tool is named"],
  [["--op", "a", "--any-op"], "--op and --any-op exclude each other"],
  [["--op", "a", "--expires", "100d"], "is later than this issuer allows"],
  [["--op", "a", "-o", "."], "is a folder"],
  [["--op", "resources:raed"], "did you mean resources:read?"],
  [["--op", "files/prompts:gte"], "did you mean prompts:get?"],
  [["--op", "a:b"], "the other operations are resources:read, "],
  [["--op", "a/b/c"], '--op "a/b/c": no call through a gate has this operation'],
  [["--op", "a b/c"], "the part before / is the name of a server"],
  [["--any-op", "--arg", '"resources:raed":path under /d'], "did you mean resources:read?"],
  [["--op", "a", "--invoker", "bob"], "unknown option '--invoker'"],
  [["--op", "a", "--resource", "rh_1"], "unknown option '--resource'"],
])("mcp token refuses the arguments %j, and writes nothing", async (args, message) => {
  const { status, stderr } = await bench.run(["mcp", "token", ...args]);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
  expect(statSync(bench.path(FILE), { throwIfNoEntry: false })).toBeUndefined();
});

test("mcp token fails if it may not write the token file, names the file, and keeps the old token", async () => {
  const folder = bench.path("locked");
  mkdirSync(folder);
  chmodSync(bench.folder, 0o755);
  bench.write("locked/t", "before");
  chmodSync(folder, 0o555);
  const home = join(bench.folder, "open");
  mkdirSync(home);
  chmodSync(home, 0o777);
  const { status, stderr } = await bench.spawned(
    ["mcp", "token", "--home", join(home, "h"), "--op", "a", "-o", "locked/t"],
    { unprivileged: true },
  );
  expect(status).toBe(6);
  expect(stderr).toContain(join(folder, "t"));
  expect(bench.read("locked/t")).toBe("before");
});

test("mcp token and mint name each operation whose contradictory limits allow no call", async () => {
  const limits = ["send:amount>=7", "send:amount<=6"].flatMap((one) => ["--arg", one]);
  const note = 'note: no call of "send" is allowed: the limits leave no value for "amount"\n';
  const options = ["--op", "send,read", ...limits];
  const token = await bench.run(["mcp", "token", ...options]);
  expect(token).toMatchObject({ status: 0, stderr: note });
  const minted = await bench.run(["mint", "--grant", "mcp", ...options]);
  expect(minted).toMatchObject({ status: 0, stderr: note });
  const one = await bench.run(["mcp", "token", "--op", "send", ...limits]);
  expect(one).toMatchObject({ status: 2, stderr: expect.stringContaining("contradict") });
});

test.each([
  ["--op resources:raed", "did you mean resources:read?"],
  ["--arg read:amount<5", "there is no <"],
  ["--expires 1x", "--expires"],
])("mcp token names the file and the line of %s in a request", async (line, message) => {
  bench.write("bad.request", `# A comment\n--op read\n${line}\n`);
  const { status, stderr } = await bench.run(["mcp", "token", "--request", "bad.request"]);
  expect(status).toBe(2);
  expect(stderr).toContain("bad.request, line 3: ");
  expect(stderr).toContain(message);
});

test("mcp token refuses arguments after --, and does not read them as options", async () => {
  const { stderr } = await bench.run(["mcp", "token", "--", "server", "--json"]);
  expect(stderr).toMatch(/^proviso: token takes no argument/);
});

test.each([
  `--arg 'read_text_file:path under /data'`,
  `--arg "read_text_file:path under /data"`,
  `--op 'read_text_file'`,
])("mcp token refuses a request file with a value in shell quotes: %s", async (line) => {
  bench.write("quoted.request", `--op read_text_file\n${line}\n`);
  const { status, stderr } = await bench.run(["mcp", "token", "--request", "quoted.request"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/quoted\.request, line 2: the value of --\w+ is in quotes\nhint: .*leave/);
});
