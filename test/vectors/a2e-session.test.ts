import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Duplex, PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import { PluginError, SESSION_ERRORS, type SessionPlugin } from "../../src/protocols/a2e/index.js";
import { ALICE } from "../agent/support.js";
import { PACKAGE } from "../documentation/doc-comments.js";
import { type HostChoices, type Hosted, hosted } from "../protocols/a2e/support.js";

// Replays the transcripts of sessions with a real host. Every code that a host sends occurs in one of the
// transcripts.

interface Step {
  readonly peer?: number;
  readonly send?: JsonObject;
  readonly raw?: string;
  readonly expect?: JsonObject;
  readonly closed?: true;
  readonly pass?: number;
  readonly revoke?: string;
}

interface Transcript {
  readonly name: string;
  readonly policy?: "fails";
  readonly ambient?: boolean;
  readonly rate?: { readonly messages: number; readonly seconds: number };
  readonly steps: readonly Step[];
}

interface VectorFile {
  readonly host: { readonly limits: { readonly [name: string]: number } };
  readonly tokens: { readonly [name: string]: JsonObject & { readonly grant: string } };
  readonly vectors: readonly Transcript[];
}

const {
  host: described,
  tokens,
  vectors,
}: VectorFile = JSON.parse(readFileSync(join(PACKAGE, "spec-vectors/a2e-session.json"), "utf8"));
const NAMES = ["echo", "wait", "fail", "refuse", "large", "parts"];

/** The plugins that the vector file describes. */
const PLUGINS: readonly SessionPlugin[] = [
  {
    name: "echo",
    type: "tools",
    operations: {
      "tool/list": { run: async () => NAMES },
      "tool/call": {
        handles: (name) => name !== undefined && NAMES.includes(name),
        run: async ({ name, arguments: given, signal, send }) => {
          if (name === "fail") throw new Error("it is broken");
          if (name === "refuse") throw new PluginError("tool_refused", "not today");
          if (name === "large") return "a".repeat(5000);
          if (name === "parts") for (const part of ["one", "two"]) await send(part);
          if (name === "wait") {
            await new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            });
          }
          return given;
        },
      },
    },
  },
  {
    name: "memory",
    type: "memory",
    operations: {
      "memory/get": {
        input: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        run: async () => null,
      },
      "memory/set": { run: async () => true },
    },
  },
];

/** One end of a stream in memory; the host has the other end. */
class Line {
  session = "";
  readonly #sent = new PassThrough();
  readonly #lines: JsonObject[] = [];
  readonly #over: Promise<void>;

  constructor({ host }: Hosted) {
    const received = new PassThrough();
    let text = "";
    received.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = `${text}${chunk}`.split("\n");
      text = lines.pop() ?? "";
      this.#lines.push(...lines.map((line) => JSON.parse(line)));
    });
    // A peer closes its end after the host has closed its own end.
    received.once("end", () => this.#sent.end());
    this.#over = host.accept(Duplex.from({ readable: this.#sent, writable: received }));
  }

  write(text: string): void {
    this.#sent.write(text);
  }

  async next(): Promise<JsonObject | undefined> {
    for (let tries = 0; tries < 2000 && this.#lines.length === 0; tries++) await quiet();
    const line = this.#lines.shift();
    if (line?.["type"] === "handshake/resp") this.session = String(line["session_id"]);
    return line;
  }

  async over(): Promise<number> {
    await this.#over;
    await quiet();
    return this.#lines.length;
  }

  end(): void {
    this.#sent.end();
  }
}

/** Runs all pending callbacks, without advancing the time. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function choicesOf({ policy, ambient, rate }: Transcript): HostChoices {
  const failing = {
    permissions: () => {
      throw new Error("it cannot be asked");
    },
  };
  return {
    plugins: PLUGINS,
    limits: described.limits,
    rate,
    ...(ambient === true ? { ambient: ALICE } : {}),
    world: {
      ...(policy === undefined ? {} : { policy: failing }),
      ...(ambient === true ? { mode: "prefer" } : {}),
    },
  };
}

test.each(vectors.map((vector) => [vector.name, vector] as const))(
  "the host answers as the session vector says: %s",
  async (_, vector) => {
    const host = await hosted(choicesOf(vector));
    const minted = new Map(
      Object.entries(tokens).map(([name, { grant, ...hop }]) => [
        name,
        host.issuer.mint({ grant, principal: "alice", ...hop }).token,
      ]),
    );
    const lines = new Map<number, Line>();
    for (const { peer = 1, ...step } of vector.steps) {
      const line = lines.get(peer) ?? new Line(host);
      lines.set(peer, line);
      const filled = (text: string): string =>
        text.replace(/\$\{(\w+)\}/g, (_whole, name: string) =>
          name === "session" ? line.session : (minted.get(name) ?? ""),
        );
      if (step.send !== undefined) line.write(`${filled(JSON.stringify(step.send))}\n`);
      if (step.raw !== undefined) line.write(filled(step.raw));
      if (step.expect !== undefined) {
        const wanted: JsonObject = JSON.parse(filled(JSON.stringify(step.expect)));
        expect(await line.next()).toMatchObject(wanted);
      }
      if (step.closed === true) expect(await line.over()).toBe(0);
      if (step.revoke !== undefined) {
        await quiet();
        const revocation = host.issuer.revocationOf(minted.get(step.revoke) ?? "");
        if (!revocation.ok) throw new Error("there is nothing to revoke");
        host.revocations.add(revocation.entry);
      }
      if (step.pass !== undefined) {
        await quiet();
        host.timers.turn(step.pass);
      }
    }
    for (const line of lines.values()) line.end();
    // Ends calls that wait forever, so that nothing is left when the host closes.
    host.timers.turn(60_000);
  },
);

test("every error code of an A2E session occurs in a session vector", () => {
  const text = JSON.stringify(vectors.map(({ steps }) => steps));
  const handshake = ["auth_failed", "version_mismatch", "no_caps"];
  const all = [...Object.keys(SESSION_ERRORS).map((code) => `"code":"${code}"`)];
  all.push(...handshake.map((reason) => `"reason":"${reason}"`));
  expect(all.filter((wanted) => !text.includes(wanted))).toEqual([]);
});
