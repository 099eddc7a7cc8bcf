import type { Request } from "express";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { isUsersHost } from "../../agent/parties/hosts.js";
import { overLimit, type RateLimit, waitFor } from "../../http/callers.js";
import { addressKey } from "../../http/trusted-proxies.js";
import { type Fault, fault } from "./errors.js";
import { hostIn, type Party } from "./party.js";

/**
 * Maximum number of refusals per minute that the ledger records for strangers (parties without a linked host) from one
 * IP address. The log has all refusals.
 */
const RECORDED = { points: 60, duration: 60 };
/**
 * Maximum number of refused executions per minute for strangers from one IP address, since each one adds an event to
 * the ledger. After that, these strangers can execute nothing until the minute is over.
 */
const REFUSED = { points: 60, duration: 60 };

/**
 * Limits the rate of requests. Before credentials are checked, each request counts against its IP address. A request of
 * an active party of a linked host then counts against the party instead. Anyone can create other parties, so their
 * requests remain counted by IP address.
 */
export class CallLimits {
  readonly #limit: RateLimit;
  readonly #addresses: RateLimiterMemory;
  readonly #parties: RateLimiterMemory;
  readonly #recorded = new RateLimiterMemory(RECORDED);
  readonly #refused = new RateLimiterMemory(REFUSED);

  constructor(limit: RateLimit) {
    this.#limit = limit;
    const points = { points: limit.requests, duration: limit.seconds };
    this.#addresses = new RateLimiterMemory(points);
    this.#parties = new RateLimiterMemory(points);
  }

  /** Counts a request before its credentials are checked. */
  address(req: Request): Promise<Fault | undefined> {
    return taken(this.#addresses, addressKey(req), this.#limit);
  }

  /** Counts a request whose signature has been verified, before anything about the party is stored. */
  async party(req: Request, party: Party): Promise<Fault | undefined> {
    const key = keyOf(party);
    if (key === undefined) return undefined;
    await this.#addresses.reward(addressKey(req));
    return taken(this.#parties, key, this.#limit);
  }

  /** Returns whether the ledger records one more refusal of a stranger from this IP address. */
  async records(req: Request): Promise<boolean> {
    return (await waitFor(this.#recorded, addressKey(req))) === undefined;
  }

  /**
   * Returns the fault if strangers from this IP address may execute nothing at present, because too many of
   * their executions were refused.
   */
  async executing(req: Request): Promise<Fault | undefined> {
    const known = await this.#refused.get(addressKey(req));
    if (known === null || known.consumedPoints < REFUSED.points) return undefined;
    const retryAfter = Math.max(1, Math.ceil(known.msBeforeNext / 1000));
    const message = `${known.consumedPoints} executions of agents without a user were refused at this address within a minute, the maximum; wait ${retryAfter} s`;
    return fault("rate_limited", message, { retryAfter });
  }

  /** Counts refused executions of strangers. */
  async refusedExecutions(req: Request, count: number): Promise<void> {
    await this.#refused.penalty(addressKey(req), count);
  }
}

/** Limits how often each IP address calls one endpoint. */
export function addressLimit(limit: RateLimit): (req: Request) => Promise<Fault | undefined> {
  const limiter = new RateLimiterMemory({ points: limit.requests, duration: limit.seconds });
  return (req) => taken(limiter, addressKey(req), limit);
}

async function taken(
  limiter: RateLimiterMemory,
  key: string,
  limit: RateLimit,
): Promise<Fault | undefined> {
  const retryAfter = await waitFor(limiter, key);
  if (retryAfter === undefined) return undefined;
  return fault("rate_limited", overLimit(limit, retryAfter), { retryAfter });
}

/** Returns whether the requests of a party are counted by party instead of by IP address. */
export function isCounted(party: Party): boolean {
  return keyOf(party) !== undefined;
}

function keyOf(party: Party): string | undefined {
  const host = hostIn(party);
  if (host === undefined || !isUsersHost(host)) return undefined;
  if (party.kind !== "agent") return `host ${host.id}`;
  return party.agent.status === "active" ? `agent ${party.agent.id}` : undefined;
}
