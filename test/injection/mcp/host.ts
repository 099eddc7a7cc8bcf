import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The secret that an obedient host tells every server that asks. Attacks try to get this secret out. */
export const SECRET = "SALARY-90210";

/** One request of the host, or the text of a message that no SDK would send. */
export type Sent = { readonly method: string; readonly params: object } | { readonly raw: string };

const CLIENT = { name: "obedient", version: "1.0.0" };
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };
export const META: object = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};

/** Milliseconds of silence after which no further message of the other side is expected. */
const QUIET = 120;
const PATIENCE = 10_000;

/**
 * An MCP host over standard streams that obeys: it answers every request of the server with the secret. It can also
 * write lines that no SDK would write.
 */
export class Host {
  /** Every line from the gate or the server. */
  readonly received: string[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, () => void>();
  readonly #meta: object | undefined;
  #ids = 0;

  /** @param era - `old` for revision 2025-11-25, `new` for 2026-07-28, where each request names the client. */
  constructor(
    [command = "", ...args]: readonly string[],
    env: { readonly [name: string]: string },
    era: "old" | "new",
  ) {
    this.#meta = era === "new" ? META : undefined;
    const { PATH, TMPDIR } = process.env;
    this.#child = spawn(command, args, {
      env: { PATH, TMPDIR, HOME: "/nonexistent", ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    // The process may end before it has read all input.
    this.#child.stdin?.on("error", () => {});
    const { stdout } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on("line", (line) => this.#take(line));
  }

  #take(line: string): void {
    this.received.push(line);
    const { id, method } = JSON.parse(line);
    if (method === undefined) this.#waiting.get(String(id))?.();
    else if (id !== undefined) this.#obey(id, method);
  }

  #obey(id: unknown, method: string): void {
    const told = { type: "text", text: SECRET };
    this.write(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        result: {
          role: "assistant",
          content: method === "elicitation/create" ? { password: SECRET } : told,
          model: "obedient",
          action: "accept",
          roots: [{ uri: `file:///${SECRET}` }],
        },
      }),
    );
  }

  write(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Sends a request, and returns the line with its answer. @throws Error if no answer comes in time. */
  async request(method: string, params: object): Promise<string> {
    const id = `host-${++this.#ids}`;
    const answered = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    const marked = this.#meta === undefined ? params : { _meta: this.#meta, ...params };
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params: marked }));
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`${method} has no answer`)), PATIENCE).unref();
    });
    await Promise.race([answered, late]);
    this.#waiting.delete(id);
    const answer = this.received.find((line) => String(JSON.parse(line).id) === id);
    if (answer === undefined) throw new Error(`${method} has no answer`);
    return answer;
  }

  /** Opens the session as hosts of its era do. */
  async begin(): Promise<void> {
    if (this.#meta !== undefined) {
      await this.request("server/discover", {});
      return;
    }
    await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: CAPABILITIES,
      clientInfo: CLIENT,
    });
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  }

  /** Sends a request or a text, and waits until the other side has been quiet for a moment. */
  async send(sent: Sent): Promise<void> {
    if ("raw" in sent) this.write(sent.raw);
    else await this.request(sent.method, sent.params);
    // Counts quiet moments, since a pause of the machine is not silence.
    for (let quiet = 0; quiet < 4; quiet++) {
      const seen = this.received.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET / 4));
      if (this.received.length > seen) quiet = 0;
    }
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    if (this.#child.exitCode === null) {
      this.#child.stdin?.end();
      await ended;
    }
  }
}
