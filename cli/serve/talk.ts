import { pino } from "pino";
import type { AgentLog } from "../../src/http/log.js";
import type { LedgerProblem } from "../../src/stores/ledger/options.js";
import { say } from "../output.js";
import { printable } from "../printable.js";

/** The log: JSON lines on standard error, written at once and whole. */
export function newLog(level: "info" | "warn" | "silent"): AgentLog {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: (line: string) => say(line.trimEnd()) });
}

/** Tells the operator, whatever the log's level, of something that must not be overlooked. */
export function warn(message: string): void {
  say(`WARNING: ${printable(message.replace(/^WARNING: /, ""))}`);
}

/** Tells the operator that events can not be written. */
export function warnOfLedger({ error, waiting, lost }: LedgerProblem): void {
  warn(`the ledger can not be written: ${error.message}; ${waiting} events wait, ${lost} are lost`);
}
