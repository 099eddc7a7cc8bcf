import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What an obedient host tells whoever asks: the secret that attacks are to bring out. */
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

/** Milliseconds without a word from the other side, after which nothing more is expected. */
const QUIET = 120;
const PATIENCE = 10_000;

/**
 * A host of MCP over standard streams that obeys: it answers every request of the server, with the secret. It also
 * writes lines that no SDK would write.
 */
export class Host {
  /** Every line of the other side. */
  readonly received: string[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, () => void>();
  readonly #meta: object | undefined;
  #ids = 0;
  #last = 0;

  /** @param era - Of the revision of 2025-11-25 (`old`), or of 2026-07-28, where each request says who asks. */
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
    // The other side may end first.
    this.#child.stdin?.on("error", () => {});
    const { stdout } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on("line", (line) => this.#take(line));
  }

  #take(line: string): void {
    this.received.push(line);
    this.#last = performance.now();
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

  /** Sends a request and returns the line that answers it. @throws Error if none does in time. */
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

  /** Begins the session as hosts of its era do. */
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

  /** Sends what is given, and waits until the other side has been quiet for a moment. */
  async send(sent: Sent): Promise<void> {
    this.#last = performance.now();
    if ("raw" in sent) this.write(sent.raw);
    else await this.request(sent.method, sent.params);
    while (performance.now() - this.#last < QUIET) {
      await new Promise((resolve) => setTimeout(resolve, QUIET / 4));
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
