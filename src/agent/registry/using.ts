import { LRUCache } from "lru-cache";
import { expiryOf } from "./keeping.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";

const MINUTE = 60_000;
const NOTED = 10_000;

/** Notes when agents and grants were used last, once a minute at most. */
export class Uses {
  readonly #context: RegistryContext;
  readonly #noted = new LRUCache<string, number>({ max: NOTED });

  constructor(context: RegistryContext) {
    this.#context = context;
  }

  /** An agent that is used expires later, but not after its longest time. */
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
      // The next use writes it.
      this.#noted.delete(key);
      throw error;
    }
  }

  async #note(
    draft: RegistryDraft,
    agentId: string,
    grantId: string | undefined,
    now: number,
  ): Promise<void> {
    const agent = await draft.agents.get(agentId);
    if (agent?.status === "active" && (agent.expires ?? now + 1) > now) {
      const expires = expiryOf(agent, now, this.#context);
      await draft.put("agents", { ...agent, lastUsed: now, expires });
      const host = await draft.hosts.get(agent.host);
      if (host !== undefined) await draft.put("hosts", { ...host, lastUsed: now });
    }
    const grant = grantId === undefined ? undefined : await draft.grants.get(grantId);
    if (grant?.status === "active") await draft.put("grants", { ...grant, lastUsed: now });
  }

  /** Shorter where agents expire soon. */
  #pause(): number {
    return Math.min(MINUTE, this.#context.settings.lifetimes.agent * 100);
  }
}
