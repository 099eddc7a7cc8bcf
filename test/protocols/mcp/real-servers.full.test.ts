import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { type RecordedLine, readRecording } from "../../../src/protocols/mcp/learn/recording.js";
import { onOneLine } from "../../../src/protocols/mcp/message/message.js";
import { MAIN } from "../../support/built.js";
import { connectClient } from "../../support/mcp-servers.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { REAL_SESSIONS, type RealSession } from "./real-sessions.js";

// Plays one session with each server twice: with the recorder alone, which writes the token, and through a gate with
// this token. `proviso mcp learn` records every line between the client and the gate or the server.

const PROVISO = [process.execPath, MAIN, "mcp"] as const;

describe.each(REAL_SESSIONS.map((one) => [one.name, one] as const))("%s", (_name, session) => {
  test("gives the same answers through a gate as without one, byte for byte, with a token learned from the session", async () => {
    const home = join(temporaryFolder(), "home");
    const folder = join(temporaryFolder(), "work");
    const recorder = (name: string) => [...PROVISO, "learn", "--home", home, "--name", name, "--"];
    const server = session.command(folder);
    const timeless = (text: string): string =>
      session.clock === undefined ? text : text.replaceAll(session.clock, "a time");
    const gate = [...PROVISO, "gate", "--home", home, "--token", `@${home}/direct.token`, "--"];

    await play(session, folder, [...recorder("direct"), ...server]);
    await play(session, folder, [...recorder("gated"), ...gate, ...server], async (client) => {
      const { tools } = await client.listTools();
      if (session.unused !== undefined) {
        expect(tools.map(({ name }) => name)).not.toContain(session.unused);
      }
    });
    const direct = await answersIn(join(home, "direct.recording"));
    const gated = await answersIn(join(home, "gated.recording"));
    expect(direct.size).toBeGreaterThan(3);
    for (const [id, { method, text }] of direct) {
      const other = gated.get(id);
      expect(other?.method, id).toBe(method);
      // These answers differ: the gate announces its own notifications, and hides tools.
      if (method === "initialize" || method === "tools/list") continue;
      // The gate writes a line separator in a string as an escape, because some line readers end a line at it.
      expect(timeless(other?.text ?? ""), `${id} ${method}`).toBe(timeless(onOneLine(text)));
    }

    await play(
      session,
      folder,
      [...gate, ...server],
      async (client) => {
        const refused = await client.callTool(session.outside(folder));
        expect(refused.isError).toBe(true);
        expect(JSON.stringify(refused)).toContain("constraint_violated");
        if (session.unused === undefined) return;
        const hidden = await client.callTool({ name: session.unused, arguments: {} }).catch(String);
        const unknown = await client
          .callTool({ name: "no-such-tool", arguments: {} })
          .catch(String);
        expect(JSON.stringify(hidden).replaceAll(session.unused, "no-such-tool")).toBe(
          JSON.stringify(unknown),
        );
      },
      false,
    );
  });
});

/** Plays a session in a new, empty folder. */
async function play(
  session: RealSession,
  folder: string,
  command: readonly string[],
  more: (client: Client) => Promise<void> = async () => {},
  whole = true,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  session.prepare?.(folder);
  const { client } = await connectClient(command, {
    env: session.env?.(folder) ?? {},
    cwd: folder,
    options: { capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} } },
    prepare: answerServer,
  });
  await client.listTools();
  if (whole) await session.run(client, folder);
  await more(client);
  await client.close();
}

/** Answers the requests of a server to its host. */
function answerServer(client: Client): void {
  client.setRequestHandler("roots/list", () => ({ roots: [] }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "hello" },
  }));
  client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
}

interface Answer {
  readonly method: string;
  readonly text: string;
}

/** Returns the server's answers in a recording, by the id of the request. */
async function answersIn(recording: string): Promise<ReadonlyMap<string, Answer>> {
  const asked = new Map<string, string>();
  const answers = new Map<string, Answer>();
  for await (const line of readRecording(recording)) {
    const message = line === undefined ? undefined : messageOf(line);
    if (line === undefined || message === undefined) continue;
    const id = JSON.stringify(message["id"]);
    if (line.from === "host" && message["method"] !== undefined)
      asked.set(id, String(message["method"]));
    const isAnswer = line.from === "server" && message["method"] === undefined;
    if (isAnswer) answers.set(id, { method: asked.get(id) ?? "", text: line.text });
  }
  return answers;
}

function messageOf({ text }: RecordedLine): JsonObject | undefined {
  if (!text.startsWith("{")) return undefined;
  const message: JsonObject & { readonly [name: string]: Json } = JSON.parse(text);
  return message;
}
