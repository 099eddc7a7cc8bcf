// A narrated run of the real command and library over real files in a temporary folder:
//
//   an issuing agent for a folder of documents mints a capability; an orchestrator narrows it offline;
//   a sub-agent reads the one document it may read; an injected prompt makes it try five other things;
//   one branch is revoked, and its sibling still works.
//
// Exit code 0 if everything happened as told, 1 otherwise.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { revocationId } from "proviso";
import { createIssuer, openRevocationStore, readKeyringFile } from "proviso/issuer";
import {
  addFirstPartyCaveat,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "proviso/macaroon";

const command = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "proviso-quickstart-"));
const home = join(folder, "home");
const bold =
  process.stdout.isTTY && !process.env["NO_COLOR"] ? ["\u001b[1m", "\u001b[0m"] : ["", ""];

/** @type {{ step: string, expected: string, happened: string }[]} */
const table = [];

/** @param {string} text */
function tell(text) {
  console.log(text);
}

/** @param {string} text */
function chapter(text) {
  tell(`\n${bold[0]}${text}${bold[1]}`);
}

/**
 * Notes one line of the final table.
 * @param {string} step
 * @param {string} expected
 * @param {string} happened
 */
function note(step, expected, happened) {
  table.push({ step, expected, happened });
}

/**
 * Runs the real command and shows it, without the token.
 * @param {string[]} args
 * @param {{ input?: string, withHome?: boolean }} options
 */
function proviso(args, { input = "", withHome = true } = {}) {
  tell(
    `  $ proviso ${args.map((word) => (/^[\w:@/.=-]+$/.test(word) ? word : `'${word}'`)).join(" ")}`,
  );
  // A holder has no home: point it at a folder that does not exist.
  const env = {
    ...process.env,
    NO_COLOR: "1",
    PROVISO_HOME: withHome ? home : join(folder, "nowhere"),
  };
  const result = spawnSync(process.execPath, [command, ...args], { input, env, encoding: "utf8" });
  if (result.error) throw result.error;
  return { code: result.status, out: result.stdout.trim(), err: result.stderr.trim() };
}

/** @param {{ code: number | null, out: string, err: string }} result */
function succeeded(result) {
  if (result.code !== 0) throw new Error(`exit code ${result.code}: ${result.err}`);
  return result.out;
}

// ---- The issuing agent: it alone has the home with the root key, and the documents. ----

const documents = new Map([
  ["rh_q1", ["q1-report.md", "# First quarter\n\nRevenue rose by 4 percent.\n"]],
  ["rh_q2", ["q2-report.md", "# Second quarter\n\nRevenue rose by 6 percent.\n"]],
  ["rh_pay", ["salaries.md", "# Salaries\n\nConfidential.\n"]],
]);

/**
 * What the documents agent answers: the document, or every reason why not.
 * @param {string} token
 * @param {string} operation
 * @param {string} handle
 * @param {{ invoker?: string, lines?: number }} [call]
 */
async function documentsAgent(
  token,
  operation,
  handle,
  { invoker = "agent:summarizer", lines = 10 } = {},
) {
  const store = await openRevocationStore(join(home, "store.db"));
  try {
    const keys = readKeyringFile(join(home, "keyring.json"));
    const issuer = createIssuer({ name: "documents-agent", keys, revocations: store });
    const decision = issuer.authorize(token, {
      operation,
      resourceHandles: [handle],
      arguments: { lines },
      invoker,
    });
    if (!decision.allowed) return { denials: decision.denials };
    const [file = ""] = documents.get(handle) ?? [];
    return { document: readFileSync(join(folder, "documents", file), "utf8") };
  } finally {
    store.close();
  }
}

async function run() {
  chapter("1. The documents agent sets up and mints");
  mkdirSync(join(folder, "documents"));
  for (const [file = "", text = ""] of documents.values()) {
    writeFileSync(join(folder, "documents", file), text);
  }
  succeeded(proviso(["init", "--issuer", "documents-agent"]));
  const token = succeeded(
    proviso([
      ...["mint", "--grant", "documents:read", "--principal", "user:alice"],
      ...["--op", "retrieve", "--op", "search", "--resource", "rh_q1", "--resource", "rh_q2"],
      ...[
        "--arg",
        "lines<=100",
        "--expires",
        "15m",
        "--purpose",
        "summarize the quarterly reports",
      ],
    ]),
  );
  tell(`  One token, ${token.length} characters: two operations on two documents, for 15 minutes.`);
  note("mint", "a token", token === "" ? "nothing" : "a token");

  chapter("2. The orchestrator narrows it, offline, for two sub-agents");
  const forSummarizer = succeeded(
    proviso(
      [
        ...["attenuate", "-", "--op", "retrieve", "--resource", "rh_q1", "--arg", "lines<=20"],
        ...["--invoker", "agent:summarizer", "--expires", "5m"],
      ],
      { input: token, withHome: false },
    ),
  );
  const forAuditor = succeeded(
    proviso(
      ["attenuate", "-", "--op", "retrieve", "--invoker", "agent:auditor", "--expires", "5m"],
      {
        input: token,
        withHome: false,
      },
    ),
  );
  tell("  No key, no home, no network. What the summarizer lost:");
  const parentFile = join(folder, "parent.token");
  const childFile = join(folder, "child.token");
  writeFileSync(parentFile, token, { mode: 0o600 });
  writeFileSync(childFile, forSummarizer, { mode: 0o600 });
  const changes = succeeded(
    proviso(["diff", `@${parentFile}`, `@${childFile}`], { withHome: false }),
  );
  tell(changes.replace(/^/gm, "    "));
  note(
    "narrow offline, twice",
    "two tokens",
    forAuditor && forSummarizer ? "two tokens" : "nothing",
  );

  chapter("3. The summarizer reads the document it may read");
  const read = await documentsAgent(forSummarizer, "retrieve", "rh_q1");
  tell((read.document ?? "refused").trim().replace(/^/gm, "    "));
  note(
    "permitted read",
    "the document",
    read.document?.includes("4 percent") ? "the document" : "refused",
  );

  chapter("4. The document it reads carries an injected prompt. It tries what it was told");
  await attack("read the salaries", forSummarizer, "retrieve", "rh_pay", {}, "resource_denied");
  await attack("delete the report", forSummarizer, "delete", "rh_q1", {}, "operation_denied");
  await attack(
    "read far more lines",
    forSummarizer,
    "retrieve",
    "rh_q1",
    { lines: 5000 },
    "constraint_violated",
  );
  await attack(
    "drop its own hop",
    withoutLastHop(forSummarizer),
    "retrieve",
    "rh_q2",
    {},
    "signature_mismatch",
  );
  const widened = macaroonToText(
    addFirstPartyCaveat(parseMacaroon(forSummarizer), '{"operations":["delete","retrieve"]}'),
  );
  await attack(
    "append a hop that asks for more",
    widened,
    "delete",
    "rh_q1",
    {},
    "operation_denied",
  );

  chapter("5. The orchestrator has the summarizer's branch revoked");
  succeeded(
    proviso(["revoke", "--id", revocationId(forSummarizer), "--reason", "injected prompt"]),
  );
  await attack("the summarizer reads again", forSummarizer, "retrieve", "rh_q1", {}, "revoked");
  const sibling = await documentsAgent(forAuditor, "retrieve", "rh_q2", {
    invoker: "agent:auditor",
  });
  tell(`  The auditor's token, a sibling: ${sibling.document ? "still reads" : "refused"}`);
  note(
    "the auditor reads",
    "the document",
    sibling.document?.includes("6 percent") ? "the document" : "refused",
  );
}

/**
 * One thing that an injected prompt would make a sub-agent try.
 * @param {string} what
 * @param {string} token
 * @param {string} operation
 * @param {string} handle
 * @param {{ lines?: number }} call
 * @param {string} expected
 */
async function attack(what, token, operation, handle, call, expected) {
  const answer = await documentsAgent(token, operation, handle, call);
  const codes = [...new Set((answer.denials ?? []).map((denial) => denial.code))];
  tell(`  ${what}: ${answer.denials ? "refused" : "ALLOWED"}`);
  for (const { code, hop, message } of answer.denials ?? []) {
    tell(`    ${code}${hop === undefined ? "" : ` at hop ${hop}`}: ${message}`);
  }
  note(
    what,
    `refused: ${expected}`,
    codes.length === 0 ? "allowed" : `refused: ${codes.join(", ")}`,
  );
}

/**
 * The parent rebuilt from a child: all that a holder of the child can make of it.
 * @param {string} token
 */
function withoutLastHop(token) {
  const child = JSON.parse(writeMacaroons([parseMacaroon(token)], "v2json"));
  child.c.pop();
  return JSON.stringify(child);
}

try {
  await run();
} catch (error) {
  note("no error", "none", error instanceof Error ? error.message : String(error));
} finally {
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
tell(deviations === 0 ? "\nEverything happened as told." : `\n${deviations} deviations.`);
process.exitCode = deviations === 0 ? 0 : 1;
