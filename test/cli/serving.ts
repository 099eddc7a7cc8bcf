import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { type Answer, at, send, textAt } from "../protocols/a2a/callers.js";
import { MAIN } from "../support/built.js";
import { type Bench, type Document, document } from "./run.js";
import { type Running, RunningHere, RunningProgram } from "./running.js";

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Calls `look` every 50 ms until it returns true. If it never does, the time limit of the test ends the wait. */
export async function eventually(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await sleep(50);
}

export const TOKENS = {
  alice: "development-token-of-alice",
  bob: "development-token-of-bob-",
} as const;

/** A skills module with two skills: one reads notes, the other waits. */
const SKILLS = `
  import { appendFileSync } from "node:fs";
  import { join } from "node:path";
  const handle = { type: "string", format: "resource-handle" };
  export default async function notes({ resources, resourcesPath, home, configFolder }) {
    return {
      skills: [
        {
          ...{ id: "read_note", name: "Read", description: "Reads a note", operation: "read" },
          reach: "named",
          input: {
            type: "object",
            properties: { note: handle, lines: { type: "integer" } },
            required: ["note"],
            additionalProperties: false,
          },
          async run(call) {
            const [note] = call.resources.values();
            return { text: await resources.readText(note.name), resourcesPath, home, configFolder };
          },
        },
        {
          ...{ id: "wait", name: "Wait", description: "Takes its time", operation: "wait" },
          reach: "none",
          input: { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] },
          async run(call) {
            appendFileSync(join(home, "waits.txt"), call.arguments.ms + "\\n");
            await new Promise((resolve) => setTimeout(resolve, call.arguments.ms));
            return { waited: call.arguments.ms };
          },
        },
      ],
      runTask: async (task) => {
        if (task.text === "print") console.error("a library says\\nmore than a line");
        return { heard: task.text };
      },
      close() {
        appendFileSync(join(home, "closed.txt"), "closed\\n");
        // This interval would keep a process alive, but must not keep the agent alive.
        setInterval(() => {}, 1000);
      },
    };
  }
`;

/** A policy that allows Alice to read notes and to wait. */
export const POLICY: Document = {
  rules: [
    {
      principal: "alice",
      grant: "notes:read",
      operations: ["read"],
      resources: { collections: ["notes"] },
    },
    { principal: "alice", grant: "notes:wait", operations: "*" },
  ],
};

/** A valid configuration. {@link writeAgent} writes the files that it names. */
export const CONFIG: Document = {
  name: "Notes agent",
  description: "Reads notes",
  version: "2.1.0",
  home: "home",
  grants: [
    { id: "notes:read", description: "Read notes", operations: ["read"] },
    { id: "notes:wait", description: "Wait", operations: ["wait"] },
  ],
  policy: POLICY,
  resources: { folder: "notes-folder" },
  skills: "skills.mjs",
  authentication: {
    development: [
      { token: TOKENS.alice, principal: "alice", invoker: "assistant" },
      { token: TOKENS.bob, principal: "bob", invoker: "assistant" },
    ],
  },
};

/** Waits until the agent of {@link writeAgent} runs a call of the skill `wait` for so many milliseconds. */
export async function waits(bench: Bench, milliseconds: number): Promise<void> {
  const file = bench.path("home/waits.txt");
  const begun = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  await eventually(async () => begun().split("\n").includes(String(milliseconds)));
}

/** Writes notes, a skills module and the configuration into the folder of a bench. */
export function writeAgent(bench: Bench): void {
  mkdirSync(bench.path("notes-folder/notes"), { recursive: true });
  bench.write("notes-folder/notes/milk.md", "---\ntitle: Milk\nyear: 2025\n---\nBuy milk.\n");
  bench.write("notes-folder/notes/oats.md", "---\ntitle: Oats\nyear: 2024\n---\nBuy oats.\n");
  bench.write("skills.mjs", SKILLS);
  bench.write("agent.json", JSON.stringify(CONFIG));
}

/** A running `proviso serve` that accepts requests. */
export interface Serving<R extends Running = Running> {
  readonly running: R;
  readonly url: string;
  readonly rpcUrl: string;
  /** Calls a JSON-RPC method with an access token. */
  rpc(method: string, params: object, accessToken?: string): Promise<Answer>;
  /** Requests a capability, and returns its token. */
  capability(query?: object): Promise<string>;
  /** Calls a skill with a token. Returns `allowed`, or the codes of the refusal. */
  outcome(skill: string, given: object, token: string): Promise<string>;
}

/** Serves a configuration in this process, on a free port. */
export async function serve(
  bench: Bench,
  config: Document = CONFIG,
  args: readonly string[] = [],
): Promise<Serving> {
  const env = { PROVISO_HOME: bench.home, NO_COLOR: "1" };
  const options = { cwd: bench.folder, env };
  return ready(new RunningHere(command(bench, config, args), options));
}

/** Serves a configuration with the built command, in a separate process. */
export async function serveSpawned(
  bench: Bench,
  config: Document = CONFIG,
): Promise<Serving<RunningProgram>> {
  const all = [MAIN, ...command(bench, config, [])];
  return ready(new RunningProgram(all, { PROVISO_HOME: bench.home }, bench.folder));
}

function command(bench: Bench, config: Document, args: readonly string[]): readonly string[] {
  const file = `agent-${randomUUID()}.json`;
  bench.write(file, JSON.stringify(config));
  return ["serve", file, "--json", ...args];
}

async function ready<R extends Running>(running: R): Promise<Serving<R>> {
  await running.says(/^\{.*\}\n/);
  const listening = /^listening at (\S+)$/m.exec(running.stderr)?.[1];
  const said: string = document(running.stdout)["url"];
  const url = listening === undefined ? said : `http://${listening}`;
  const rpcUrl = `${url}/a2a/jsonrpc`;
  const rpc = (method: string, params: object, accessToken: string = TOKENS.alice) =>
    send(rpcUrl, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${accessToken}`,
        "Content-Type": "application/json",
        "A2A-Version": "1.0",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  return {
    running,
    url,
    rpcUrl,
    rpc,
    async capability(query = NOTES) {
      const { body } = await rpc("a2a/capabilities/request", { purpose: "a test", ...query });
      return textAt(body, "result", "capabilities", 0, "token");
    },
    async outcome(skill, given, token) {
      const params = { skill, arguments: given, capabilities: [{ token }] };
      const { headers, body } = await rpc("a2a/skill/invoke", params);
      if (at(body, "result", "result") !== null) return "allowed";
      return headers.get("Proviso-Denial") ?? textAt(body, "error", "message");
    },
  };
}

/** A request to read notes. */
export const NOTES: Document = { grants: ["notes:read"], resourceQuery: { collection: "notes" } };
/** A request to wait. */
export const WAIT: Document = { grants: ["notes:wait"] };
