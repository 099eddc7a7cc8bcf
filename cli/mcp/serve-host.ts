import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { serveHttp } from "../../src/protocols/mcp/front/http-front.js";
import { serveStdio } from "../../src/protocols/mcp/front/stdio-front.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { printAnswer, printable, say } from "../output.js";
import { listenFlagError } from "../serve/listen.js";
import { newLog } from "../serve/log.js";
import type { Address } from "../serve/settings.js";
import type { GateSettings } from "./gate-settings.js";
import type { Gate } from "./open-gate.js";
import { warnOfPlainHttp } from "./web-access.js";

/** Maximum time for telling the host that the servers have ended, in milliseconds. */
const LAST_WORDS = 500;

/** Serves the host that has started this process, until the host closes its end or all servers have ended. */
export async function serveHost(context: Context, gate: Gate, signal: AbortSignal): Promise<void> {
  const { session, ended } = await gate.openSession();
  const over = new AbortController();
  const streams = context.stdio();
  const front = serveStdio({
    session,
    // Reading `streams` itself to the end would also close it for writing, before all answers are sent. So the front
    // reads a copy.
    input: streams.pipe(new PassThrough()),
    output: streams,
    signal: AbortSignal.any([signal, over.signal]),
    log: (line) => say(context, printable(line)),
  });
  const end = await Promise.race([front, ended]);
  if (end !== undefined) {
    await Promise.race([front, sleep(LAST_WORDS)]);
    over.abort();
    await front;
    throw environmentError(end.code, end.message, "its own messages above may say why");
  }
}

type ListenSettings = Pick<GateSettings, "allowedOrigins" | "allowedHosts" | "log"> & {
  readonly address: Address;
  readonly json: boolean;
};

/** Serves any number of hosts over Streamable HTTP until the signal is aborted. */
export async function serveHosts(
  context: Context,
  gate: Gate,
  { address, log: level, json, ...allowed }: ListenSettings,
  signal: AbortSignal,
): Promise<void> {
  const open = (stateless: boolean): ReturnType<Gate["openSession"]> => gate.openSession(stateless);
  const log = newLog(context, level);
  warnOfPlainHttp(context, address);
  const { opening, callerOf } = gate;
  const front = await serveHttp({ address, open, opening, callerOf, log, ...allowed }).catch(
    (error: unknown) => {
      throw listenFlagError(error, address);
    },
  );
  const { url } = front;
  printAnswer(context, { json }, { url }, [`Serving MCP at ${url}`]);
  if (!signal.aborted) await once(signal, "abort");
  say(context, "stopping: what is under way is finished first; interrupt again to stop at once");
  await front.close();
}
