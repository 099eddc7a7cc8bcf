import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import type { Ledger, LedgerEventKind } from "../../agent/ledger.js";
import type { Origin } from "../../agent/parties/records.js";
import type { JsonObject } from "../../bytes/json.js";
import { type BodyLimits, contentType, jsonBody } from "../../http/body.js";
import { noteCaller, type RateLimit } from "../../http/callers.js";
import { type FaultWriter, RETRY_AFTER } from "../../http/fault.js";
import { CAPABILITY_HEADER, DENIAL_HEADER } from "../../http/headers.js";
import { refuseWhileDraining } from "../../http/listen.js";
import { type AgentLog, requestLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import { originOf } from "../../http/trusted-proxies.js";
import { whenClosed } from "../../http/when-closed.js";
import { presentedToken } from "../../middleware/presented-token.js";
import { type PartyContext, partyOf } from "./authenticating.js";
import { isJsonObject } from "./bodies.js";
import { addressLimit, CallLimits, isCounted } from "./call-limits.js";
import { type Fault, fault } from "./errors.js";
import {
  type Allowed,
  type AllowedParties,
  hostIn,
  isAllowed,
  isStranger,
  type Party,
} from "./party.js";
import { faultWriter, recordedFaults, refusalNotes } from "./send-fault.js";

export type Answer =
  | {
      readonly ok: true;
      readonly body: JsonObject;
      /** `no-store` unless given. */
      readonly cacheControl?: string;
      /** Codes of refusals that the answer reports and that the ledger has not recorded yet. */
      readonly refused?: readonly string[];
      /** Number of refused executions in a batch. The ledger has already recorded them. */
      readonly failed?: number;
    }
  | Fault;

interface Call<By extends Party> {
  readonly party: By;
  readonly from: Origin;
  readonly body: JsonObject;
  /** The query parameters. Each may occur only once. */
  readonly query: { readonly [name: string]: string };
  readonly idempotencyKey: string | undefined;
  /** The token presented with an execution. */
  readonly token: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
}

export interface Endpoint<By extends Allowed> {
  readonly allowed: By;
  /** The kind of the endpoint's refusals in the ledger; `registration` unless given. */
  readonly kind?: LedgerEventKind;
  /** True if the endpoint accepts a capability's token. */
  readonly takesToken?: boolean;
  /**
   * True if the endpoint manages the agent. Such an endpoint refuses JWTs that are restricted by `capabilities`
   * (section 4.3).
   */
  readonly manages?: boolean;
  /** Rate limit of one IP address for this endpoint, in addition to the limit for all endpoints. */
  readonly rate?: RateLimit;
  answer(call: Call<AllowedParties[By]>): Promise<Answer>;
}

/** Dependencies of the handlers that run before every endpoint. */
export interface FrontContext extends PartyContext {
  readonly ledger: Ledger;
  readonly log: AgentLog;
  readonly metrics: AgentMetrics | undefined;
  readonly body: BodyLimits;
  readonly onFailure: (error: unknown, what: string) => void;
}

const TYPES = ["application/json"];

/**
 * Returns a function that makes the handlers of an endpoint. The handlers authenticate the party before they read the
 * body, so that a refused request costs little.
 */
export function fronts(
  context: FrontContext,
  isDraining: () => boolean,
): <By extends Allowed>(
  endpoint: Endpoint<By>,
) => readonly (RequestHandler | ErrorRequestHandler)[] {
  const { ledger, log, metrics, clock, url } = context;
  const found = new WeakMap<IncomingMessage, Party | Fault>();
  // The SHA-256 of the body, by request. Computed only if the JWT is bound to a body.
  const hashes = new WeakMap<IncomingMessage, string>();
  const limits = new CallLimits(context.rate);
  return ({
    allowed,
    kind = "registration",
    takesToken = false,
    manages = false,
    rate,
    answer: handle,
  }) => {
    const own = rate === undefined ? async () => undefined : addressLimit(rate);
    const note = refusalNotes(ledger, kind, clock);
    const answerFault = recordedFaults(note, url);
    const answer: FaultWriter = faultWriter(answerFault);
    const authenticate: RequestHandler = async (req, _res, next) => {
      const party =
        (await limits.address(req)) ??
        (await own(req)) ??
        (await foundParty(req, allowed, context, limits));
      found.set(req, party);
      if (!("ok" in party)) noteParty(req, party);
      next();
    };
    const endpoint: RequestHandler = async (req, res) => {
      const party = found.get(req);
      if (party === undefined) throw new TypeError("this request has not been authenticated");
      const gone = new AbortController();
      whenClosed(res, () => gone.abort());
      const outcome = "ok" in party ? party : await answered(party, req, gone.signal);
      await countRefused(req, party, outcome);
      if (res.closed) return;
      if (!outcome.ok) return refuseOutcome(req, res, outcome);
      if (outcome.refused !== undefined && (await limits.records(req))) note(req, outcome.refused);
      res.setHeader("Cache-Control", outcome.cacheControl ?? "no-store");
      res.json(outcome.body);
    };
    const answered = async (party: Party, req: Request, gone: AbortSignal): Promise<Answer> => {
      if (!isAllowed(party, allowed)) return fault("unauthorized", "this is for another party");
      if (manages && isNarrowed(party)) return fault("unauthorized", NARROWED);
      if (kind === "invocation" && isStranger(party)) {
        const tooMany = await limits.executing(req);
        if (tooMany !== undefined) return tooMany;
      }
      const read = callOf(req, takesToken);
      if (!read.ok) return read;
      const unbound = bodyFault(party, hashes.get(req) ?? NO_BODY);
      if (unbound !== undefined) return unbound;
      return handle({ ...read.call, party, from: originOf(req), gone });
    };
    const countRefused = async (req: Request, party: Party | Fault, outcome: Answer) => {
      if (kind !== "invocation" || "ok" in party || !isStranger(party)) return;
      const { failed = 0 } = outcome.ok ? outcome : { failed: outcome.unrecorded === true ? 1 : 0 };
      if (failed > 0) await limits.refusedExecutions(req, failed);
    };
    const received = (req: IncomingMessage, bytes: Uint8Array): void => {
      if (boundBody(found.get(req)) !== undefined) hashes.set(req, hashOf(bytes));
    };
    const refuseParty: RequestHandler = async (req, res, next) => {
      const party = found.get(req);
      if (party === undefined || !("ok" in party)) return next();
      return refuseOutcome(req, res, party);
    };
    // Limits how many refusals of strangers the ledger records. Otherwise a flood of requests with invalid credentials
    // would become a flood of ledger events.
    const refuseOutcome = async (req: Request, res: Response, fault: Fault): Promise<void> => {
      const party = found.get(req);
      const known = party !== undefined && !("ok" in party) && isCounted(party);
      const kept = known || fault.unrecorded === true || (await limits.records(req));
      answerFault(res, kept ? fault : { ...fault, unrecorded: true });
    };
    return [
      requestLog({
        binding: "agent-auth",
        denialHeader: DENIAL_HEADER,
        log,
        metrics,
        methodOf: (req) => `${req.method} ${req.route?.path}`,
      }),
      refuseWhileDraining(isDraining, answer),
      authenticate,
      refuseParty,
      contentType(TYPES, answer),
      jsonBody(TYPES, context.body, answer, received),
      endpoint,
    ];
  };
}

const NARROWED =
  'the JWT is narrowed to what it executes; send one without "capabilities" to manage the agent';

function isNarrowed(party: Party): boolean {
  return party.kind === "agent" && party.jwt.capabilities !== undefined;
}

/** Authenticates the party. Reports an error during authentication as the fault `unavailable`. */
async function foundParty(
  req: Request,
  allowed: Allowed,
  context: FrontContext,
  limits: CallLimits,
): Promise<Party | Fault> {
  try {
    return await partyOf(req, allowed, context, (party) => limits.party(req, party));
  } catch (error) {
    context.onFailure(error, "authentication");
    const message = "callers cannot be authenticated at the moment; try again soon";
    return fault("unavailable", message, { retryAfter: RETRY_AFTER });
  }
}

function noteParty(req: Request, party: Party): void {
  const host = hostIn(party);
  if (host === undefined) return;
  const { principal, id: invoker } = party.kind === "agent" ? party.agent : host;
  noteCaller(req, { invoker, principal });
}

type Read =
  | { readonly ok: true; readonly call: Omit<Call<Party>, "party" | "from" | "gone"> }
  | Fault;

function callOf(req: Request, takesToken: boolean): Read {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.query)) {
    if (typeof value !== "string") return fault("invalid_request", "a parameter is there twice");
    query[name] = value;
  }
  const presented = presentedToken((name) => req.get(name), false);
  if (!presented.ok) return fault("invalid_request", presented.message);
  const { token } = presented;
  if (token !== undefined && !takesToken) {
    const message = `${CAPABILITY_HEADER} goes with one execution; nothing else takes a capability`;
    return fault("invalid_request", message);
  }
  const body: unknown = req.body ?? {};
  if (!isJsonObject(body)) return fault("invalid_request", "the body must be a JSON object");
  return { ok: true, call: { query, body, token, idempotencyKey: req.get("Idempotency-Key") } };
}

/**
 * Returns the hash of the body to which a party's JWT is bound (`ath`); `undefined` if the JWT is not bound to a body.
 */
function boundBody(party: Party | Fault | undefined): string | undefined {
  if (party === undefined || "ok" in party || party.kind === "anonymous") return undefined;
  return party.jwt.bound.ath;
}

function hashOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64url");
}

const NO_BODY = hashOf(new Uint8Array());

/** Returns the fault if the party's JWT is bound to a body with another hash. */
function bodyFault(party: Party, hash: string): Fault | undefined {
  const ath = boundBody(party);
  if (ath === undefined || ath === hash) return undefined;
  return fault("request_binding_mismatch", 'the JWT is for another body ("ath")');
}
