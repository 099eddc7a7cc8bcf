import type { JsonObject } from "../bytes/json.js";
import { MAX_CHAIN_LINKS, MAX_CHAIN_REASONS, type RefusedChain } from "./chain.js";
import type { DiscoveryCode, DiscoveryDenial, DiscoveryLink, DiscoveryWarning } from "./denial.js";
import type { Discovery, UsableAgent } from "./discovery.js";
import { FETCH_TIMEOUT } from "./fetch-card.js";
import {
  agentPlace,
  type ChainLink,
  endToEnd,
  everywhereFrom,
  judgeLink,
  linkRequirements,
} from "./link.js";
import { type DiscoveryRequirements, settleRequirements } from "./requirements.js";
import {
  checkedOptions,
  type DiscoverOptions,
  discoverAt,
  discoverFrom,
  ownOrigins,
} from "./safe-discover.js";

/**
 * The verdict on an agent and on all agents to which it delegates, directly or indirectly, according to their
 * cards.
 */
export type LiveChain = UsableLiveChain | RefusedChain;

interface UsableLiveChain {
  readonly ok: true;
  /** The agent to call. */
  readonly agent: UsableAgent;
  /**
   * Every agent that may work on the task, the called agent first. An agent is listed once for each path of
   * delegation that leads to it.
   */
  readonly links: readonly DiscoveryLink[];
  readonly warnings: readonly DiscoveryWarning[];
}

/** Maximum number of agents in one discovery. An agent is counted once for each path of delegation that leads to it. */
const MAX_CHAIN_AGENTS = 32;
/** Timeout for a whole chain, in milliseconds. */
const CHAIN_TIMEOUT = 60_000;

/**
 * Discovers an agent as `safeDiscover` does, and every agent to which it delegates, directly or indirectly.
 * Judges each agent by its own card, and by the capabilities that the previous card claims for it.
 *
 * @param card - A card as JSON, or the URL of an agent or of its card.
 * @returns The agent to call, or the reasons for refusing the chain (at most 100), each with its link.
 * @throws TypeError if the requirements or the options are invalid.
 */
export async function discoverChain(
  card: JsonObject | string | URL,
  requirements: DiscoveryRequirements,
  options: DiscoverOptions = {},
): Promise<LiveChain> {
  const settled = settleRequirements(requirements);
  const checked = checkedOptions(options);
  const walk = new ChainWalk(requirements, checked, ownOrigins(card));
  const url = typeof card === "string" || card instanceof URL ? String(card) : undefined;
  const agent = await discoverFrom(card, requirements, checked);
  const first = url === undefined ? { index: 0 } : { index: 0, url };
  await walk.enter(agent, first, undefined, { before: [], everywhere: endToEnd(settled) });
  const { denials, links, warnings } = walk;
  if (agent.ok && denials.length === 0) return { ok: true, agent, links, warnings };
  const [link = { index: 0 }] = denials
    .flatMap((denial) => denial.link ?? [])
    .sort((a, b) => a.index - b.index);
  return { ok: false, denials, link, warnings };
}

/** The path of delegation to an agent. */
interface Way {
  /** URLs of the earlier agents on the path. */
  readonly before: readonly string[];
  /** Capabilities that every later agent must have. */
  readonly everywhere: readonly string[];
}

/** Follows all paths of delegation from one agent. */
class ChainWalk {
  readonly denials: DiscoveryDenial[] = [];
  readonly warnings: DiscoveryWarning[] = [];
  readonly links: DiscoveryLink[] = [];
  readonly #requirements: DiscoveryRequirements;
  readonly #options: DiscoverOptions;
  readonly #named: readonly string[];
  readonly #until: number = performance.now() + CHAIN_TIMEOUT;
  /** Results by the agent's URL, since several paths may lead to one agent. */
  readonly #discovered = new Map<string, Promise<Discovery>>();
  #counted = 0;

  constructor(
    requirements: DiscoveryRequirements,
    options: DiscoverOptions,
    named: readonly string[],
  ) {
    this.#requirements = requirements;
    this.#options = options;
    this.#named = named;
  }

  /** Records an agent, and continues with its delegates. */
  async enter(
    discovery: Discovery,
    place: DiscoveryLink,
    previous: ChainLink | undefined,
    way: Way,
  ): Promise<void> {
    this.links.push(place);
    this.#warn(discovery.warnings.map((warning) => ({ ...warning, link: place })));
    if (!discovery.ok) {
      this.#deny(discovery.denials.map((denial) => ({ ...denial, link: place })));
      return;
    }
    const { url = discovery.interface.url, index } = place;
    const link: ChainLink = { url, card: discovery.card };
    const everywhere = everywhereFrom(link, way.everywhere, previous);
    if (previous !== undefined) {
      const requirements = { ...this.#requirements, endToEnd: everywhere };
      this.#deny(judgeLink(link, { index, requirements, previous }).denials);
    }
    const { delegates } = discovery.card;
    if (delegates === undefined) return this.#unknown(place, everywhere.length > 0);
    const before = [...way.before, agentPlace(url)];
    for (const delegate of delegates) {
      const next = { index: index + 1, url: delegate.url };
      if (!this.#mayEnter(next, before)) continue;
      await this.enter(await this.#discover(delegate.url), next, link, { before, everywhere });
    }
  }

  #unknown(link: DiscoveryLink, needed: boolean): void {
    const message = "the card does not say to whom the agent delegates";
    const reason = { code: "chain_unknown", rule: "delegates", message, link } as const;
    if (needed) this.#deny([reason]);
    else this.#warn([reason]);
  }

  #deny(denials: readonly DiscoveryDenial[]): void {
    this.denials.push(...denials.slice(0, MAX_CHAIN_REASONS - this.denials.length));
  }

  #warn(warnings: readonly DiscoveryWarning[]): void {
    this.warnings.push(...warnings.slice(0, MAX_CHAIN_REASONS - this.warnings.length));
  }

  #mayEnter(link: DiscoveryLink & { readonly url: string }, before: readonly string[]): boolean {
    const breaks = (code: DiscoveryCode, rule: string, message: string): false => {
      this.#deny([{ code, rule, message, link }]);
      return false;
    };
    if (before.includes(agentPlace(link.url))) {
      return breaks("chain_cycle", "delegates", "the agent is in the chain before itself");
    }
    if (link.index >= MAX_CHAIN_LINKS) {
      return breaks("chain_too_deep", "depth", `a chain has at most ${MAX_CHAIN_LINKS} agents`);
    }
    this.#counted++;
    if (this.#counted < MAX_CHAIN_AGENTS) return true;
    // Reported once, since a card may name any number of delegates.
    if (this.#counted > MAX_CHAIN_AGENTS) return false;
    const message = `more than ${MAX_CHAIN_AGENTS} agents may come to work on the task`;
    return breaks("chain_too_deep", "agents", message);
  }

  #discover(url: string): Promise<Discovery> {
    const place = agentPlace(url);
    const known = this.#discovered.get(place) ?? this.#discoverNow(url);
    this.#discovered.set(place, known);
    return known;
  }

  async #discoverNow(url: string): Promise<Discovery> {
    const left = Math.max(Math.ceil(this.#until - performance.now()), 1);
    const { timeout = FETCH_TIMEOUT } = this.#options;
    const options = { ...this.#options, timeout: Math.min(timeout, left) };
    const { requireSignature } = this.#requirements;
    const requirements = {
      ...linkRequirements(this.#requirements),
      requireSignature,
    };
    return discoverAt(url, requirements, options, this.#named);
  }
}
