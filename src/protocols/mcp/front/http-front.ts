import type { Request, RequestHandler, Response } from "express";
import { contentType } from "../../../http/body.js";
import { DENIAL_HEADER } from "../../../http/headers.js";
import { type ListenOptions, refuseWhileDraining } from "../../../http/listen.js";
import { type AgentLog, failureLog, requestLog } from "../../../http/log.js";
import { type Mounted, type MountPoint, serve } from "../../../http/serve.js";
import { whenClosed } from "../../../http/when-closed.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../message/error-codes.js";
import { eraOf, errorText, HOST_LIMITS, type Message, readMessage } from "../message/message.js";
import { parameterHeaders } from "../message/mirrored-headers.js";
import { Admission } from "./admission.js";
import { EventStream } from "./event-stream.js";
import type { Exchange, HostSession } from "./exchange.js";
import { HttpAnswer } from "./http-answer.js";
import { answer, busy, refuse, refuseRoute } from "./http-refusals.js";
import { JSON_TYPE, oldHeadersFlaw, one, routeOf } from "./http-request.js";
import {
  type CallerOf,
  type HttpSession,
  HttpSessions,
  type OpenSession,
  type SessionOpener,
} from "./http-sessions.js";
import { sameOrigin } from "./same-origin.js";
import { Shares } from "./shares.js";
import { Unread, type UnreadLimits } from "./unread.js";

export interface HttpFrontOptions extends UnreadLimits {
  readonly address: ListenOptions;
  readonly open: OpenSession;
  /**
   * Judges an `initialize`: returns who opens the session, or the answer that refuses the session.
   *
   * @param credentials - The tokens in the HTTP headers.
   */
  readonly opening: (message: Message, credentials: readonly string[]) => Promise<SessionOpening>;
  /**
   * Names the party that presents tokens. Each party may have a limited number of open requests, subscriptions and
   * sessions. A session belongs to one party, and ends when the tokens that it last presented are no longer in force.
   */
  readonly callerOf: CallerOf;
  readonly log: AgentLog;
  /** Origins of web pages that may send requests. A gate at a loopback address also allows every loopback origin. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Allowed values of the header `Host`. A gate at a loopback address also allows loopback names. A gate at another
   * address allows every name unless this option is given.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Maximum number of received bytes of all incomplete bodies together; 64 MiB unless given. */
  readonly unfinished?: number | undefined;
  /** Longest message of a host, in bytes; 4 MiB unless given. */
  readonly bytes?: number | undefined;
  /** Maximum number of open sessions of the old era; 64 unless given. One opener may have a quarter of them. */
  readonly sessions?: number | undefined;
  /** Milliseconds without a request after which a session ends; 1,800,000 (30 minutes) unless given. */
  readonly idle?: number | undefined;
  /** Milliseconds that pending requests have to finish when the gate closes; 10,000 unless given. */
  readonly grace?: number | undefined;
}

/** The answer that refuses an `initialize`, or the party that opens the session. */
export type SessionOpening = { readonly refusal: string } | SessionOpener;

export interface HttpFront {
  /** The address of the gate, such as `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** Accepts no more requests, finishes pending ones, and ends all sessions. */
  close(): Promise<void>;
}

const PATH = "/mcp";
const EVENTS = "text/event-stream";
const SESSION = "mcp-session-id";
const SESSIONS = 64;
const IDLE = 30 * 60_000;
/** Maximum number of subscriptions that are open at the same time. One caller may have a quarter of them. */
const MOST_ENDLESS = 256;
const LISTEN = "subscriptions/listen";
const NO_SESSION =
  "there is no such session, or the headers have no valid token of the party that has opened it";

/**
 * Serves hosts over Streamable HTTP at `/mcp`, in both eras, until it is closed.
 *
 * @throws Error if the port is taken.
 */
export async function serveHttp(options: HttpFrontOptions): Promise<HttpFront> {
  const { address, log, grace } = options;
  const onFailure = failureLog(log);
  const mount = (place: MountPoint): HttpMount => new HttpMount(options, place, onFailure);
  const served = await serve({ grace, answer, onFailure }, address, mount);
  return { url: `${served.url}${PATH}`, close: () => served.close() };
}

class HttpMount implements Mounted {
  readonly #sessions: HttpSessions;
  readonly #opening: HttpFrontOptions["opening"];
  readonly #limits: typeof HOST_LIMITS;
  readonly #onFailure: (error: unknown, what: string) => void;
  readonly #unread: Unread;
  readonly #endless = new Set<HttpAnswer>();
  readonly #admission: Admission;
  readonly #subscriptions = new Shares(MOST_ENDLESS);

  constructor(
    options: HttpFrontOptions,
    { app, isDraining, draining }: MountPoint,
    onFailure: (error: unknown, what: string) => void,
  ) {
    const { address, open, callerOf, log, sessions = SESSIONS, idle = IDLE } = options;
    const { allowedOrigins = [], allowedHosts = [], bytes = HOST_LIMITS.bytes } = options;
    this.#sessions = new HttpSessions(open, { most: sessions, idle, callerOf }, onFailure);
    this.#opening = options.opening;
    this.#limits = { ...HOST_LIMITS, bytes };
    this.#unread = new Unread(options);
    this.#admission = new Admission(callerOf, options.unfinished);
    this.#onFailure = onFailure;
    const { host = "127.0.0.1" } = address;
    const forbid = (res: Response, reason: string): void => {
      log.warn({ reason }, "forbidden");
      refuse(res, 403, INVALID_REQUEST, reason);
    };
    draining.addEventListener("abort", () => this.#endStreams(), { once: true });
    app.use(PATH, [
      requestLog({ binding: "mcp", denialHeader: DENIAL_HEADER, log, metrics: undefined }),
      sameOrigin({ host, allowedOrigins, allowedHosts }, forbid),
      refuseWhileDraining(isDraining, answer),
      this.#admission.identify(),
    ]);
    app.post(
      PATH,
      this.#admission.bound(),
      contentType([JSON_TYPE], answer),
      this.#admission.body(bytes),
      (req, res) => this.#post(req, res),
    );
    const other: RequestHandler = (_req, res) => {
      res.setHeader("Allow", "POST, GET, DELETE");
      refuse(res, 405, INVALID_REQUEST, "the method must be POST, GET or DELETE");
    };
    // Without this handler, Express answers HEAD with the handler of GET.
    app.head(PATH, other);
    app.get(PATH, (req, res) => this.#get(req, res));
    app.delete(PATH, (req, res) => this.#delete(req, res));
    app.all(PATH, other);
  }

  async stop(): Promise<void> {
    await this.#sessions.close();
  }

  /** Ends the streams that do not end by themselves: streams opened with GET, and subscriptions. */
  #endStreams(): void {
    this.#sessions.endStreams();
    for (const endless of this.#endless) endless.cut();
  }

  async #post(req: Request, res: Response): Promise<void> {
    const { headers } = req;
    const accepted = headers.accept ?? "";
    if (req.accepts(JSON_TYPE) === false || req.accepts(EVENTS) === false || accepted === "") {
      return refuse(res, 406, INVALID_REQUEST, `Accept must name ${JSON_TYPE} and ${EVENTS}`);
    }
    const body: unknown = req.body;
    const read = readMessage(body instanceof Uint8Array ? body : "", this.#limits);
    // Frees the body: the response holds the request, and may stay open for long.
    req.body = undefined;
    if (!read.ok) return refuse(res, 400, read.code, read.reason, read.isAnswer ? null : read.id);
    const { message } = read;
    const route = routeOf(message, headers);
    if (route.kind === "refused") return refuseRoute(res, route, message);
    if (route.kind === "dropped") return void res.status(202).end();
    try {
      if (route.kind === "shared") {
        await this.#take(await this.#sessions.shared(), message, { req, res });
      } else await this.#old(route.kind, message, { req, res });
    } catch (error) {
      this.#onFailure(error, "message");
      // Ends an event stream that has begun. Its request gets no answer.
      if (res.headersSent) res.end();
      else
        refuse(
          res,
          503,
          INTERNAL_ERROR,
          "the gate cannot work on this; its log says why",
          message.id,
        );
    }
  }

  async #old(kind: "opening" | "session", message: Message, post: Post): Promise<void> {
    const { req, res } = post;
    const flaw = oldHeadersFlaw(req.headers);
    if (flaw?.kind === "refused") return refuseRoute(res, flaw, message);
    if (kind === "session") {
      const found = this.#find(req, res, message.id);
      if (found === undefined) return;
      await this.#take(found.session, message, post, found);
      return;
    }
    const { tokens } = this.#admission.caller(req);
    const opening = await this.#opening(message, tokens);
    if ("refusal" in opening) return void res.type(JSON_TYPE).send(opening.refusal);
    const opened = await this.#sessions.create(opening, tokens.length > 0);
    if (opened === undefined) {
      const reason = "there are as many sessions as the gate can have; try again later";
      return refuse(res.setHeader("Retry-After", "60"), 503, INVALID_REQUEST, reason, message.id);
    }
    res.setHeader("Mcp-Session-Id", opened.id);
    let isInitialized = false;
    whenClosed(res, () => {
      // A client that has not received the result does not use the session.
      if (isInitialized && res.writableFinished) return;
      this.#sessions.end(opened.id).catch((error) => this.#onFailure(error, "session"));
    });
    await this.#take(opened.session, message, post, opened, (isError) => {
      isInitialized = !isError;
      if (isError && !res.headersSent) res.removeHeader("Mcp-Session-Id");
    });
  }

  /**
   * Passes a message to its session, and answers the POST.
   *
   * @param onResponse - Called before the JSON-RPC response is sent.
   */
  async #take(
    session: HostSession,
    message: Message,
    { req, res }: Post,
    old?: HttpSession,
    onResponse?: (isError: boolean) => void,
  ): Promise<void> {
    const { headers } = req;
    const { tokens, name } = this.#admission.caller(req);
    const about = { credentials: tokens, era: eraOf(message), headers: parameterHeaders(headers) };
    if (message.kind !== "request") {
      const done = old === undefined ? () => {} : this.#sessions.use(old.id, () => {});
      whenClosed(res, done);
      const send = async (): Promise<void> => {};
      await session.receive(message, { ...about, send, signal: new AbortController().signal });
      res.status(202).end();
      return;
    }
    const isEndless = message.method === LISTEN;
    const done = isEndless ? this.#subscriptions.take(name) : () => {};
    if (done === undefined) return busy(res);
    whenClosed(res, done);
    this.#unread.add(res, name);
    const answering = new HttpAnswer(res, about.era, this.#unread, onResponse);
    if (old !== undefined) {
      const text = errorText(message.id ?? null, INVALID_REQUEST, "the session has ended");
      const cut = (): void => void answering.send(text);
      whenClosed(res, this.#sessions.use(old.id, cut));
    }
    if (isEndless) {
      this.#endless.add(answering);
      whenClosed(res, () => this.#endless.delete(answering));
    }
    const exchange: Exchange = {
      ...about,
      send: (text) => answering.send(text),
      signal: answering.signal,
    };
    await session.receive(message, exchange);
  }

  async #get(req: Request, res: Response): Promise<void> {
    if (req.accepts(EVENTS) === false || req.headers.accept === undefined) {
      return refuse(res, 406, INVALID_REQUEST, `Accept must name ${EVENTS}`);
    }
    if (req.headers[SESSION] === undefined) {
      // In the new era, GET opens no stream.
      res.setHeader("Allow", "POST");
      return refuse(res, 405, INVALID_REQUEST, "without a session there is no stream");
    }
    const found = this.#find(req, res);
    if (found === undefined) return;
    this.#unread.add(res, this.#admission.caller(req).name);
    const stream = new EventStream(res, this.#unread);
    const done = this.#sessions.use(found.id, () => stream.end());
    whenClosed(res, done);
    found.stream.open(stream);
  }

  async #delete(req: Request, res: Response): Promise<void> {
    const found = this.#find(req, res);
    if (found === undefined) return;
    await this.#sessions.end(found.id);
    res.status(204).end();
  }

  /** Returns the session that a request names. If there is none, answers the request and returns `undefined`. */
  #find(req: Request, res: Response, id?: string | number): HttpSession | undefined {
    const named = one(req.headers, SESSION);
    if (named === undefined) {
      refuse(res, 400, INVALID_REQUEST, "the header Mcp-Session-Id is missing", id);
      return undefined;
    }
    const found = this.#sessions.find(named, this.#admission.caller(req));
    if (found === undefined) refuse(res, 404, INVALID_REQUEST, NO_SESSION, id);
    return found;
  }
}

interface Post {
  readonly req: Request;
  readonly res: Response;
}
