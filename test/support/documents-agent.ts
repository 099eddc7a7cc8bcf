import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fillLibrary } from "../../examples/documents-agent/library.mjs";
import { runHere } from "../cli/run.js";
import { MAIN } from "./built.js";
import { FULL } from "./size.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const example = join(root, "examples", "documents-agent");

/**
 * The example agent with all its data in a folder of the test. The command serves it in this process; in a full run,
 * the built command serves it.
 */
export interface DocumentsAgent {
  readonly url: string;
  /** Alice's access token, through `agent:orchestrator`. */
  readonly token: string;
  close(): Promise<void>;
}

/** Starts the agent on any free port of loopback, with a new home. */
export async function startDocumentsAgent(folder: string): Promise<DocumentsAgent> {
  const home = join(folder, "agent-home");
  const token = "development-token-of-alice";
  const made = await runHere(["init", "--home", home, "--issuer", "documents-agent"]);
  if (made.status !== 0) throw new Error(made.stderr);
  fillLibrary(join(folder, "agent-library"));
  const { $schema: _, ...given } = JSON.parse(readFileSync(join(example, "agent.json"), "utf8"));
  const config = {
    ...given,
    home,
    policy: join(example, "policy.json"),
    skills: join(example, "agent-skills.mjs"),
    resources: { folder: join(folder, "agent-library") },
    authentication: { development: [{ token, principal: "alice", invoker: "agent:orchestrator" }] },
    log: "silent",
  };
  const file = join(folder, "agent.json");
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const { line, close } = await (FULL ? serveBuilt(file) : serveHere(file));
  const served: { readonly url: string } = JSON.parse(line);
  return { url: served.url, token, close };
}

/** A running agent, and the line of JSON with which it reported that it is ready. */
interface Served {
  readonly line: string;
  close(): Promise<void>;
}

async function serveHere(file: string): Promise<Served> {
  const stop = new AbortController();
  let close = async (): Promise<void> => {};
  const line = await new Promise<string>((resolve, reject) => {
    const ended = runHere(["serve", file, "--json"], {
      stop: stop.signal,
      onWrite: (stream, text) => {
        if (stream === "stdout") resolve(text);
      },
    });
    ended.then(({ stderr }) => reject(new Error(`the agent did not start: ${stderr}`)), reject);
    close = async () => {
      stop.abort();
      await ended;
    };
  });
  return { line, close };
}

async function serveBuilt(file: string): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, "serve", file, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (data: Buffer) => {
    complaint += data.toString();
  });
  const ended = once(child, "close");
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    ended.then(() => reject(new Error(`the agent did not start: ${complaint}`)), reject);
  });
  const close = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  return { line, close };
}
