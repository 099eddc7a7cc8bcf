import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LineSplitter } from "../../../bytes/line-splitter.js";
import { type ChildEnd, PipedChild } from "../../../system/piped-child.js";
import { CAPABILITY_KEY, withoutTokens } from "../gate/presented-tokens.js";
import { HOST_LIMITS, readMessage } from "../message/message.js";
import type { RecordedLine } from "./recording.js";

export interface RecorderOptions {
  /** The server's program, started without a shell. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the server. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The stream from which the host reads and to which it writes. */
  readonly host: Duplex;
  /** Called with each line of both sides, before the line is passed on. */
  readonly record: (line: RecordedLine) => void;
  /** Strings, such as tokens, that are replaced by `[withheld]` in recorded lines. */
  readonly secrets: readonly string[];
  /** Ends the session when aborted. */
  readonly stop: AbortSignal;
}

/** A session that is being recorded. */
export interface RecordedSession {
  /** Fulfilled when the host or the server has ended the session, or `stop` is aborted. */
  readonly over: Promise<void>;
  /** Ends the server. */
  close(): Promise<ChildEnd>;
}

/**
 * Starts a server. Passes on every byte between the server and the host unchanged, as soon as it arrives.
 *
 * @throws Error of the system, such as `ENOENT`, if the server does not start.
 */
export async function recordSession({
  command,
  args,
  env,
  host,
  record,
  secrets,
  stop,
}: RecorderOptions): Promise<RecordedSession> {
  const child = await PipedChild.start({ command, args, env, stderr: "inherit" });
  const ending = new AbortController();
  const { signal } = ending;
  const note = (from: RecordedLine["from"], bytes: Uint8Array): void => {
    const text = withoutAll(Buffer.from(bytes).toString("utf8"), secrets);
    record({ time: new Date().toISOString(), from, text: withoutPresented(text) });
  };
  const fromHost = pipeline(
    host,
    (chunks) => noted(chunks, (line) => note("host", line)),
    child.stdin,
    {
      signal,
    },
  );
  const fromServer = pipeline(
    child.stdout,
    (chunks) => noted(chunks, (line) => note("server", line)),
    host,
    { end: false },
  );
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const quiet = (side: Promise<void>): Promise<void> => side.catch(() => {});
  const over = Promise.race([quiet(fromHost), quiet(fromServer), stopped]);
  return {
    over,
    async close() {
      await child.end();
      await quiet(fromServer);
      ending.abort();
      await quiet(fromHost);
      return child.ended;
    },
  };
}

/** Passes bytes on, and calls `note` with each complete line. Leaves out lines that are too long for a gate. */
async function* noted(
  chunks: AsyncIterable<Uint8Array>,
  note: (line: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const splitter = new LineSplitter(HOST_LIMITS.bytes);
  for await (const chunk of chunks) {
    for (const line of splitter.split(chunk)) if (line.kind === "line") note(line.bytes);
    yield chunk;
  }
  const rest = splitter.rest();
  if (rest?.kind === "line") note(rest.bytes);
}

/**
 * Removes the tokens that a host presents in `_meta`. Returns "" for a line that contains the name of the tokens'
 * property but is no readable message, because the line may contain a token.
 */
function withoutPresented(text: string): string {
  if (!text.includes(CAPABILITY_KEY)) return text;
  const read = readMessage(text);
  return read.ok ? withoutTokens(read.message).text : "";
}

function withoutAll(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "[withheld]"), text);
}
