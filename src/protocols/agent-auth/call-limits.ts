import type { Request } from "express";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { overLimit, type RateLimit, waitFor } from "../../http/callers.js";
import { addressKey } from "../../http/trusted-proxies.js";
import { type Fault, refuse } from "./errors.js";
import { hostIn, type Party } from "./party.js";

/** Refusals of strangers that the ledger keeps of one address within a minute; the log has all of them. */
const RECORDED = { points: 60, duration: 60 };

/**
 * Limits calls: an address before its credentials are looked at, and an active party of a user's host instead of
 * its address. All others count as their address: anyone can make them.
 */
export class CallLimits {
  readonly #limit: RateLimit;
  readonly #addresses: RateLimiterMemory;
  readonly #parties: RateLimiterMemory;
  readonly #recorded = new RateLimiterMemory(RECORDED);

  constructor(limit: RateLimit) {
    this.#limit = limit;
    const points = { points: limit.requests, duration: limit.seconds };
    this.#addresses = new RateLimiterMemory(points);
    this.#parties = new RateLimiterMemory(points);
  }

  /** Counts a request before its credentials cost anything. */
  address(req: Request): Promise<Fault | undefined> {
    return this.#taken(this.#addresses, addressKey(req));
  }

  /** Counts a request of a party whose signature holds, before anything is written about it. */
  async party(req: Request, party: Party): Promise<Fault | undefined> {
    const key = keyOf(party);
    if (key === undefined) return undefined;
    await this.#addresses.reward(addressKey(req));
    return this.#taken(this.#parties, key);
  }

  /** Whether the ledger takes one more refusal of a stranger at this address. */
  async records(req: Request): Promise<boolean> {
    return (await waitFor(this.#recorded, addressKey(req))) === undefined;
  }

  async #taken(limiter: RateLimiterMemory, key: string): Promise<Fault | undefined> {
    const retryAfter = await waitFor(limiter, key);
    if (retryAfter === undefined) return undefined;
    return refuse("rate_limited", overLimit(this.#limit, retryAfter), { retryAfter });
  }
}

/** Whether a party counts by itself, and not as its address. */
export function isCounted(party: Party): boolean {
  return keyOf(party) !== undefined;
}

function keyOf(party: Party): string | undefined {
  const host = hostIn(party);
  if (host?.status !== "active" || host.principal === undefined) return undefined;
  if (party.kind !== "agent") return `host ${host.id}`;
  return party.agent.status === "active" ? `agent ${party.agent.id}` : undefined;
}
