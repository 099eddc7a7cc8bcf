// npm run pictures: runs the built command and the quickstart, and draws their terminal output in
// docs/pictures/*.svg. Ids, handles and times differ from run to run, so they are replaced by "…". A test
// compares each picture with a new run.
//
//   node scripts/pictures.mjs [SCENE…] [--into FOLDER]     all scenes, into docs/pictures, unless given
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { fillLibrary } from "../examples/documents-agent/library.mjs";
import { draw } from "./terminal-picture.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "cli", "dist", "main.cjs");

/** @typedef {{ readonly title: string, readonly text: string }} Recording - The text has colours, as SGR codes. */
/** @typedef {(line: string, status?: number) => Promise<string>} Shell */

/**
 * Returns a function that runs a line such as "proviso inspect @task.token" in a folder. The function returns
 * the line, followed by its coloured output. A line may end in "> FILE". Spaces separate the words; there are
 * no quotes.
 * @param {string} folder
 * @param {string} accessToken
 * @returns {Shell}
 */
function shellIn(folder, accessToken) {
  const { PATH } = process.env;
  const places = { HOME: folder, PROVISO_HOME: join(folder, "home") };
  const env = { PATH, ...places, FORCE_COLOR: "1", PROVISO_ACCESS_TOKEN: accessToken };
  return async (line, status = 0) => {
    const [words = "", file] = line.split(" > ");
    const args = [command, ...words.split(" ").slice(1)];
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: folder, env }).then(
      (printed) => ({ ...printed, code: 0 }),
      (error) => error,
    );
    if (code !== status) throw new Error(`${line}: exit code ${code}: ${stderr}`);
    if (file !== undefined) writeFileSync(join(folder, file), stdout);
    // A terminal shows both output streams.
    const shown = status === 0 ? stdout : `${stdout}${stderr}`;
    return `\u001b[2m$\u001b[22m \u001b[1m${words}\u001b[22m\n${shown}`;
  };
}

/**
 * @template T
 * @param {(folder: string) => Promise<T>} use
 */
async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-pictures-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Records how the holder of a token narrows it: the token's contents, the permissions that are removed, and a
 * refused call.
 */
function tokensAlone() {
  return inFolder(async (folder) => {
    const shell = shellIn(folder, "");
    await shell(
      "proviso init --issuer documents-agent --grant documents:read=list,retrieve,search",
    );
    await shell(
      "proviso mint --grant documents:read --principal alice --op retrieve --op search " +
        "--resource rh_q1 --resource rh_q2 --arg lines<=100 > task.token",
    );
    await shell(
      "proviso attenuate @task.token --op retrieve --resource rh_q1 --expires 5m > summarizer.token",
    );
    const call = "--op list --resource rh_q1 --arg lines=500";
    return {
      inspect: recording(
        "proviso inspect: what a token says, hop by hop",
        await shell("proviso inspect @summarizer.token"),
      ),
      diff: recording(
        "proviso diff: what a hop took away",
        await shell("proviso diff @task.token @summarizer.token"),
      ),
      refusal: recording(
        "proviso verify: a call refused, with every reason",
        await shell(`proviso verify @summarizer.token ${call}`, 1),
      ),
    };
  });
}

/** Records the tree of a token in the documents agent's ledger, after calls with two branches of the token. */
function auditTree() {
  return inFolder(async (folder) => {
    const accessToken = "access-token-of-the-orchestrator";
    const shell = shellIn(folder, accessToken);
    await shell("proviso init --issuer documents-agent");
    const { url, stop } = await serve(folder, accessToken);
    try {
      await shell(
        `proviso request ${url} --grant documents:read --collection reports > task.token`,
      );
      await shell("proviso attenuate @task.token --op search > searcher.token");
      await shell("proviso attenuate @task.token --op list > lister.token");
      await shell(`proviso invoke ${url} search_documents @searcher.token --arg query=revenue`);
      await shell(`proviso invoke ${url} list_documents @lister.token`);
      await shell(`proviso invoke ${url} search_documents @lister.token --arg query=salaries`, 1);
      await shell(`proviso revoke @lister.token --reason injected`);
      await shell(`proviso invoke ${url} list_documents @lister.token`, 5);
    } finally {
      await stop();
    }
    const [id = ""] = /cap_[\w-]{16}/.exec(await shell("proviso inspect @task.token")) ?? [];
    return {
      "audit-tree": recording(
        "proviso audit tree: who held which branch, and what each tried",
        await shell(`proviso audit tree ${id}`),
      ),
    };
  });
}

/**
 * @param {string} folder
 * @param {string} token
 */
async function serve(folder, token) {
  const example = join(root, "examples", "documents-agent");
  const { $schema: _, ...rest } = JSON.parse(readFileSync(join(example, "agent.json"), "utf8"));
  fillLibrary(join(folder, "library"));
  const own = {
    home: join(folder, "home"),
    policy: join(example, "policy.json"),
    skills: join(example, "agent-skills.mjs"),
    resources: { folder: join(folder, "library") },
    authentication: { development: [{ token, principal: "alice", invoker: "agent:orchestrator" }] },
    log: "silent",
  };
  const file = join(folder, "agent.json");
  writeFileSync(file, JSON.stringify({ ...rest, ...own }), { mode: 0o600 });
  const child = spawn(process.execPath, [command, "serve", file, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (data) => {
    complaint += data;
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = () => {
    child.kill();
    return ended;
  };
  /** @type {{ url: string }} */
  const { url } = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    ended.then(() => reject(new Error(`the agent did not start: ${complaint}`)));
  });
  return { url, stop };
}

/** Records the end of the quickstart. */
async function quickstart() {
  const { NO_COLOR: _, ...inherited } = process.env;
  const env = { ...inherited, FORCE_COLOR: "1" };
  const { stdout } = await run(process.execPath, [command, "quickstart"], { env });
  const end = stdout.slice(stdout.lastIndexOf("\u001b[1m"));
  const prompt =
    "\u001b[2m$\u001b[22m \u001b[1mnpm run quickstart\u001b[22m\n\u001b[2m…\u001b[22m\n";
  return { quickstart: recording("The end of npm run quickstart", prompt + end) };
}

/**
 * @param {string} title
 * @param {string} text
 * @returns {Recording}
 */
function recording(title, text) {
  return { title, text: masked(text).trimEnd() };
}

/**
 * Replaces the parts of a text that differ from run to run by "…".
 * @param {string} text
 */
function masked(text) {
  return text
    .replace(/(cap|key|rv|rh)_[\w-]{12,}/g, "$1_…")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…Z")
    .replace(/\b(?:in )?\d+ (?:s|min)( ago)?(?=[ )])/g, (_, ago = "") => (ago ? "… ago" : "in …"))
    .replace(/(nonce[^"\n]*)"[^"\n]*"/g, '$1"…"');
}

/** @type {Record<string, () => Promise<Record<string, Recording>>>} */
const scenes = { tokens: tokensAlone, tree: auditTree, quickstart };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { into: { type: "string", default: join(root, "docs", "pictures") } },
});
const names = positionals.length === 0 ? Object.keys(scenes) : positionals;
mkdirSync(values.into, { recursive: true });
for (const name of names) {
  const scene = scenes[name];
  if (scene === undefined) throw new Error(`there is no scene ${name}`);
  for (const [picture, { title, text }] of Object.entries(await scene())) {
    writeFileSync(join(values.into, `${picture}.svg`), draw(title, text));
    console.log(`${picture}.svg`);
  }
}
