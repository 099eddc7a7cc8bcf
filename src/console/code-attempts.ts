import { RateLimiterMemory } from "rate-limiter-flexible";
import { waitFor } from "../http/callers.js";
import type { Session } from "./sessions.js";

/** Limits on the number of wrong user codes within one period. */
export interface CodeLimits {
  /** Maximum number of wrong codes in one session; 5 by default. */
  readonly session: number;
  /** Maximum number of wrong codes by one user in all sessions; 10 by default. */
  readonly user: number;
  /** The period in seconds; 900 by default. */
  readonly seconds: number;
}

export const CODE_LIMITS: CodeLimits = { session: 5, user: 10, seconds: 900 };

/** Limits wrong user codes, so that nobody can find another user's code by guessing. */
export class CodeAttempts {
  readonly #sessions: RateLimiterMemory;
  readonly #users: RateLimiterMemory;

  constructor({ session, user, seconds }: CodeLimits) {
    this.#sessions = new RateLimiterMemory({ points: session, duration: seconds });
    this.#users = new RateLimiterMemory({ points: user, duration: seconds });
  }

  /**
   * Counts an attempt, before the code is checked.
   *
   * @returns The seconds to wait if a limit is exceeded; otherwise `undefined`.
   */
  async take({ id, principal }: Session): Promise<number | undefined> {
    return (await waitFor(this.#sessions, id)) ?? (await waitFor(this.#users, principal));
  }

  /** Takes back the count of an attempt, because its code was right. */
  async right({ id, principal }: Session): Promise<void> {
    await Promise.all([this.#sessions.reward(id), this.#users.reward(principal)]);
  }
}
