// The last uses of agents and grants. This file is separate from agents.ts, so that only this file needs the
// cache package.

import { LRUCache } from "lru-cache";
import { agentExpiry } from "./agents.js";
import type { PartiesContext } from "./context.js";
import type { PartyDraft } from "./store.js";

const MINUTE = 60_000;

const MAX_NOTED = 10_000;

/** Records the last use of agents and grants, usually at most once a minute. */
export class LastUses {
  readonly #context: PartiesContext;
  readonly #noted = new LRUCache<string, number>({ max: MAX_NOTED });

  constructor(context: PartiesContext) {
    this.#context = context;
  }

  /** Records a use and extends the agent's expiry, up to its longest lifetime. */
  async used(agentId: string, grantId?: string): Promise<void> {
    const { store, clock } = this.#context;
    const now = clock();
    const key = `${agentId} ${grantId ?? ""}`;
    const last = this.#noted.get(key);
    if (last !== undefined && now >= last && now < last + this.#pause()) return;
    this.#noted.set(key, now);
    try {
      await store.change((draft) => this.#note(draft, agentId, grantId, now));
    } catch (error) {
      // Let the next use try again.
      this.#noted.delete(key);
      throw error;
    }
  }

  async #note(
    draft: PartyDraft,
    agentId: string,
    grantId: string | undefined,
    now: number,
  ): Promise<void> {
    const agent = await draft.agents.get(agentId);
    if (agent?.status === "active" && (agent.expires ?? now + 1) > now) {
      const expires = agentExpiry(agent, now, this.#context);
      await draft.put("agents", { ...agent, lastUsed: now, expires });
      const host = await draft.hosts.get(agent.host);
      if (host !== undefined) await draft.put("hosts", { ...host, lastUsed: now });
    }
    const grant = grantId === undefined ? undefined : await draft.grants.get(grantId);
    if (grant?.status === "active") await draft.put("grants", { ...grant, lastUsed: now });
  }

  /**
   * Returns the minimum time between two records of a use, in milliseconds: a minute, or less if agents expire
   * soon.
   */
  #pause(): number {
    return Math.min(MINUTE, this.#context.settings.lifetimes.agent * 100);
  }
}
