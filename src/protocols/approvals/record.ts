import type { Ledger } from "../../agent/ledger.js";
import type { Desk } from "./desk.js";

/** Writes what the console refuses into the ledger: never what a form had in it. */
export function recordIn(ledger: Pick<Ledger, "note">, clock: () => number): Desk["record"] {
  return ({ code, record }, session) =>
    ledger.note({
      ...{ kind: "approval", at: new Date(clock()).toISOString(), decision: "refused" },
      ...{ change: "approval.refused", codes: [code] },
      ...(session === undefined ? {} : { principal: session.principal }),
      ...(record === undefined ? {} : { record }),
    });
}
