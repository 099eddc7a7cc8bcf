import type { LedgerProblem } from "../../src/stores/ledger/notes.js";
import type { Context } from "../context.js";
import { printable, say } from "../output.js";

/** Warns the operator, whatever the log's level, of something that must not be overlooked. */
export function warn(context: Context, message: string): void {
  say(context, `WARNING: ${printable(message.replace(/^WARNING: /, ""))}`);
}

/** Warns the operator that events cannot be written. */
export function warnOfLedger(context: Context, { error, waiting, lost }: LedgerProblem): void {
  const events = `${waiting} events wait, ${lost} are lost`;
  warn(context, `the ledger cannot be written: ${error.message}; ${events}`);
}
