import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Duplex, Transform } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import { connectSession } from "../../../src/protocols/a2e/index.js";
import { MAIN } from "../../support/built.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { holdSession } from "./hold-session.js";
import { type Line, transcriptOf } from "./transcript.js";

// The SDK's own client talks to our host, and our client to the SDK's own host. `npm run test:peers` runs these
// tests with a checkout of a2eprotocol/python-sdk. spec-vectors/a2e-sdk.json has the messages.

const HERE = new URL(".", import.meta.url).pathname;
const VECTORS = new URL("../../../spec-vectors/a2e-sdk.json", import.meta.url);
const EXAMPLE = new URL("../../../examples/session/", import.meta.url).pathname;
const PYTHON = process.env["PROVISO_PYTHON"] ?? "python3";
const NAME = "PROVISO_A2E_SDK";
const CHECKOUT = process.env[NAME] ?? "";
const COMMIT = "c8fc1f87000f02a27c98f5700f3f62b6fc4e3ba7";

/** Returns the reason why the SDK cannot run; `undefined` if it can run. */
function missing(): string | undefined {
  if (CHECKOUT === "") return "is not set";
  if (!existsSync(join(CHECKOUT, "a2e/core/client/client.py"))) {
    return `names ${CHECKOUT}, where the SDK is not`;
  }
  const check = 'import pydantic, requests; assert pydantic.VERSION >= "2"';
  if (spawnSync(PYTHON, ["-c", check]).status === 0) return undefined;
  return `is set, and ${PYTHON} lacks pydantic 2 or requests (PROVISO_PYTHON names another)`;
}

const why = missing();
const head = spawnSync("git", ["-C", CHECKOUT || ".", "rev-parse", "HEAD"], { encoding: "utf8" });
if (why !== undefined) console.warn(`${NAME} ${why}: A2E's SDK is skipped (docs/testing.md)`);
else if (head.stdout.trim() !== COMMIT) console.warn(`${NAME} is not at ${COMMIT}`);

interface Held {
  readonly outcome: JsonObject;
  readonly lines: readonly Line[];
}

/**
 * Compares a session with the one in spec-vectors/a2e-sdk.json. With PROVISO_WRITE_TRANSCRIPTS=1, writes it to
 * that file instead.
 */
function settle(direction: "client" | "host", held: Held): void {
  const vectors = JSON.parse(readFileSync(VECTORS, "utf8"));
  if (process.env["PROVISO_WRITE_TRANSCRIPTS"] === "1") {
    vectors[direction] = held;
    writeFileSync(VECTORS, `${JSON.stringify(vectors, null, 2)}\n`);
    return;
  }
  expect(held).toEqual(vectors[direction]);
}

test.skipIf(why !== undefined)(
  "the A2E SDK's client holds the session of a2e-sdk.json with proviso's host",
  () => {
    const folder = temporaryFolder();
    for (const file of ["tools.mjs", "countdown.mjs"])
      cpSync(join(EXAMPLE, file), join(folder, file));
    const { plugins } = JSON.parse(readFileSync(join(EXAMPLE, "session.json"), "utf8"));
    writeFileSync(join(folder, "session.json"), JSON.stringify({ home: "home", plugins }));
    const proviso = (...words: readonly string[]): string => {
      const run = spawnSync(process.execPath, [MAIN, ...words], { cwd: folder, encoding: "utf8" });
      expect(run.stderr).toBe("");
      return run.stdout.trim();
    };
    proviso("init", "--home", "home", "--issuer", "h");
    const mint = ["mint", "--home", "home", "--any-op", "--principal", "alice", "--expires", "1h"];
    const tokens = [
      proviso(...mint, "--grant", "a2e:tools", "--arg", "tool_name in add,count_words"),
      proviso(...mint, "--grant", "a2e:memory"),
      proviso(...mint, "--grant", "a2e:proc"),
    ].join(",");
    const command = [process.execPath, MAIN, "session", "serve", "session.json", "--stdio"];
    const run = spawnSync(PYTHON, [join(HERE, "sdk_client.py"), tokens, folder, ...command], {
      encoding: "utf8",
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    });
    expect(run.stderr).toBe("");
    const { outcome, logged, lines } = JSON.parse(run.stdout);
    // The SDK's client does not fail on a message of the wrong shape, but only logs it.
    expect(logged).toEqual([]);
    settle("client", { outcome, lines: transcriptOf(lines, new Map([[tokens, `\${tokens}`]])) });
  },
);

test.skipIf(why !== undefined)(
  "proviso's client holds the session of a2e-sdk.json with the A2E SDK's host",
  async () => {
    const host = spawn(PYTHON, [join(HERE, "sdk_host.py")], {
      stdio: ["pipe", "pipe", "ignore"],
      cwd: HERE,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: HERE },
    });
    const ended = new Promise((resolve) => host.once("close", resolve));
    onTestFinished(async () => {
      host.kill();
      await ended;
    });
    const lines: Line[] = [];
    const seen = (from: Line["from"]): Transform => {
      let text = "";
      return new Transform({
        transform(chunk, _encoding, done) {
          const all = `${text}${chunk}`.split("\n");
          text = all.pop() ?? "";
          for (const line of all) lines.push({ from, message: JSON.parse(line) });
          done(null, chunk);
        },
      });
    };
    const out = seen("agent");
    const into = seen("host");
    out.pipe(host.stdin);
    host.stdout.pipe(into);
    const session = await connectSession({
      to: Duplex.from({ readable: into, writable: out }),
      agentId: "proviso",
      capabilities: ["tools", "memory", "proc", "env"],
      tokens: ["token"],
      timeout: 30_000,
    });
    const outcome = await holdSession(session);
    // The last output of a process that is killed comes at an unpredictable time. It is not an answer.
    const answers = lines.filter(({ message }) => message["type"] !== "proc/read/event");
    settle("host", { outcome, lines: transcriptOf(answers) });
  },
);
