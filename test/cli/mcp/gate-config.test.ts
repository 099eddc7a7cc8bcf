import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { freePort } from "../../support/free-port.js";
import { Bench } from "../run.js";
import { RunningProgram } from "../running.js";
import { CONFIG, serve, writeAgent } from "../serving.js";
import { fickleServer, fileServer, Host } from "./gating.js";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

const { resolve } = createRequire(import.meta.url);

function program(words: readonly string[]): { command: string; args: readonly string[] } {
  const [command = "", ...args] = words;
  return { command, args };
}

function config(value: object): void {
  writeFileSync(bench.path("gate.json"), JSON.stringify(value));
}

test("a gate with several servers keeps their tools, operations, environments and pins apart", async () => {
  mkdirSync(bench.path("data"));
  bench.write("data/a.txt", "hello");
  const tool = { description: "Sends", inputSchema: { type: "object" } };
  bench.write(
    "tools.json",
    JSON.stringify([
      { ...tool, name: "send" },
      { ...tool, name: "end" },
    ]),
  );
  await bench.output(
    "mcp",
    "token",
    "-o",
    "t",
    "--op",
    "files/read_text_file,one/send,one/end,two/send",
  );
  const fickle = program(fickleServer(bench.path("tools.json")));
  config({
    home: "home",
    token: "t",
    servers: {
      files: program(fileServer(bench.path("data"))),
      one: { ...fickle, env: { OWN: "1", PROVISO_X: "never" } },
      two: { ...fickle, cwd: "data" },
    },
    ledger: { values: ["path"] },
  });
  const host = await Host.start(bench, ["--config", "gate.json"], { PROVISO_HOME: "/nowhere" });
  expect([...(await host.tools())].sort()).toEqual([
    "files__read_text_file",
    "one__end",
    "one__send",
    "two__send",
  ]);
  expect(await host.call("files__read_text_file", { path: bench.path("data/a.txt") })).toBe(
    "hello",
  );
  expect(await host.call("files__write_file", { path: "x" })).toMatch(/^refused/);
  const [one, two] = [await host.call("one__send"), await host.call("two__send")];
  expect(JSON.parse(one)).toMatchObject({ OWN: "1" });
  expect(one).not.toContain("PROVISO");
  expect(two).not.toContain("OWN");
  const pins = await bench.json("mcp", "pins");
  const names = new Set(pins["pins"].map(({ server }: { server: string }) => server));
  const file = bench.path("gate.json");
  expect(names).toEqual(new Set([`files in ${file}`, `one in ${file}`, `two in ${file}`]));
  await expect(host.call("one__end")).rejects.toThrow("exit code 3");
  expect(await host.call("two__send")).not.toMatch(/^refused/);
  await host.close();
  const audit = await bench.output("audit");
  expect(audit).toMatch(/allowed .* files\/read_text_file .*a\.txt/);
  expect(audit).toMatch(/refused .* files\/write_file /);
});

test.each([
  [{ servers: {} }, "servers: must have at least one property"],
  [{ servers: { "a/b": { command: "x" } } }, 'servers["a/b"]: a name must have letters, digits'],
  [{ servers: { a: {} } }, 'servers.a: must have "command" or "url"'],
  [{ servers: { a: { command: "x", url: "http://127.0.0.1/mcp" } } }, "only one of them"],
  [{ servers: { a: { url: "ftp://x/mcp" } } }, "does not begin with https://"],
  [{ servers: { a: { url: "http://other.example/mcp" } } }, "plain http"],
  [
    { servers: { a: { url: "http://127.0.0.1/mcp", headers: { A: { env: "NONE" } } } } },
    "servers.a.headers.A.env: names the variable NONE, which is not set",
  ],
  [
    { servers: { a: { url: "http://127.0.0.1/mcp", headers: { A: { env: "sk-secret" } } } } },
    "servers.a.headers.A.env: names a variable that is not set",
  ],
  [
    { servers: { a: { command: "x" } }, allowedOrigins: ["https://a.example"] },
    "allowedOrigins: is only for a gate that listens",
  ],
  [
    { servers: { a: { command: "x" } }, listen: "127.0.0.1:0", allowedHosts: ["http://a.example"] },
    'allowedHosts: "http://a.example" is not a host name; write a.example',
  ],
  [{ servers: { a: { command: "x" } }, insecure: true }, "--insecure is for servers over HTTP"],
  [{ servers: { a: { command: "x" } }, tokn: "t" }, "tokn: unknown property"],
  [{ servers: { a: { cmd: "x" } } }, 'servers.a.cmd: unknown property; did you mean "command"?'],
  [{ servers: { a: { command: "x" } }, listen: "8080" }, "this is not HOST:PORT"],
  [
    { servers: { a: { command: "x" } }, listen: "127.0.0.1:0", token: "t" },
    "gate.json; callers send theirs in the header Proviso-Capability",
  ],
  [
    { servers: { a: { url: "http://127.0.0.1/mcp" } }, resolvePaths: true },
    "--resolve-paths is for servers",
  ],
])("mcp gate refuses the configuration %j", async (value, message) => {
  await bench.init();
  config(value);
  const { status, stderr } = await bench.run(["mcp", "gate", "--config", "gate.json"]);
  expect([2, 6]).toContain(status);
  expect(stderr).toContain(message);
});

test("mcp gate names a configuration that it cannot read by its absolute path", async () => {
  const { stderr } = await bench.run(["mcp", "gate", "--config", "none.json"]);
  expect(stderr).toContain(`${bench.path("none.json")}: there is no such file`);
  config({ servers: {} });
  const bad = await bench.run(["mcp", "gate", "--config", "gate.json"]);
  expect(bad.stderr).toContain(`${bench.path("gate.json")}: one thing is wrong`);
});

test.each([
  [
    ["--upstream", "ftp://x"],
    "--upstream does not begin with https://",
    "https://server.example/mcp",
  ],
  [["--upstream", "http://a.example/mcp"], "--upstream is plain http: calls would", "--insecure"],
  [["--feed", "http://a.example/r"], "--feed is plain http: requests for", "--insecure"],
  [["--feed", "a.example/r"], "--feed does not begin with", "https://agent.example/revocations"],
])(
  "mcp gate refuses %j, names the option, and says what to write",
  async (words, message, hint) => {
    const keys = ["--keys", "k", "--issuer", "i", "--state", "s"];
    const isFeed = words[0] === "--feed";
    const all = isFeed ? [...keys, ...words, "--", "server"] : words;
    const { status, stderr } = await bench.run(["mcp", "gate", ...all]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("--access-token");
  },
);

test("a gate with --keys checks tokens with the keys and the revocation list of another issuer, and keeps ledger and pins in --state", async () => {
  await bench.init();
  writeAgent(bench);
  const port = await freePort();
  await serve(bench, { ...CONFIG, protocols: ["a2a", "revocations"], listen: { port } });
  const feed = `http://127.0.0.1:${port}/revocations`;
  await bench.output("keys", "service", "files", "--output", "files.jwks");
  const minted = ["--grant", "mcp", "--op", "send", "--service", "files", "--expires", "1h"];
  await bench.output("mint", ...minted, "-o", "t");
  const tool = { name: "send", description: "Sends", inputSchema: { type: "object" } };
  bench.write("tools.json", JSON.stringify([tool]));
  const words = (address: string): readonly string[] => [
    ...["--keys", "files.jwks", "--issuer", "documents-agent", "--feed", address],
    ...["--state", "state", "--token", "@t", "--", ...fickleServer(bench.path("tools.json"))],
  ];
  const elsewhere = { PROVISO_HOME: "/nowhere" };
  const host = await Host.start(bench, words(feed), elsewhere);
  expect(await host.call("send")).not.toMatch(/^refused/);
  const place = ["--database", bench.path("state/proviso.db")];
  await expect.poll(() => bench.output("audit", ...place)).toMatch(/allowed .* send/);
  expect(await bench.output("mcp", "pins", "list", ...place)).toContain("as pinned  send");
  expect(host.stderr).toContain("service files");

  const cut = await Host.start(bench, words(`http://127.0.0.1:${await freePort()}/r`), elsewhere);
  expect(cut.stderr).toContain("every call is refused until the revocation list can be read");
  expect(await cut.call("send")).toMatch(/^refused: .*revocation list is too old/);

  const root = await bench.output("mint", "--grant", "mcp", "--op", "send");
  const foreign = words(feed).map((word) => (word === "@t" ? root : word));
  const refused = await bench.run(["mcp", "gate", ...foreign], { env: elsewhere });
  expect(refused).toMatchObject({ status: 4, stderr: expect.stringContaining("cannot be used") });
});

test("a gate with --upstream passes allowed calls on to a server over Streamable HTTP", async () => {
  await bench.output("mcp", "token", "-o", "t", "--op", "echo");
  const name = "@modelcontextprotocol/server-everything";
  const main = join(dirname(resolve(`${name}/package.json`)), "dist/index.js");
  const port = await freePort();
  const server = new RunningProgram([main, "streamableHttp"], { PORT: String(port) }, bench.folder);
  await server.says(/listening/i, "stderr");
  const url = `http://127.0.0.1:${port}/mcp`;
  const host = await Host.start(bench, ["--token", "@t", "--upstream", url]);
  expect(await host.tools()).toEqual(["echo"]);
  expect(await host.call("echo", { message: "hi" })).toContain("hi");
  expect(await host.call("get-sum", { a: 1, b: 2 })).toMatch(/^refused/);
  expect(await bench.output("mcp", "pins")).toMatch(
    new RegExp(`^http://127.0.0.1:${port}, path [0-9a-f]{16}$`, "m"),
  );
});

test("mcp gate refuses a configuration whose token path begins with @", async () => {
  config({ token: "@t", servers: { one: { command: "server" } } });
  const { status, stderr } = await bench.run(["mcp", "gate", "--config", "gate.json"]);
  expect(status).toBe(6);
  expect(stderr).toContain("token: is the path of a file; leave out the @");
});
