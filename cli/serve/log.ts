import { format } from "node:util";
import { pino } from "pino";
import { type AgentLog, withoutSecrets } from "../../src/http/log.js";
import type { LedgerProblem } from "../../src/stores/ledger/notes.js";
import type { Context } from "../context.js";
import { printable, say } from "../output.js";

/** Returns the log. It writes JSON lines to standard error, each synchronously and completely. */
export function newLog(context: Context, level: "info" | "warn" | "silent"): AgentLog {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: (line: string) => say(context, line.trimEnd()) });
}

const MAX_LENGTH = 500;

/**
 * Sends the console output of libraries to the agent's log instead. The A2A SDK writes internal errors to the
 * console, with stack traces and with input from clients.
 *
 * @returns A function that restores the console.
 */
export function consoleToLog(log: AgentLog): () => void {
  const { log: plain, info, warn, error } = console;
  const write = (...parts: unknown[]): void => {
    const [line = ""] = format(...parts).split("\n");
    log.warn({ text: withoutSecrets(line.slice(0, MAX_LENGTH)) }, "console");
  };
  Object.assign(console, { log: write, info: write, warn: write, error: write });
  return () => {
    Object.assign(console, { log: plain, info, warn, error });
  };
}

/** Writes a warning, whatever the log's level. */
export function warn(context: Context, message: string): void {
  say(context, `WARNING: ${printable(message.replace(/^WARNING: /, ""))}`);
}

export function warnOfLedger(context: Context, { error, waiting, lost }: LedgerProblem): void {
  const events = `${waiting} events wait, ${lost} are lost`;
  warn(context, `the ledger cannot be written: ${error.message}; ${events}`);
}
