import type { IncomingHttpHeaders } from "node:http";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { validateVersion } from "@a2a-js/sdk/server";
import type { Request, RequestHandler } from "express";
import type { Caller } from "../../agent/caller.js";
import type { Json } from "../../bytes/json.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import { answerFault } from "./answer.js";
import { giveUp } from "./calls.js";
import { type Entered, enter, type Gates, type Read } from "./entering.js";
import {
  type Binding,
  type Fault,
  failedWithin,
  fault,
  faultOf,
  malformed,
  refuse,
  TOO_MANY_STREAMS,
} from "./errors.js";
import { CAPABILITY_HEADER, ERROR_CODES } from "./extension.js";
import { answerOwnMethod, isOwnMethod, type OwnMethods } from "./extension-rpc.js";
import type { GuardedHandler } from "./guarded-handler.js";
import { historyIn } from "./injected-history.js";
import { flawInParams } from "./method-params.js";
import { decoded, isRoot, membersOf, outlineOf } from "./places.js";
import { readPresented } from "./presented.js";
import { flawInRequest } from "./rpc-request.js";
import { unreadIn } from "./unread.js";

/** What an entrance rests on. */
export interface EntranceOptions extends Gates {
  readonly handler: GuardedHandler;
  /** The extension's JSON-RPC methods that run something, beside those about capabilities. */
  readonly methods: OwnMethods;
  /** Who makes a request; `undefined` if that is not known. */
  readonly caller: CallerOf;
  /** Who makes it, where its stream goes on. */
  readonly callerAgain: CallerOf;
  /** The event streams of each caller that are open. */
  readonly streams: ConcurrencyLimit;
  /** Whether requests may name a tenant: a card that offers none lets the SDK keep any name. */
  readonly tenants: boolean;
  /** Whether requests may bring the history of a conversation: no card of ours declares that. */
  readonly histories: boolean;
  /** Called with what fails within: its caller learns only that something did. */
  readonly onFailure: (error: unknown, what: string) => void;
}

type CallerOf = (req: Request) => Caller | null | undefined | Promise<Caller | null | undefined>;

/** Event streams of one caller that may be open at once, unless given. */
export const MOST_STREAMS = 128;

/**
 * Stands before the SDK's handlers: reads what a request presents, answers the extension's own methods,
 * and asks for leave; what is refused is answered here, with every reason. A capability where the method
 * reads none refuses a request.
 *
 * @param bindingOf - Which of the SDK's handlers answers a request.
 */
export function entrance(
  options: EntranceOptions,
  bindingOf: (req: Request) => Binding,
): RequestHandler {
  const { agent, handler, onFailure } = options;
  return async (req, res, next) => {
    // What a first pass has read and taken away, a second would miss: a call without a capability.
    if (passed.has(req)) return next(new TypeError("the guard stands twice before this handler"));
    passed.add(req);
    // What is private to its caller; the SDK gives its streams a header of their own.
    res.setHeader("Cache-Control", "no-store");
    const binding = bindingOf(req);
    const body = membersOf(req.body);
    const { path, method: verb } = req;
    // Whatever else there is at the address, or below it, is not JSON-RPC.
    const isRpc = binding === "jsonrpc" && verb === "POST" && isRoot(path);
    const flawed = isRpc ? flawInRequest(req) : undefined;
    if (flawed !== undefined) return answerFault(res, binding, flawed);
    const answer = (why: Fault): void => {
      answerFault(res, binding, why, isRpc ? body["id"] : undefined);
    };
    const outline = outlineOf({ binding, verb, path, query: req.query, body });
    try {
      const caller = await options.caller(req);
      if (!isCaller(caller)) {
        if (!res.hasHeader("WWW-Authenticate")) res.setHeader("WWW-Authenticate", "Bearer");
        return answer(UNKNOWN_CALLER);
      }
      const problem = unreadIn(req, outline, agent.issuer);
      if (problem !== undefined) return answer(malformed(problem));
      const history = options.histories ? undefined : historyIn(outline);
      if (history !== undefined) return answer(malformed(history));
      const presented = readPresented(outline.params, req.headers, outline.places);
      const whenClosed = (then: () => void): void => {
        if (res.closed) then();
        else res.once("close", then);
      };
      const tryAgainAfter = (seconds: number): void => {
        if (!res.headersSent) res.setHeader("Retry-After", String(seconds));
      };
      const askAgain = async (ask: () => Promise<void>): Promise<void> => {
        try {
          const known = await options.callerAgain(req);
          const same = known?.principal === caller.principal && known.invoker === caller.invoker;
          if (!same) refuse(UNKNOWN_CALLER);
          await ask();
        } catch (error) {
          if (faultOf(error) !== undefined) throw error;
          onFailure(error, "stream");
          refuse(failedWithin(error));
        }
      };
      const by = { caller, binding, presented, whenClosed, tryAgainAfter, askAgain };
      const read: Read = { call: by, outline };
      withoutCapability(req);
      const isOwn = isRpc && isOwnMethod(outline.method);
      const asked = isOwn ? await answerOwnMethod(req, res, read, options) : read;
      if (asked === "answered") return;
      const { need, tenant, method, parameters, streams } = asked.outline;
      if (need === undefined || (binding === "jsonrpc" && !isRpc)) return next();
      const card = await handler.getAgentCard();
      const version = req.get("A2A-Version") || "0.3";
      validateVersion(version, card, binding === "jsonrpc" ? "JSONRPC" : "HTTP+JSON");
      const flaw = flawInParams(method, parameters);
      if (flaw !== undefined) throw new RequestMalformedError(flaw);
      if (streams) {
        const release = options.streams.take(caller);
        if (release === undefined) return answer(TOO_MANY_STREAMS);
        whenClosed(release);
      }
      const entered: Entered = await enter(
        need,
        asked,
        tenantOf(tenant, binding, options),
        options,
      );
      const { call } = asked;
      const unused = (): void => {
        if (entered.context === undefined) return;
        entered.context = undefined;
        giveUp(call, agent, "invalid_request");
      };
      if (res.closed) return unused();
      res.once("close", unused);
      handler.letIn(req.headers, entered);
      return next();
    } catch (error) {
      const why = faultOf(error);
      if (why === undefined) onFailure(error, "entrance");
      return answer(why ?? failedWithin(error));
    }
  };
}

/** What apps give for a caller that is not known: nothing at all. @throws TypeError for half a caller. */
function isCaller(caller: Caller | null | undefined): caller is Caller {
  if (caller === undefined || caller === null) return false;
  const { principal, invoker } = caller;
  if (![principal, invoker].every((name) => typeof name === "string" && name !== "")) {
    throw new TypeError("caller: must give a principal and an invoker, each a text, or undefined");
  }
  return true;
}

const passed = new WeakSet<Request>();

/** The SDK hands a request's headers to what runs and to its stores: capabilities go no further. */
function withoutCapability(req: Request): void {
  if (!(CAPABILITY in req.headers)) return;
  // Not deleted: that makes a table of an object which much is still read from.
  const others: IncomingHttpHeaders = {};
  for (const name of Object.keys(req.headers)) {
    if (name !== CAPABILITY) others[name] = req.headers[name];
  }
  req.headers = others;
  const raw = req.rawHeaders;
  for (let at = raw.length - 2; at >= 0; at -= 2) {
    const name = raw[at];
    if (name?.length === CAPABILITY.length && name.toLowerCase() === CAPABILITY) raw.splice(at, 2);
  }
}

const CAPABILITY = CAPABILITY_HEADER.toLowerCase();

function tenantOf(tenant: Json, binding: Binding, { tenants }: EntranceOptions): string {
  if (tenant === "" || tenant === null) return "";
  // Of an address the SDK takes it decoded, and as it stands of a body.
  if (tenants && typeof tenant === "string") {
    const named = binding === "rest" ? decoded(tenant) : tenant;
    if (named.length <= MAX_TENANT) return named;
    return refuse(malformed(`a tenant has at most ${MAX_TENANT} characters`));
  }
  return refuse(malformed("this agent has no tenants; leave the tenant out"));
}

const MAX_TENANT = 128;
const UNKNOWN_CALLER: Fault = fault(
  ERROR_CODES.unauthenticated,
  "it is not known who calls",
  "token_missing",
);
