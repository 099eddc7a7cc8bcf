import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { LineSplitter } from "../../../src/bytes/line-splitter.js";
import { onOneLine } from "../../../src/protocols/mcp/message/message.js";
import { Bench } from "../../cli/run.js";
import { Random } from "../../fuzz/random.js";
import { MAIN } from "../../support/built.js";
import { publishedServer } from "../../support/mcp-servers.js";
import { runsOr, SEED } from "../../support/seed.js";
import { sized } from "../../support/size.js";

// Random requests of a host, each written in one of the many forms of JSON, go directly to a server, and in other
// chunks through a gate. The gate's token was learned from the requests. Each answer is the same, byte for byte.

const LINES = runsOr(sized(5000, 1000, 12_000));
/** Maximum number of requests that wait for an answer. */
const WINDOW = 50;
const SERVER = publishedServer("@modelcontextprotocol/server-everything", "stdio");

const HANDSHAKE = [
  {
    id: "hello",
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  },
  { method: "notifications/initialized" },
].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));

/** Returns a random request whose answer does not depend on the time. */
function requestFrom(random: Random): { readonly method: string; readonly params: JsonObject } {
  const call = (name: string, given: JsonObject) => ({
    method: "tools/call",
    params: { name, arguments: given },
  });
  const uris = ["architecture", "features", "startup", "structure"];
  switch (random.below(8)) {
    case 0:
      return call("get-sum", { a: random.below(1000) - 500, b: random.below(1e6) / 64 });
    case 1:
      return call("get-structured-content", {
        location: random.pick(["New York", "Chicago", "Los Angeles"]),
      });
    case 2:
      return call("get-annotated-message", {
        messageType: random.pick(["error", "success", "debug"]),
        ...(random.below(2) === 0 ? {} : { includeImage: random.below(2) === 0 }),
      });
    case 3:
      return {
        method: "resources/read",
        params: { uri: `demo://resource/static/document/${random.pick(uris)}.md` },
      };
    case 4:
      return {
        method: "prompts/get",
        params: { name: "args-prompt", arguments: { city: random.pick(["Ulm", "Köln", "東京"]) } },
      };
    case 5:
      return {
        method: "completion/complete",
        params: {
          ref: { type: "ref/prompt", name: "completable-prompt" },
          argument: { name: "department", value: random.pick(["", "E", "Sa", "x"]) },
        },
      };
    default:
      return call("echo", { message: textFrom(random) });
  }
}

const PARTS = [
  "a",
  "\\",
  '"',
  "\n",
  "\u2028",
  "\u0000",
  "é",
  "漢",
  "🔑",
  "</x>",
  "data:",
  " ",
  "\t",
  "{}",
];

function textFrom(random: Random): string {
  const parts = Array.from({ length: random.below(20) }, () => random.pick(PARTS));
  return `said ${parts.join("")}${"x".repeat(random.below(50) === 0 ? 100_000 : 0)}`;
}

/** Writes JSON in one of its many forms, with varying spaces, escapes and numbers. */
function written(value: Json, random: Random): string {
  const space = (): string => random.pick(["", "", "", "", " ", "\t", "  "]);
  if (typeof value === "string") return stringFrom(value, random);
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e6) {
    return random.pick([`${value}`, `${value}.0`, `${value}e0`, `${value}E+0`]);
  }
  if (Array.isArray(value)) {
    return `[${space()}${value.map((one) => written(one, random)).join(`${space()},${space()}`)}${space()}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) =>
      `${stringFrom(name, random)}${space()}:${space()}${written(member, random)}`,
  );
  return `{${space()}${shuffled(members, random).join(`${space()},${space()}`)}${space()}}`;
}

function shuffled(texts: readonly string[], random: Random): readonly string[] {
  return texts
    .map((text) => ({ text, at: random.below(1e6) }))
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text);
}

/** Writes a string with random characters as escapes. */
function stringFrom(text: string, random: Random): string {
  const rate = random.pick([0, 0, 4]);
  if (rate === 0 || text.length > 1000) return JSON.stringify(text);
  return `"${[...text].map((one) => (random.below(rate) === 0 ? escaped(one) : JSON.stringify(one).slice(1, -1))).join("")}"`;
}

function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** A program that speaks MCP over its standard streams. */
type Program = ChildProcessByStdio<Writable, Readable, null>;

/** Sends lines in chunks of random sizes. @returns The answers by the id of the request. */
async function answersTo(
  words: readonly string[],
  lines: readonly string[],
  random: Random,
): Promise<ReadonlyMap<string, string>> {
  const [command = "", ...args] = words;
  const program: Program = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => {
    program.kill("SIGKILL");
  });
  const answers = new Map<string, string>();
  let heard = (): void => {};
  const reading = (async () => {
    const splitter = new LineSplitter(16 * 1024 * 1024);
    for await (const chunk of program.stdout) {
      for (const line of splitter.split(chunk)) {
        if (line.kind !== "line") continue;
        const text = Buffer.from(line.bytes).toString("utf8");
        const { id, method }: { readonly id?: unknown; readonly method?: string } =
          JSON.parse(text);
        if (id !== undefined && method === undefined) answers.set(JSON.stringify(id), text);
      }
      heard();
    }
  })();
  const until = async (count: number): Promise<void> => {
    while (answers.size < count) {
      if (program.exitCode !== null) throw new Error(`the program has ended: ${program.exitCode}`);
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
  };
  const send = async (bytes: Uint8Array): Promise<void> => {
    if (!program.stdin.write(bytes)) await once(program.stdin, "drain");
  };
  const [hello = "", ...others] = HANDSHAKE;
  await send(Buffer.from(`${hello}\n`));
  await until(1);
  for (const line of others) await send(Buffer.from(`${line}\n`));
  for (let at = 0; at < lines.length; at += WINDOW) {
    const ends = ["\n", "\n", "\r\n", " \n"];
    const text = lines.slice(at, at + WINDOW).map((line) => `${line}${random.pick(ends)}`);
    const bytes = Buffer.from(text.join(""));
    for (let start = 0; start < bytes.length; ) {
      const size = 1 + random.below(random.pick([3, 100, 10_000, 200_000]));
      await send(bytes.subarray(start, start + size));
      start += size;
    }
    await until(1 + Math.min(at + WINDOW, lines.length));
  }
  program.stdin.end();
  await reading;
  return answers;
}

const title = `${2 * LINES} lines of requests, half of them through a gate, get the same answers from a real server`;
test(title, { timeout: 1_200_000 }, async () => {
  const random = new Random(SEED);
  const bench = new Bench();
  const lines = Array.from({ length: LINES }, (_, at) =>
    written(
      { jsonrpc: "2.0", id: random.pick<Json>([at, `id ${at} "é"`]), ...requestFrom(random) },
      random,
    ),
  );
  const recording = lines.map((text) => JSON.stringify({ time: "", from: "host", text }));
  writeFileSync(bench.path("traffic.recording"), `${recording.join("\n")}\n`);
  const learned = await bench.json("mcp", "learn", "--recording", "traffic.recording");
  expect(learned).toMatchObject({ status: 0, leftOut: [], refused: {} });

  const gate = [process.execPath, MAIN, "mcp", "gate", "--home", bench.home];
  const token = ["--token", `@${join(bench.home, "traffic.token")}`];
  const [direct, gated] = await Promise.all([
    answersTo(SERVER, lines, new Random(SEED)),
    answersTo([...gate, ...token, "--", ...SERVER], lines, new Random(SEED + 1)),
  ]);
  expect(direct.size, `seed ${SEED}`).toBe(LINES + 1);
  for (const [id, text] of direct) {
    if (id === '"hello"' || gated.get(id) === onOneLine(text)) continue;
    expect(gated.get(id), `${id}, seed ${SEED}`).toBe(onOneLine(text));
  }
});
