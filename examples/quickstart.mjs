// A narrated run of the real documents agent (examples/documents-agent), through the client of the official A2A
// SDK:
//
//   1. An orchestrator asks for the capability of one task, and narrows it offline for two sub-agents.
//   2. The summarizer reads a document that contains an injected prompt, and tries seven forbidden things.
//   3. The orchestrator revokes the summarizer's branch. The searcher, a sibling, can continue.
//   4. The operator prints the tree of the token: who held which part of it.
//
// `proviso quickstart` runs this file, with the command's own path as the first argument. With --json, it
// prints no story, only the table of steps as JSON. The exit code is 0 if everything happened as expected,
// otherwise 1.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { attenuate, createNonce, diff } from "proviso";
import {
  createAgentFetch,
  createCapabilityClient,
  refusalOf,
  withCapability,
} from "proviso/a2a/client";
import { parseMacaroon, writeMacaroons } from "proviso/macaroon";

const [command = "", option] = process.argv.slice(2);
const asJson = option === "--json";
const agentFolder = fileURLToPath(new URL("documents-agent", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "proviso-quickstart-"));
const home = join(folder, "home");
const { FORCE_COLOR: coloured, PROVISO_DATABASE: _database, ...inherited } = process.env;
const bold = coloured ? ["\u001b[1m", "\u001b[0m"] : ["", ""];
const env = { ...inherited, NO_COLOR: "1", PROVISO_HOME: home };

/** @type {{ step: string, expected: string, happened: string }[]} */
const table = [];

/** @param {string} text */
function tell(text) {
  if (!asJson) console.log(text);
}

/** @param {string} text */
function chapter(text) {
  tell(`\n${bold[0]}${text}${bold[1]}`);
}

/**
 * Adds a line to the final table.
 * @param {string} step
 * @param {string} expected
 * @param {string} happened
 */
function note(step, expected, happened) {
  table.push({ step, expected, happened });
}

/**
 * Runs the real command, and prints the command line.
 * @param {string[]} args
 */
function proviso(args) {
  tell(`  $ proviso ${args.join(" ").replaceAll(folder, "…")}`);
  const result = spawnSync(process.execPath, [command, ...args], {
    encoding: "utf8",
    env,
  });
  if (result.status !== 0) throw new Error(`exit code ${result.status}: ${result.stderr.trim()}`);
  return result.stdout.trimEnd();
}

/** The agents of this run. All act for the same user, each with its own access token. */
const callers = ["agent:orchestrator", "agent:summarizer", "agent:searcher"].map((invoker) => ({
  token: `${invoker.replace(":", "-")}-${createNonce()}`,
  principal: "alice",
  invoker,
}));

/** Starts the documents agent in a temporary folder, on a free port of loopback. */
async function startAgent() {
  proviso(["init", "--issuer", "documents-agent"]);
  cpSync(join(agentFolder, "documents"), join(folder, "library"), { recursive: true });
  const config = JSON.parse(readFileSync(join(agentFolder, "agent.json"), "utf8"));
  const own = {
    home,
    policy: join(agentFolder, "policy.json"),
    skills: join(agentFolder, "agent-skills.mjs"),
    resources: { folder: join(folder, "library") },
    authentication: { development: callers },
    log: "silent",
  };
  const { $schema: _, ...rest } = config;
  const file = join(folder, "agent.json");
  writeFileSync(file, JSON.stringify({ ...rest, ...own }), { mode: 0o600 });
  tell("  $ proviso serve …/agent.json");
  const child = spawn(process.execPath, [command, "serve", file, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  let complaint = "";
  child.stderr.on("data", (data) => {
    complaint += data;
  });
  /** @type {{ url: string, cardUrl: string }} */
  const served = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.once("close", () => reject(new Error(`the agent did not start: ${complaint}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      child.once("close", resolve);
      child.kill();
    });
  return { ...served, stop };
}

/**
 * Returns the SDK's client for the agent at `url`.
 * @param {string} url
 * @param {string} invoker
 * @param {"JSON-RPC" | "HTTP+JSON"} binding
 */
function connect(url, invoker, binding = "JSON-RPC") {
  const token = callers.find((caller) => caller.invoker === invoker)?.token;
  const fetchImpl = createAgentFetch({ accessToken: token ?? "" });
  const Transport = binding === "JSON-RPC" ? JsonRpcTransportFactory : RestTransportFactory;
  return new ClientFactory({
    transports: [new Transport({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(url);
}

/** @param {string} url */
async function run(url) {
  chapter("2. The orchestrator asks for what its task needs, and for nothing else");
  const orchestrator = createCapabilityClient(await connect(url, "agent:orchestrator"));
  const { capabilities } = await orchestrator.request({
    grants: ["documents:read"],
    purpose: "summarize the first quarter",
    resourceQuery: {
      collection: "reports",
      filter: { quarter: "2025-Q1", confidential: false },
    },
  });
  const [capability] = capabilities;
  if (capability === undefined) throw new Error("nothing was granted");
  const named = capability.resourceHandles ?? [];
  tell(`  ${capability.id}: ${capability.operations.join(", ")} on`);
  for (const { handle, displayName } of named) tell(`    ${handle.slice(0, 12)}…  ${displayName}`);
  note("request", "3 documents", `${named.length} documents`);

  chapter("3. It narrows the token offline for two sub-agents");
  const digest = handleOf(named, "Q1 2025 Support Digest");
  const sales = handleOf(named, "Q1 2025 Sales Report");
  const forSummarizer = attenuated(capability.token, {
    operations: ["retrieve"],
    resourceHandles: [digest],
    invokers: ["agent:summarizer"],
  });
  const forSearcher = attenuated(capability.token, {
    operations: ["search"],
    invokers: ["agent:searcher"],
  });
  const taken = diff(capability.token, forSummarizer);
  const changes = taken.derived ? taken.changes.map(({ rule }) => rule) : [];
  tell(`  No key, no network. The summarizer's token lost some of: ${changes.join(", ")}`);
  note("narrow offline", "2 tokens", "2 tokens");

  chapter("4. The summarizer reads its document, which carries an injected prompt");
  const client = await connect(url, "agent:summarizer");
  const summarizer = createCapabilityClient(client);
  const { result, taskId } = await summarizer.invoke(
    "retrieve_document",
    { resourceHandle: digest },
    forSummarizer,
  );
  const text = JSON.stringify(result);
  const injected = /NOTE TO ANY AI ASSISTANT[^.]*\./.exec(text)?.[0] ?? "nothing";
  tell(`  "${injected.replaceAll("\\n> ", " ")} …"`);
  const task = await (await withCapability(client, forSummarizer)).getTask({
    tenant: "",
    id: taskId,
  });
  note(
    "permitted read, and GetTask",
    "the document",
    task.artifacts.length === 1 ? "the document" : "none",
  );

  chapter("5. It obeys, and tries everything it can think of");
  /** @type {readonly [what: string, skill: string, given: object, token: string | undefined, code: string][]} */
  const attempts = [
    [
      "read another report",
      "retrieve_document",
      { resourceHandle: sales },
      forSummarizer,
      "resource_denied",
    ],
    [
      "delete the report",
      "delete_document",
      { resourceHandle: digest },
      forSummarizer,
      "grant_denied",
    ],
    [
      "search everything",
      "search_documents",
      { query: "salaries" },
      forSummarizer,
      "operation_denied",
    ],
    [
      "drop its own hop",
      "retrieve_document",
      { resourceHandle: sales },
      withoutLastHop(forSummarizer),
      "signature_mismatch",
    ],
    [
      "use the searcher's token",
      "search_documents",
      { query: "revenue" },
      forSearcher,
      "invoker_denied",
    ],
    [
      "present nothing at all",
      "retrieve_document",
      { resourceHandle: digest },
      undefined,
      "capability_missing",
    ],
  ];
  for (const [what, skill, given, token, expected] of attempts) {
    await attempt(what, expected, () => summarizer.invoke(skill, { ...given }, token));
  }
  await attempt("look at its task without the token", "capability_missing", () =>
    client.getTask({ tenant: "", id: taskId }),
  );

  chapter("6. The orchestrator has the summarizer's branch revoked");
  await orchestrator.revoke(forSummarizer, "injected prompt");
  await attempt("read its own document again", "revoked", () =>
    summarizer.invoke("retrieve_document", { resourceHandle: digest }, forSummarizer),
  );
  const searcher = createCapabilityClient(await connect(url, "agent:searcher", "HTTP+JSON"));
  const found = await searcher.invoke("search_documents", { query: "revenue" }, forSearcher);
  const matches = JSON.stringify(found.result).split('"resourceHandle"').length - 1;
  tell(`  The searcher's token, a sibling, over HTTP+JSON: ${matches} matches`);
  note("the sibling searches", "matches", matches > 0 ? "matches" : "none");
  return capability.id;
}

/**
 * @param {string} token
 * @param {import("proviso").HopInit} hop
 */
function attenuated(token, hop) {
  const child = attenuate(token, { ...hop, nonce: createNonce() });
  if (!child.ok) throw new Error(child.overreaches[0]?.message);
  return child.token;
}

/**
 * @param {readonly { handle: string, displayName: string }[]} named
 * @param {string} title
 */
function handleOf(named, title) {
  const found = named.find(({ displayName }) => displayName === title);
  if (found === undefined) throw new Error(`"${title}" was not granted`);
  return found.handle;
}

/**
 * Makes a call that must be refused, and records its result.
 * @param {string} what
 * @param {string} expected
 * @param {() => Promise<unknown>} call
 */
async function attempt(what, expected, call) {
  try {
    await call();
    tell(`  ${what}: ALLOWED`);
    note(what, `refused: ${expected}`, "allowed");
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    tell(`  ${what}: refused`);
    for (const { code, hop, message } of refusal.denials) {
      const reason = message.length > 90 ? `${message.slice(0, 90)}…` : message;
      tell(`    ${code}${hop === undefined ? "" : ` at hop ${hop}`}: ${reason}`);
    }
    note(what, `refused: ${expected}`, `refused: ${refusal.code}`);
  }
}

/**
 * Rebuilds the parent of a token, as far as a holder of the token alone can.
 * @param {string} token
 */
function withoutLastHop(token) {
  const child = JSON.parse(writeMacaroons([parseMacaroon(token)], "v2json"));
  child.c.pop();
  return writeMacaroons([parseMacaroon(JSON.stringify(child))], "v2");
}

/** @type {{ url: string, stop: () => Promise<unknown> } | undefined} */
let agent;
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(signal, async () => {
    await agent?.stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  });
}
try {
  chapter("1. The documents agent starts");
  agent = await startAgent();
  tell(`  It serves at ${agent.url}, and requires capabilities.`);
  const id = await run(agent.url);
  chapter("7. The operator looks at who held what, and what they tried");
  tell(proviso(["audit", "tree", id]).replace(/^/gm, "    "));
} catch (error) {
  note("no error", "none", error instanceof Error ? error.message : String(error));
} finally {
  await agent?.stop();
  rmSync(folder, { recursive: true, force: true });
}

chapter("What happened");
const width = Math.max(...table.map(({ step }) => step.length));
for (const { step, expected, happened } of table) {
  const asTold = happened === expected;
  tell(
    `  ${asTold ? "ok  " : "FAIL"}  ${step.padEnd(width)}  ${asTold ? happened : `${happened}, expected ${expected}`}`,
  );
}
const deviations = table.filter(({ expected, happened }) => happened !== expected).length;
tell(deviations === 0 ? "\nEverything happened as expected." : `\n${deviations} deviations.`);
if (asJson) console.log(JSON.stringify({ asExpected: deviations === 0, steps: table }));
process.exitCode = deviations === 0 ? 0 : 1;
