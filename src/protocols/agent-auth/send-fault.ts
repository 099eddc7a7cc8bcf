import type { Request, Response } from "express";
import type { Ledger, LedgerEventKind } from "../../agent/ledger.js";
import { knownCaller } from "../../http/callers.js";
import type { FaultWriter } from "../../http/fault.js";
import { DENIAL_HEADER } from "../../http/headers.js";
import { DISCOVERY_PATHS } from "./discovery.js";
import { type Fault, fromHttp, STATUS } from "./errors.js";

/** Answers with a fault in the form of this protocol. */
export type AnswerFault = (res: Response, fault: Fault) => void;

/** Statuses of faults that reveal nothing about permissions. The ledger does not record these faults. */
const UNRECORDED: readonly number[] = [404, 405, 429, 500, 503];

/**
 * Sends a fault without recording it.
 *
 * @param url - The server's address, for the challenge of a 401.
 */
export function sendFault(res: Response, fault: Fault, url?: string): void {
  const { code, message, more, retryAfter, codes = [code] } = fault;
  const status = fault.status ?? STATUS[code];
  res.setHeader(DENIAL_HEADER, codes.join(", "));
  res.setHeader("Cache-Control", "no-store");
  if (retryAfter !== undefined) res.setHeader("Retry-After", String(retryAfter));
  if (status === 401 && url !== undefined) {
    res.setHeader("WWW-Authenticate", `AgentAuth discovery="${url}${DISCOVERY_PATHS[0]}"`);
  }
  res.status(status).json({ error: code, message, ...more });
}

/** Records the refusal of a party's request in the ledger. */
export type RefusalNote = (req: Request, codes: readonly string[]) => void;

export function refusalNotes(
  ledger: Ledger,
  kind: LedgerEventKind,
  clock: () => number,
): RefusalNote {
  return (req, codes) => {
    const { principal, invoker } = knownCaller(req) ?? {};
    ledger.note({
      kind,
      at: new Date(clock()).toISOString(),
      decision: "refused",
      codes,
      principal,
      invoker,
    });
  };
}

/**
 * Returns a function that sends a fault. It also records the fault, unless the fault is `unrecorded` or its status is
 * in {@link UNRECORDED}.
 */
export function recordedFaults(note: RefusalNote, url: string): AnswerFault {
  return (res, fault) => {
    const { code, codes = [code], unrecorded } = fault;
    if (unrecorded !== true && !UNRECORDED.includes(fault.status ?? STATUS[code])) {
      note(res.req, codes);
    }
    sendFault(res, fault, url);
  };
}

/**
 * Returns a writer for faults that are found before the request is read. The writer answers in the form of this
 * protocol.
 */
export function faultWriter(answer: AnswerFault = sendFault): FaultWriter {
  return (res, fault) => answer(res, fromHttp(fault));
}
