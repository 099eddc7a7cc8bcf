import { assertMembers } from "../../checks/members.js";
import type { ConnectionLimits } from "./connection.js";
import { LINE_LIMITS } from "./lines.js";

/**
 * Limits on the data that a host stores for its peers, and on the time that it waits for them. Times are in
 * milliseconds.
 */
export interface SessionLimits extends ConnectionLimits {
  /** Maximum number of sessions at once, including ended sessions whose calls still run; 256 unless given. */
  readonly sessions: number;
  /** Maximum number of sessions at once with a token of the same principal; 128 unless given. */
  readonly perPrincipal: number;
  /** Maximum number of peers at once whose handshake is not complete; 64 unless given. */
  readonly handshakes: number;
  /** Maximum number of calls at once in one session; 4 unless given. Peers learn this number as `max_parallel`. */
  readonly parallel: number;
  /** Number of faulty messages after which a session ends; 64 unless given. */
  readonly faults: number;
  /** Time limit for the handshake, counted from the start of the connection; 10,000 unless given. */
  readonly handshake: number;
  /** A session ends after this time without a message and without a running call; 300,000 unless given. */
  readonly idle: number;
  /** Time limit for a call whose message has no `timeout`; 30,000 unless given. */
  readonly call: number;
  /** Longest time limit for any call; 600,000 unless given. */
  readonly longestCall: number;
  /**
   * Time for running calls to finish after the host starts to shut down or the peer has sent its last message. The
   * session's plugins then have the same time to clean up. 10,000 unless given.
   */
  readonly drain: number;
  /** Interval of the checks that tokens are still valid; at most 1,000, which is the default. */
  readonly look: number;
}

/** The default limits of a connection. */
const CONNECTION_LIMITS: ConnectionLimits = {
  ...LINE_LIMITS,
  queue: 2 * 1024 * 1024,
  lineTime: 10_000,
  stall: 10_000,
};

const SESSION_LIMITS: SessionLimits = {
  ...CONNECTION_LIMITS,
  sessions: 256,
  perPrincipal: 128,
  handshakes: 64,
  parallel: 4,
  faults: 64,
  handshake: 10_000,
  idle: 300_000,
  call: 30_000,
  longestCall: 600_000,
  drain: 10_000,
  look: 1000,
};

/** @throws TypeError naming the limit that is wrong. */
export function sessionLimits(given: Partial<SessionLimits>): SessionLimits {
  const limits = settled(given, SESSION_LIMITS);
  if (limits.look > SESSION_LIMITS.look) {
    throw new TypeError(`limits.look: must be at most ${SESSION_LIMITS.look} milliseconds`);
  }
  return limits;
}

/** @throws TypeError naming the limit that is wrong. */
export function connectionLimits(given: Partial<ConnectionLimits>): ConnectionLimits {
  return settled(given, CONNECTION_LIMITS);
}

function settled<Limits extends ConnectionLimits>(
  given: Partial<Limits>,
  defaults: Limits,
): Limits {
  assertMembers(given, Object.keys(defaults), "limits");
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
      throw new TypeError(`limits.${name}: must be a whole number of at least 1`);
    }
  }
  const limits = { ...defaults, ...given };
  if (limits.queue <= limits.line)
    throw new TypeError("limits.queue: must be more than limits.line");
  return limits;
}

/** Maximum rate of messages in one session: `messages` in each of successive time windows of `seconds`. */
export interface MessageRate {
  readonly messages: number;
  readonly seconds: number;
}

/** Counts the messages of a session in time windows. */
export class RateWindow {
  readonly #rate: MessageRate;
  readonly #clock: () => number;
  #until = Number.NEGATIVE_INFINITY;
  #messages = 0;

  constructor(rate: MessageRate, clock: () => number) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /**
   * Counts one more message.
   *
   * @returns `true` if the session exceeds the rate.
   */
  isOver(): boolean {
    const now = this.#clock();
    if (now >= this.#until) {
      this.#until = now + this.#rate.seconds * 1000;
      this.#messages = 0;
    }
    this.#messages++;
    return this.#messages > this.#rate.messages;
  }
}
