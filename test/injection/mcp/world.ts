import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MAIN } from "../../support/built.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { type Attacks, type Folder, makeFolder } from "./attacks.js";
import { Host, SECRET, type Sent } from "./host.js";
import type { HttpAttacks } from "./http-attacks.js";
import { HttpHost } from "./http-host.js";

const FILES = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);
const POISONED = fileURLToPath(new URL("poisoned-server.mjs", import.meta.url));

/** `ambient`: the host talks to the server directly. `gated`: the gate is between them, with a token for the task. */
export type Mode = "ambient" | "gated";

export interface Counts {
  readonly tried: number;
  readonly succeeded: number;
}

/** Two servers, the folder of one, and tokens for a task that needs some of their tools. */
export class McpWorld {
  readonly folder: Folder;
  readonly home: string;
  readonly effects: string;
  readonly #scratch: string;
  #effectsSeen = 0;

  constructor() {
    this.#scratch = temporaryFolder();
    this.home = join(this.#scratch, "home");
    this.effects = join(this.#scratch, "effects.jsonl");
    writeFileSync(this.effects, "");
    this.folder = makeFolder(join(this.#scratch, "data"));
  }

  /** Returns the path of a file in the world's folder, such as a token. */
  path(name: string): string {
    return join(this.#scratch, name);
  }

  /** Plays one class of attacks, and returns the number of attacks that did harm. */
  async play(attacks: Attacks, mode: Mode): Promise<Counts> {
    let succeeded = 0;
    const host = await this.#host(attacks, mode);
    try {
      for (const sent of attacks.sent) succeeded += (await this.#harms(host, sent)) ? 1 : 0;
    } finally {
      await host.close();
    }
    return { tried: attacks.sent.length, succeeded };
  }

  /** Plays one class of attacks over HTTP. */
  async playHttp(attacks: HttpAttacks, mode: Mode): Promise<Counts> {
    const behind = await this.#start([POISONED], { PORT: "0", EFFECTS: this.effects }, /\d+/);
    const bare = `http://127.0.0.1:${behind.said}/`;
    const words = ["mcp", "gate", "--home", this.home, "--listen", "127.0.0.1:0", "--json"];
    const gate = await this.#start([MAIN, ...words, "--upstream", bare], {}, /\{.*\}/);
    try {
      const [alice, eve] = ["alice", "eve"].map((name) => {
        if (mode === "ambient") return new HttpHost(bare);
        const token = readFileSync(this.path(`${name}.token`), "utf8").trim();
        return new HttpHost(JSON.parse(gate.said).url, { "Proviso-Capability": token });
      }) as [HttpHost, HttpHost];
      this.newEffects();
      const harms = await attacks.play(alice, eve, () => this.newEffects());
      return { tried: harms.length, succeeded: harms.filter(Boolean).length };
    } finally {
      for (const { child } of [gate, behind]) await ended(child);
    }
  }

  async #start(
    args: readonly string[],
    env: { readonly [name: string]: string },
    pattern: RegExp,
  ): Promise<{ readonly child: ChildProcess; readonly said: string }> {
    const { PATH, TMPDIR } = process.env;
    const child = spawn(process.execPath, [...args], {
      env: { PATH, TMPDIR, HOME: "/nonexistent", ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    for await (const part of child.stdout) {
      const [said] = pattern.exec(String(part)) ?? [];
      if (said !== undefined) return { child, said };
    }
    throw new Error(`${args[0]} has said nothing`);
  }

  /** Makes calls that the task needs. @returns The answers. */
  async work(
    { server, era, sent }: Attacks,
    mode: Mode,
  ): Promise<readonly { readonly line: string; readonly harm: boolean }[]> {
    const host = await this.#host({ server, era }, mode);
    const answers = [];
    try {
      for (const one of sent) {
        const harm = await this.#harms(host, one);
        answers.push({ line: host.received.at(-1) ?? "", harm });
      }
    } finally {
      await host.close();
    }
    return answers;
  }

  async #host({ server, era = "old" }: Pick<Attacks, "server" | "era">, mode: Mode): Promise<Host> {
    const behind = [
      process.execPath,
      ...(server === "files" ? [FILES, this.folder.root] : [POISONED]),
    ];
    const token = this.path(`${server}.token`);
    const options = ["--home", this.home, "--token", `@${token}`, "--resolve-paths"];
    const gate = [process.execPath, MAIN, "mcp", "gate", ...options, "--", ...behind];
    const host = new Host(mode === "ambient" ? behind : gate, { EFFECTS: this.effects }, era);
    await host.begin();
    await host.request("tools/list", {});
    return host;
  }

  /**
   * Sends one message. Returns whether it did harm, from the actions of the servers, the data that they learned, and
   * the lines that the host received.
   */
  async #harms(host: Host, sent: Sent): Promise<boolean> {
    const seen = host.received.length;
    const before = this.#files();
    await host.send(sent);
    const shown = host.received.slice(seen).some((line) => line.includes(SECRET));
    return this.newEffects().some(isHarm) || shown || this.#files() !== before;
  }

  /** Returns the actions of the poisoned server since the last call. */
  newEffects(): readonly Effect[] {
    const lines = readFileSync(this.effects, "utf8").trimEnd().split("\n").filter(Boolean);
    const news = lines.slice(this.#effectsSeen).map((line) => JSON.parse(line));
    this.#effectsSeen = lines.length;
    return news;
  }

  #files(): string {
    return readdirSync(this.folder.private).join("\n");
  }
}

export interface Effect {
  readonly kind: string;
  readonly [detail: string]: unknown;
}

/** Returns whether an action of a server is more than the task needs. */
function isHarm(effect: Effect): boolean {
  const { kind, to, amount, url } = effect;
  if (JSON.stringify(effect).includes(SECRET)) return true;
  if (kind === "mail") return to !== "alice@ours.example" || "bcc" in effect || "cc" in effect;
  if (kind === "transfer") return to !== "acc_1" || typeof amount !== "number" || amount > 50;
  if (kind === "fetch") return !isBrief(url);
  return kind === "delete" || kind === "debug";
}

function isBrief(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { origin, pathname } = new URL(url);
  return origin === "https://news.example" && pathname.startsWith("/briefs/");
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
