import { RateLimiterMemory } from "rate-limiter-flexible";
import { waitFor } from "../http/callers.js";
import type { Session } from "./sessions.js";

/** Most wrong user codes within a period. */
export interface CodeLimits {
  /** Most wrong codes in one session; 5 unless given. */
  readonly session: number;
  /** Most wrong codes of one user in all sessions; 10 unless given. */
  readonly user: number;
  /** The period in seconds; 900 unless given. */
  readonly seconds: number;
}

export const CODE_LIMITS: CodeLimits = { session: 5, user: 10, seconds: 900 };

/** Counts wrong user codes, so that nobody can find another user's code by guessing. */
export class CodeAttempts {
  readonly #sessions: RateLimiterMemory;
  readonly #users: RateLimiterMemory;

  constructor({ session, user, seconds }: CodeLimits) {
    this.#sessions = new RateLimiterMemory({ points: session, duration: seconds });
    this.#users = new RateLimiterMemory({ points: user, duration: seconds });
  }

  /** Counts an attempt before it is checked. @returns The seconds to wait if there were too many. */
  async take({ id, principal }: Session): Promise<number | undefined> {
    return (await waitFor(this.#sessions, id)) ?? (await waitFor(this.#users, principal));
  }

  /** Uncounts an attempt whose code was right. */
  async right({ id, principal }: Session): Promise<void> {
    await Promise.all([this.#sessions.reward(id), this.#users.reward(principal)]);
  }
}
