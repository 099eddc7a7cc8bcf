import type { Request, Response } from "express";
import type { Approvals } from "../agent/parties/approvals.js";
import type { Parties } from "../agent/parties/parties.js";
import type { CodeAttempts } from "./code-attempts.js";
import type { Confirmations, SignIns } from "./confirmations.js";
import type { ArgumentsOf } from "./limits/arguments.js";
import type { OnlyReads } from "./limits/asked-view.js";
import type { ConsoleLogin } from "./login/login.js";
import type { NewHosts } from "./new-hosts.js";
import { type FaultParts, faultPage, type PageParts, page } from "./pages/layout.js";
import type { Session, Sessions } from "./sessions.js";

/** A refusal by the console. It has the parts of the page for the user, and of the event for the ledger. */
export interface Refusal extends FaultParts {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 429 | 500 | 503;
  /** A stable code, such as `approver_denied`. */
  readonly code: string;
  /** The id of the approval, grant or host that the refusal concerns. */
  readonly record?: string;
  /** True if the event must not be written, for example because the ledger has it already. */
  readonly recorded?: boolean;
  /** Seconds after which a retry can succeed. */
  readonly retryAfter?: number;
}

/** The configuration and services that every page of the console needs. */
export interface Desk {
  /** The name of the agent. */
  readonly name: string;
  /** The origin at which users open the console, such as `https://agent.example`. */
  readonly origin: string;
  /** The path of the console at that origin, such as `/approvals`. */
  readonly base: string;
  /** The URL of the console. */
  readonly url: string;
  readonly login: ConsoleLogin;
  readonly parties: Parties;
  readonly approvals: Approvals;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly confirmations: Confirmations;
  readonly newHosts: NewHosts;
  readonly attempts: CodeAttempts;
  readonly argumentsOf: ArgumentsOf;
  readonly onlyReads: OnlyReads;
  readonly now: () => number;
  /** Records a refusal in the ledger. */
  readonly record: (refusal: Refusal, session: Session | undefined) => void;
  readonly onFailure: (error: unknown, what: string) => void;
}

export function show(
  desk: Desk,
  req: Request,
  res: Response,
  parts: PageParts,
  status = 200,
): void {
  const session = desk.sessions.of(req);
  res
    .status(status)
    .type("html")
    .send(page(desk, session, parts).toString());
}

/** Sends a page that explains a refusal, and records the refusal in the ledger. */
export function sendRefusal(desk: Desk, req: Request, res: Response, refusal: Refusal): void {
  const session = desk.sessions.of(req);
  if (refusal.recorded !== true) desk.record(refusal, session);
  if (refusal.retryAfter !== undefined) res.setHeader("Retry-After", String(refusal.retryAfter));
  res
    .status(refusal.status)
    .type("html")
    .send(page(desk, session, faultPage(desk, refusal)).toString());
}

/** Redirects the browser to another page of the console, by GET. */
export function goTo(desk: Desk, res: Response, path: string): void {
  res.redirect(303, `${desk.base}${path}`);
}
