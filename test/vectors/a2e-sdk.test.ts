import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Duplex, PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import {
  connectSession,
  createMemoryPlugin,
  createProcPlugin,
  createToolsPlugin,
  type SessionTool,
} from "../../src/protocols/a2e/index.js";
import { createStores } from "../../src/stores/database.js";
import { openMemory } from "../../src/stores/memory/memory-store.js";
import { PACKAGE } from "../documentation/doc-comments.js";
import { holdSession } from "../peers/a2e/hold-session.js";
import { type Line, transcriptOf } from "../peers/a2e/transcript.js";
import { closed } from "../protocols/a2e/plugins/calls.js";
import { hosted, Peer } from "../protocols/a2e/support.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Recorded sessions with A2E's published SDK: each end must still send what it sent in the recording.

interface Held {
  readonly outcome: JsonObject;
  readonly lines: readonly Line[];
}

const { client, host }: { readonly client: Held; readonly host: Held } = JSON.parse(
  readFileSync(join(PACKAGE, "spec-vectors/a2e-sdk.json"), "utf8"),
);
const TOKENS = "$" + "{tokens}";
const EXAMPLE = join(PACKAGE, "examples/session");

/** The values of the names in a transcript. */
class Names {
  readonly #values = new Map<string, string>();

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Learns the values of names by comparing a recorded message with the current message. */
  learn(kept: Json, now: Json): void {
    if (typeof kept === "string" && /^\$\{\w+\}$/.test(kept)) this.set(kept, String(now));
    if (typeof kept !== "object" || kept === null || typeof now !== "object" || now === null)
      return;
    for (const [name, value] of Object.entries(kept)) {
      const own: Json | undefined = Object.entries(now).find(([other]) => other === name)?.[1];
      if (own !== undefined) this.learn(value, own);
    }
  }

  fill(message: JsonObject): JsonObject {
    const text = JSON.stringify(message);
    return JSON.parse(text.replace(/\$\{\w+\}/g, (name) => this.#values.get(name) ?? name));
  }
}

test("proviso's host answers the recorded messages of the A2E SDK's client as recorded", async () => {
  const { plugins } = JSON.parse(readFileSync(join(EXAMPLE, "session.json"), "utf8"));
  const { programs } = plugins.proc;
  // The module is plain JavaScript, as the command loads it.
  const { default: tools }: { readonly default: (context: object) => readonly SessionTool[] } =
    await import(join(EXAMPLE, "tools.mjs"));
  const store = openMemory(await createStores(`${temporaryFolder()}/memory.db`));
  const served = [
    await createToolsPlugin({ tools: tools({ configFolder: EXAMPLE }) }),
    createMemoryPlugin({ memory: store }),
    closed(
      await createProcPlugin({ programs: { countdown: { ...programs.countdown, cwd: EXAMPLE } } }),
    ),
  ];
  const at = await hosted({ plugins: served });
  const limited = { constraints: { tool_name: { in: ["add", "count_words"] } } };
  const tokens = [at.token("tools", limited), at.token("memory"), at.token("proc")].join(",");
  const names = new Names();
  names.set(TOKENS, tokens);
  const peer = await Peer.at(at.port);
  const lines: Line[] = [];
  for (const { from, message } of client.lines) {
    if (from === "host") {
      const now = (await peer.next()) ?? {};
      names.learn(message, now);
      lines.push({ from, message: now });
      continue;
    }
    const own = names.fill(message);
    // Waits for the program that counts down from 1, which had ended at this point of the recording.
    if (message["type"] === "proc/status/req") {
      const status = async (): Promise<Json | undefined> => {
        peer.send(own);
        return (await peer.next())?.["status"];
      };
      await expect.poll(status).not.toBe("running");
    }
    lines.push({ from, message: own });
    peer.send(own);
  }
  await peer.over;
  expect(transcriptOf(lines, new Map([[tokens, TOKENS]]))).toEqual(client.lines);
});

test("proviso's client sends the recorded messages to the A2E SDK's host, and reads the answers as recorded", async () => {
  const written = new PassThrough();
  const answers = new PassThrough();
  const lines: Line[] = [];
  const names = new Names();
  const left = [...host.lines];
  let text = "";
  written.setEncoding("utf8").on("data", (chunk: string) => {
    const all = `${text}${chunk}`.split("\n");
    text = all.pop() ?? "";
    for (const line of all) {
      const message: JsonObject = JSON.parse(line);
      lines.push({ from: "agent", message });
      names.learn(left.shift()?.message ?? {}, message);
      while (left[0]?.from === "host") {
        const answer = names.fill(left.shift()?.message ?? {});
        lines.push({ from: "host", message: answer });
        answers.write(`${JSON.stringify(answer)}\n`);
      }
    }
  });
  // The SDK's host ends when its input ends.
  written.once("end", () => answers.end());
  const session = await connectSession({
    to: Duplex.from({ readable: answers, writable: written }),
    agentId: "proviso",
    capabilities: ["tools", "memory", "proc", "env"],
    tokens: ["token"],
  });
  expect(await holdSession(session)).toEqual(host.outcome);
  expect(transcriptOf(lines)).toEqual(host.lines);
});
