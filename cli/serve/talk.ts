import { pino } from "pino";
import type { AgentLog } from "../../src/http/log.js";
import type { LedgerProblem } from "../../src/stores/ledger/notes.js";
import type { Context } from "../context.js";
import { say } from "../output.js";
import { printable } from "../printable.js";

/** The log: JSON lines on standard error, written at once and whole. */
export function newLog(context: Context, level: "info" | "warn" | "silent"): AgentLog {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: (line: string) => say(context, line.trimEnd()) });
}

/** Tells the operator, whatever the log's level, of something that must not be overlooked. */
export function warn(context: Context, message: string): void {
  say(context, `WARNING: ${printable(message.replace(/^WARNING: /, ""))}`);
}

/** Tells the operator that events can not be written. */
export function warnOfLedger(context: Context, { error, waiting, lost }: LedgerProblem): void {
  const events = `${waiting} events wait, ${lost} are lost`;
  warn(context, `the ledger cannot be written: ${error.message}; ${events}`);
}
