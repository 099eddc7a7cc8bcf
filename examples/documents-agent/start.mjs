// `npm start`: makes `.data/` at the first start (home, documents, development tokens), then runs the
// real command, `proviso serve agent.json`, until it is interrupted.
//
//   --json      one line of JSON on standard output instead of words
//   --port N    where to listen on loopback; any free port unless given
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fillLibrary } from "./library.mjs";

/** @typedef {{ token: string, principal: string, invoker: string }} DevelopmentToken */
/** @typedef {{ cardUrl: string, rpcUrl: string, restUrl: string, url: string, mode: string }} Served */

const command = fileURLToPath(new URL("../../cli/dist/main.cjs", import.meta.url));
const config = fileURLToPath(new URL("agent.json", import.meta.url));
const data = fileURLToPath(new URL(".data", import.meta.url));
const home = join(data, "home");
const tokensFile = join(data, "development-tokens.json");

/** The users who may try the agent, each with a client agent. */
const CALLERS = [
  { principal: "alice", invoker: "agent:orchestrator" },
  { principal: "bob", invoker: "agent:assistant" },
  { principal: "carol", invoker: "agent:legacy-tool" },
];

function options() {
  try {
    const { values } = parseArgs({
      options: { json: { type: "boolean", default: false }, port: { type: "string" } },
    });
    return values;
  } catch (error) {
    fail(`${error instanceof Error ? error.message : error}; there are --json and --port N`, 2);
  }
}

/**
 * @param {string} message
 * @param {number} code
 * @returns {never}
 */
function fail(message, code) {
  process.stderr.write(`documents agent: ${message}\n`);
  process.exit(code);
}

/** Makes files that are missing. Existing files stay as they are. */
function prepare() {
  if (!existsSync(command)) fail("cli/dist/main.cjs is missing: npm run build makes it", 1);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (!existsSync(home)) {
    const made = spawnSync(
      process.execPath,
      [command, "init", "--home", home, "--issuer", "documents-agent"],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    // Another start may have made the home at the same time.
    if (made.status !== 0 && !existsSync(home)) fail("the home could not be made", 1);
  }
  fillLibrary(join(data, "library"));
  if (!existsSync(tokensFile)) writeTokens();
}

function writeTokens() {
  const tokens = CALLERS.map((caller) => ({
    token: randomBytes(24).toString("base64url"),
    ...caller,
  }));
  const temporary = `${tokensFile}.${process.pid}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(tokens, undefined, 2)}\n`, { mode: 0o600 });
    // The link is atomic, and never replaces a file that another start has made.
    linkSync(temporary, tokensFile);
  } catch (error) {
    if (!existsSync(tokensFile)) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Runs the command until it ends.
 *
 * @param {string[]} args
 * @param {(served: Served) => void} onReady
 */
function serve(args, onReady) {
  // The child has a process group of its own, so that it receives an interrupt only once, from this process.
  // Through the IPC channel, it notices when this process is gone.
  const child = spawn(process.execPath, [command, "serve", config, "--json", ...args], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    detached: true,
  });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal === "SIGHUP" ? "SIGTERM" : signal));
  }
  // If npm is killed silently, this process would otherwise stay behind.
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) child.kill();
    }, 500).unref();
  }
  if (child.stdout !== null) {
    createInterface(child.stdout).once("line", (line) => onReady(JSON.parse(line)));
  }
  child.once("error", (error) => fail(error.message, 1));
  child.once("close", (code) => process.exit(code ?? 1));
}

/**
 * @param {Served} served
 * @param {readonly DevelopmentToken[]} tokens
 */
function asJson(served, tokens) {
  const [first] = tokens;
  const byPrincipal = Object.fromEntries(tokens.map(({ principal, token }) => [principal, token]));
  const { token, principal, invoker } = first ?? {};
  return JSON.stringify({ ...served, token, principal, invoker, tokens: byPrincipal, home });
}

/**
 * @param {Served} served
 * @param {readonly DevelopmentToken[]} tokens
 */
function inWords({ url, cardUrl, mode }, tokens) {
  const [first] = tokens;
  // npm runs this script in the package's folder; INIT_CWD is the folder in which the user called npm.
  const folder = process.env["INIT_CWD"] ?? process.cwd();
  const proviso = `node ${word(relative(folder, command))}`;
  const file = word(relative(folder, join(data, "task.token")));
  return `
The documents agent serves at ${url} (capabilities: ${mode}). Ctrl-C stops it.

  card   ${cardUrl}
  token  ${first?.token}
         of ${first?.principal}, for development; the others' are in ${word(relative(folder, tokensFile))}

Three commands to try in another terminal:

  export URL=${url} PROVISO_ACCESS_TOKEN=${first?.token}

  ${proviso} card "$URL"
  ${proviso} request "$URL" --grant documents:read --collection reports \\
    --filter quarter=2025-Q1 --purpose 'sum up the first quarter' > ${file}
  ${proviso} invoke "$URL" search_documents @${file} --arg query=revenue
`;
}

/**
 * Quotes a string as one word of a shell.
 *
 * @param {string} text
 */
function word(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const { json, port } = options();
prepare();
serve(port === undefined ? [] : ["--port", port], (served) => {
  /** @type {DevelopmentToken[]} */
  const tokens = JSON.parse(readFileSync(tokensFile, "utf8"));
  process.stdout.write(json ? `${asJson(served, tokens)}\n` : inWords(served, tokens));
});
