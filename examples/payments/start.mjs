// `node examples/payments/start.mjs`: makes `.data/` at the first start, with a home, Alice's development token
// and the bank's key. Then it runs the payments desk, which is `proviso serve agent.json`, and the bank. Each
// is a separate process, which runs until it is interrupted.
//
//   --json                   one line of JSON on standard output instead of words
//   --port N, --bank-port N  where to listen on loopback: 8790 and 8791 unless given, 0 for any free port
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const folder = fileURLToPath(new URL(".", import.meta.url));
const command = fileURLToPath(new URL("../../cli/dist/main.cjs", import.meta.url));
const data = join(folder, ".data");
const home = join(data, "home");
const tokens = join(data, "development-tokens.json");

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    port: { type: "string", default: "8790" },
    "bank-port": { type: "string", default: "8791" },
  },
});

if (!existsSync(command)) fail("cli/dist/main.cjs is missing: npm run build makes it");
const ports = [await portFor(values.port), await portFor(values["bank-port"])];
const [deskPort, bankPort] = ports;
// The bank's address is also its name. The desk makes the bank's tokens with the key for this name.
const location = `http://127.0.0.1:${bankPort}/transfers`;
const keys = join(data, `bank-${bankPort}.jwks`);
prepare();

const desk = start([command, "serve", writtenConfig(), "--json"]);
const { approvalsUrl, revocationsUrl } = await firstLine(desk);
const bank = start([join(folder, "bank.mjs"), keys, revocationsUrl, String(bankPort)]);
await firstLine(bank);
const url = `http://127.0.0.1:${deskPort}`;
/** @type {{ token: string }[]} */
const [alice] = JSON.parse(readFileSync(tokens, "utf8"));
const token = alice?.token ?? "";
console.log(
  values.json
    ? JSON.stringify({ url, approvalsUrl, bank: location, token })
    : `
The payments desk serves at ${url}, the bank at ${location}. Ctrl-C stops both.

In another terminal, the payments agent, which waits until Alice has approved what it asks for:

  node examples/payments/agent.mjs ${url}

Alice signs in to the approvals console, ${approvalsUrl}, with her development token:

  ${token}
`,
);

/** Makes files that are missing. Existing files stay as they are. */
function prepare() {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (!existsSync(home)) proviso("init", "--home", home, "--issuer", "payments-desk");
  if (!existsSync(tokens)) {
    const own = { principal: "alice", invoker: "console" };
    const text = JSON.stringify([{ token: randomBytes(24).toString("base64url"), ...own }]);
    writeFileSync(tokens, `${text}\n`, { mode: 0o600 });
  }
  rmSync(keys, { force: true });
  proviso("keys", "service", location, "--home", home, "--output", keys);
}

/** Returns the configuration with the ports and paths of this run. */
function writtenConfig() {
  const config = JSON.parse(readFileSync(join(folder, "agent.json"), "utf8"));
  const file = join(data, "agent.json");
  const { authentication: _, $schema: _schema, ...rest } = config;
  const own = {
    ...rest,
    home,
    skills: join(folder, config.skills),
    listen: { port: deskPort },
    authentication: { development: tokens },
    agentAuth: { ...config.agentAuth, locations: { transfer_funds: location } },
  };
  writeFileSync(file, JSON.stringify(own));
  return file;
}

/** @param {string[]} args */
function proviso(...args) {
  const done = spawnSync(process.execPath, [command, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (done.status !== 0) fail(String(done.stderr));
}

/** Starts a process that ends when the example ends. @param {string[]} args */
function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill("SIGTERM"));
  }
  process.once("exit", () => child.kill("SIGTERM"));
  child.once("close", (code) => process.exit(code ?? 1));
  return child;
}

/** @param {ReturnType<typeof start>} child */
async function firstLine({ stdout }) {
  if (stdout === null) fail("there is no output to read");
  for await (const line of createInterface(stdout)) return JSON.parse(line);
}

/** Returns a port on loopback; for 0, any free port. @param {string} text */
async function portFor(text) {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) fail(`${text} is no port`);
  if (text !== "0") return Number(text);
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
  const { port } = Object(server.address());
  await new Promise((closed) => server.close(closed));
  return port;
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`payments: ${message}\n`);
  process.exit(1);
}
