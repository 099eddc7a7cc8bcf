import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { validateVersion } from "@a2a-js/sdk/server";
import type { Request, RequestHandler, Response } from "express";
import type { Caller } from "../../agent/caller.js";
import type { Json } from "../../bytes/json.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import { answerFault } from "./answer.js";
import type { AdmittedCalls, Call } from "./call.js";
import { connectionOf, type Known, UNKNOWN_CALLER } from "./connection.js";
import {
  type Binding,
  failedWithin,
  faultOf,
  malformed,
  TOO_MANY_STREAMS,
  throwRefused,
} from "./errors.js";
import { CAPABILITY_HEADER } from "./extension.js";
import { type Gates, gate } from "./gate.js";
import type { GuardedHandler } from "./guarded-handler.js";
import { assertRpcRequest } from "./json-rpc.js";
import { flawInParams, historyIn } from "./method-params.js";
import { misplacedIn } from "./misplaced-tokens.js";
import { decoded, isRoot, membersOf, type Outline, outlineOf } from "./outline.js";
import { isOwnMethod, type OwnMethods, readOwn } from "./own-methods.js";
import { readPresented } from "./presented-authority.js";

export interface BeforeOptions extends Gates {
  readonly handler: GuardedHandler;
  /** Passes admitted calls to the handler. */
  readonly calls: AdmittedCalls;
  /** The extension's own methods, by name. */
  readonly methods: OwnMethods;
  /** Returns the authenticated caller of a request; `undefined` if the request is not authenticated. */
  readonly caller: CallerOf;
  /** Authenticates the request of an open stream again, and returns its caller. */
  readonly callerAgain: CallerOf;
  /** Limits each caller's open event streams. */
  readonly streams: ConcurrencyLimit;
  /**
   * `true` if requests may name a tenant. If `false`, the middleware refuses requests that name a tenant; the
   * SDK itself would accept any name.
   */
  readonly tenants: boolean;
  /** `true` if requests may contain a conversation history. `serveAgent` passes `false`, as its card declares. */
  readonly histories: boolean;
  /** Called with each internal error. The client learns only that an error occurred. */
  readonly onFailure: (error: unknown, what: string) => void;
}

type CallerOf = (req: Request) => Known | Promise<Known>;

/** Default maximum number of open event streams per caller. */
export const MOST_STREAMS = 128;

/**
 * Returns the middleware in front of the SDK's handlers. It reads a request, authenticates its caller and asks
 * the gate. Then it refuses the call, answers a call of one of the extension's own methods, or passes the call
 * on to the SDK. It refuses a request that has a capability in a place that the method does not read.
 *
 * @param bindingOf - Returns the binding of a request.
 */
export function before(
  options: BeforeOptions,
  bindingOf: (req: Request) => Binding,
): RequestHandler {
  const { agent, calls, handler, methods, onFailure, streams } = options;
  return async (req, res, next) => {
    // A second guard would no longer see the token that the first one removed.
    if (passed.has(req)) return next(new TypeError("the guard stands twice before this handler"));
    passed.add(req);
    // The answer is private to the caller. For a stream, the SDK's own header replaces this one.
    res.setHeader("Cache-Control", "no-store");
    const binding = bindingOf(req);
    // Requests with other HTTP methods, or to paths below this one, are not JSON-RPC.
    const isRpc = binding === "jsonrpc" && req.method === "POST" && isRoot(req.path);
    let id: unknown;
    try {
      if (isRpc) {
        assertRpcRequest(req);
        id = req.body.id;
      }
      const outline = outlineIn(req, binding);
      const caller = await callerIn(req, options);
      assertRead(req, outline, options);
      const isOwn = isRpc && isOwnMethod(outline.method);
      // For an unknown HTTP+JSON path, the version is not checked.
      const isOfSdk = !isOwn && (isRpc || outline.need !== undefined);
      if (isOfSdk) await assertOperation(req, binding, outline, handler);
      const read = callIn(req, res, { outline, caller, binding, id }, options);
      hideCapability(req);
      if (binding === "jsonrpc" && !isRpc) return next();
      const { call, need, run } = isOwn
        ? await readOwn(req, res, read, methods)
        : { call: read, need: outline.need, run: undefined };
      // The SDK answers unknown methods.
      if (need === undefined) return next();
      if (isOwn && run === undefined) await assertOperation(req, binding, call.outline, handler);
      if (call.outline.streams) {
        const release = streams.take(caller);
        if (release === undefined) return throwRefused(TOO_MANY_STREAMS);
        call.connection.whenClosed(release);
      }
      const admitted = await gate(call, need, options);
      if (run !== undefined) {
        return void res.json({ jsonrpc: "2.0", id: id ?? null, result: await run(admitted) });
      }
      // The guarded handler looks up the admitted call of this request. It runs the admitted message instead of
      // the SDK's copy.
      calls.addFor(req, admitted);
      call.connection.whenClosed(() => calls.drop(admitted, agent, "invalid_request"));
      if (!res.closed) next();
    } catch (error) {
      const why = faultOf(error);
      if (why === undefined) onFailure(error, "before");
      answerFault(res, binding, why ?? failedWithin(error), id);
    }
  };
}

const passed = new WeakSet<Request>();

/** Parses the method and the parameters of a request from its path, query and body. */
function outlineIn(req: Request, binding: Binding): Outline {
  const { path, method: verb, query } = req;
  return outlineOf({ binding, verb, path, query, body: membersOf(req.body) });
}

/**
 * Authenticates the caller of a request. For an unknown caller, an app may return `undefined` or `null`.
 *
 * @throws Refused if the caller is unknown.
 * @throws TypeError if the caller is incomplete.
 */
async function callerIn(req: Request, options: BeforeOptions): Promise<Caller> {
  const caller = await options.caller(req);
  if (caller === undefined || caller === null) return throwRefused(UNKNOWN_CALLER);
  const { principal, invoker } = caller;
  if (![principal, invoker].every((name) => typeof name === "string" && name !== "")) {
    throw new TypeError(
      "caller: must give a principal and an invoker, each a string, or undefined",
    );
  }
  // A copy, because an app may return one object for many requests and change it later.
  return Object.freeze({ principal, invoker });
}

interface Reading {
  readonly outline: Outline;
  readonly caller: Caller;
  readonly binding: Binding;
  readonly id: unknown;
}

/**
 * @throws Refused if the request has a capability in a place that the method does not read, or a conversation
 *   history that the agent does not accept.
 */
function assertRead(req: Request, outline: Outline, { agent, histories }: BeforeOptions): void {
  const misplaced = misplacedIn(req, outline, agent.issuer);
  const problem = misplaced ?? (histories ? undefined : historyIn(outline));
  if (problem !== undefined) throwRefused(malformed(problem));
}

/**
 * Returns the call of a request, with the capabilities that the request presents.
 *
 * @throws Refused if the capabilities cannot be read, or the tenant is not accepted.
 */
function callIn(
  req: Request,
  res: Response,
  { outline, caller, binding, id }: Reading,
  options: BeforeOptions,
): Call {
  const { callerAgain, onFailure } = options;
  const { presented, declared } = readPresented(outline.params, req.headers, outline.places);
  const again = (): Known | Promise<Known> => callerAgain(req);
  return Object.freeze({
    caller,
    binding,
    outline,
    declared,
    capabilities: presented,
    asked: null,
    tenant: outline.need === undefined ? "" : tenantIn(outline.tenant, binding, options),
    connection: connectionOf(res, { binding, caller, callerAgain: again, id, onFailure }),
  });
}

/** @throws Refused if the tenant's name is too long, or the agent has no tenants. */
function tenantIn(tenant: Json, binding: Binding, { tenants }: BeforeOptions): string {
  if (tenant === "" || tenant === null) return "";
  // The SDK percent-decodes a tenant in a path, but not in a body.
  if (tenants && typeof tenant === "string") {
    const named = binding === "rest" ? decoded(tenant) : tenant;
    if (named.length <= MAX_TENANT) return named;
    return throwRefused(malformed(`a tenant has at most ${MAX_TENANT} characters`));
  }
  return throwRefused(malformed("this agent has no tenants; leave the tenant out"));
}

const MAX_TENANT = 128;

/** Removes capabilities from the headers, which the SDK passes on to the executor and the task store. */
function hideCapability(req: Request): void {
  if (!(CAPABILITY in req.headers)) return;
  // Node builds each of these objects from the raw headers on first access, so all three forms are cleaned.
  delete req.headers[CAPABILITY];
  delete req.headersDistinct[CAPABILITY];
  const raw = req.rawHeaders;
  for (let at = raw.length - 2; at >= 0; at -= 2) {
    if (raw[at]?.toLowerCase() === CAPABILITY) raw.splice(at, 2);
  }
}

const CAPABILITY = CAPABILITY_HEADER.toLowerCase();

/**
 * @throws A2AError if the card does not offer the requested protocol version, or a parameter of the method is
 *   invalid.
 */
async function assertOperation(
  req: Request,
  binding: Binding,
  outline: Outline,
  handler: GuardedHandler,
): Promise<void> {
  const version = req.get("A2A-Version") || "0.3";
  const protocol = binding === "jsonrpc" ? "JSONRPC" : "HTTP+JSON";
  validateVersion(version, await handler.getAgentCard(), protocol);
  const flaw = flawInParams(outline.method, outline.parameters);
  if (flaw !== undefined) throw new RequestMalformedError(flaw);
}
