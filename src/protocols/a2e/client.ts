import type { Duplex } from "node:stream";
import type { JsonObject } from "../../bytes/json.js";
import { assertArray, assertString } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";
import { plainCopy } from "../../checks/plain.js";
import { ClientSession, type Session, type SessionUpdate } from "./client-session.js";
import type { ConnectionLimits } from "./connection.js";
import { connectionLimits } from "./limits.js";
import { SessionError } from "./received.js";
import { connectTo, type SessionAddress } from "./socket.js";
import { TIMERS, type Timers } from "./timers.js";

export interface ConnectOptions {
  /** The address of the host, or a stream of bytes to the host. */
  readonly to: SessionAddress | Duplex;
  /** The agent's name. The host does not authenticate it. */
  readonly agentId: string;
  /** Names of the requested capabilities. */
  readonly capabilities: readonly string[];
  /** At most 16 tokens, each for a grant `a2e:NAME`, and at most 8 for the same grant. Empty for ambient authority. */
  readonly tokens?: readonly string[];
  /** True to declare ambient authority. Some hosts require this declaration of peers without tokens. */
  readonly ambient?: boolean;
  /** Milliseconds for connecting and the handshake together; 10,000 unless given. */
  readonly timeout?: number;
  /** Milliseconds for a call without its own `timeout`, and for a ping; 60,000 unless given. */
  readonly callTimeout?: number;
  /** Milliseconds that the host has to answer running calls after `close` is called; 15,000 unless given. */
  readonly closeTimeout?: number;
  readonly limits?: Partial<ConnectionLimits>;
  /** Aborts the connection attempt. Has no effect on an open session. */
  readonly signal?: AbortSignal;
  /** Called when capabilities have ended during the session. If the function throws, the session ends. */
  readonly onUpdate?: (update: SessionUpdate) => void;
  readonly timers?: Timers;
}

const OPTIONS = [
  "to",
  "agentId",
  "capabilities",
  "tokens",
  "ambient",
  "timeout",
  "limits",
  "signal",
  "onUpdate",
  "timers",
  "callTimeout",
  "closeTimeout",
];
const TIMEOUT = 10_000;
/** Longer than a host's default time limit for a call. */
const CALL_TIMEOUT = 60_000;
/** Longer than a host's default for `limits.drain`. */
const CLOSE_TIMEOUT = 15_000;

/**
 * Connects to a host and starts a session.
 *
 * @throws TypeError naming the option that is wrong.
 * @throws SessionError if the host refuses the session (`auth_failed`, `version_mismatch`, `no_caps`, `server_error`),
 *   answers with an error such as `too_many_sessions`, gives an answer that cannot be read, or does not answer in time
 *   (`handshake_timeout`).
 * @throws Error if nothing listens at the address.
 */
export async function connectSession(options: ConnectOptions): Promise<Session> {
  assertMembers(options, OPTIONS, "options");
  const { to, agentId, capabilities, tokens = [], ambient = false, limits = {} } = options;
  const { timeout = TIMEOUT, callTimeout = CALL_TIMEOUT, closeTimeout = CLOSE_TIMEOUT } = options;
  const { signal, onUpdate = () => {}, timers = TIMERS } = options;
  for (const [name, value] of Object.entries({ timeout, callTimeout, closeTimeout })) {
    if (!(value > 0)) throw new TypeError(`${name}: must be a number of milliseconds above 0`);
  }
  if (ambient && tokens.length > 0) throw new TypeError("ambient: with tokens, nothing is ambient");
  assertArray(tokens, "options.tokens", "tokens");
  if (tokens.some((token) => typeof token !== "string" || /[,\s]/.test(token) || token === "")) {
    throw new TypeError("tokens: each must be a token in base64url");
  }
  assertString(agentId, "options.agentId");
  assertArray(capabilities, "options.capabilities", "names");
  const asked = plainCopy(capabilities, "options.capabilities");
  const settled = connectionLimits(limits);
  const attempt = new AbortController();
  const abort = (): void => attempt.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const late = new SessionError("handshake_timeout", "the host did not answer in time");
  const off = timers.after(timeout, () => attempt.abort(late));
  try {
    const stream = "pipe" in to ? to : await connectTo(to, attempt.signal);
    const session = new ClientSession({
      stream,
      limits: settled,
      timers,
      onUpdate,
      callTimeout,
      closeTimeout,
      asked: new Set(asked),
    });
    const request: JsonObject = {
      agent_id: agentId,
      agent_caps: asked,
      auth_token: tokens.join(","),
      ...(ambient ? { authority: "ambient" } : {}),
    };
    await session.open(request, attempt.signal);
    return session;
  } finally {
    off();
    signal?.removeEventListener("abort", abort);
  }
}
