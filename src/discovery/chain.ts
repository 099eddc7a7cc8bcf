import { assertArray, assertOptionalString } from "../checks/kinds.js";
import { assertMembers, knownMembers } from "../checks/members.js";
import { assertReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryLink, DiscoveryWarning } from "./denial.js";
import type { UsableAgent } from "./discovery.js";
import { judgeItself } from "./judge.js";
import {
  agentPlace,
  type ChainLink,
  endToEnd,
  everywhereFrom,
  judgeLink,
  linkAt,
  placesOf,
} from "./link.js";
import { propagates } from "./registry.js";
import { type DiscoveryRequirements, settleRequirements } from "./requirements.js";

/** The verdict on a chain of agents: the agent to call, or the reasons for refusing the chain. */
export type ChainDiscovery = UsableChain | RefusedChain;

interface UsableChain {
  readonly ok: true;
  /** The agent to call: the first of the chain. */
  readonly agent: UsableAgent;
  /** Capabilities that the first agent declares, except propagating capabilities that a later agent lacks. */
  readonly capabilities: readonly string[];
  readonly warnings: readonly DiscoveryWarning[];
}

export interface RefusedChain {
  readonly ok: false;
  /** The reasons, at least one and at most 100, each with the link that it is about. */
  readonly denials: readonly DiscoveryDenial[];
  /** The first link that is refused. */
  readonly link: DiscoveryLink;
  readonly warnings: readonly DiscoveryWarning[];
}

/** Maximum number of reasons for one chain; also the maximum number of warnings. */
export const MAX_CHAIN_REASONS = 100;
/** Default maximum number of agents in one chain. */
export const MAX_CHAIN_LINKS = 8;

interface ChainOptions {
  /** Maximum number of agents in the chain; 8 unless given. */
  readonly maxLinks?: number;
}

/**
 * Judges a chain of agents, each of which delegates to the next. The first agent must meet all requirements.
 * Every later agent must speak the required protocol version, and have each capability that is required end to
 * end.
 *
 * - A capability is required end to end if it is in `endToEnd`, or if it is required and propagates
 *   (`context_reuse`). If there is such a capability, each card must name its delegates, and name none outside
 *   the chain.
 * - A capability that a card claims for the next agent is checked at that agent. If the capability propagates,
 *   it is checked at all later agents, too.
 * - A card that lists delegates must name the next agent.
 *
 * @param links - The agents of the chain, from the called agent to the last.
 * @throws TypeError if the requirements or the options are invalid, or there is no link.
 * @example
 * ```ts
 * import { DISCOVERY_URI, readCard, validateChain } from "proviso/discovery";
 *
 * const url = "https://agent.example";
 * const params = { delegates: [{ url: "https://other.example" }] };
 * const card = readCard({
 *   name: "agent",
 *   supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
 *   capabilities: { context_reuse: true, extensions: [{ uri: DISCOVERY_URI, params }] },
 * });
 * validateChain([{ url, card }]).ok; // => true
 * // The card of the other agent is not part of this chain.
 * const chain = validateChain([{ url, card }], { endToEnd: ["context_reuse"] });
 * chain.ok ? [] : chain.denials.map(({ code }) => code); // => ["chain_unknown"]
 * ```
 */
export function validateChain(
  links: readonly ChainLink[],
  requirements: DiscoveryRequirements = {},
  options: ChainOptions = {},
): ChainDiscovery {
  assertArray(links, "links", "agents, each with its card");
  for (const [at, link] of links.entries()) {
    const where = `links[${at}]`;
    assertReading(knownMembers(link, ["url", "card"], where).card, `${where}.card`);
    assertOptionalString(link.url, `${where}.url`);
  }
  const [first] = links;
  if (first === undefined) throw new TypeError("links: expected at least one agent");
  const most = linksAllowed(options);
  const checked = links.slice(0, most);
  let everywhere = endToEnd(settleRequirements(requirements));
  const judged = checked.map((link, index) => {
    const previous = checked[index - 1];
    everywhere = everywhereFrom(link, everywhere, previous);
    const all = { ...requirements, endToEnd: everywhere };
    const { denials, warnings } = judgeLink(link, { index, requirements: all, previous });
    const unknown = everywhere.length === 0 ? [] : unfollowed(link, index, checked[index + 1]);
    return { denials: [...denials, ...unknown], warnings };
  });
  const denials = judged.flatMap((one) => one.denials);
  const warnings = judged.flatMap((one) => one.warnings).slice(0, MAX_CHAIN_REASONS);
  if (links.length > most) denials.push(tooDeep(linkAt(links[most], most), most));
  denials.push(...cycles(checked));
  const agent = judgeItself(first.card, requirements);
  const [failed] = denials.flatMap(({ link }) => link ?? []).sort((a, b) => a.index - b.index);
  if (!agent.ok || failed !== undefined) {
    return {
      ok: false,
      denials: denials.slice(0, MAX_CHAIN_REASONS),
      link: failed ?? linkAt(first, 0),
      warnings,
    };
  }
  return { ok: true, agent, capabilities: leftStanding(checked), warnings };
}

/** Denies a link whose agent may delegate to an agent outside the chain, since that agent's card is unknown. */
function unfollowed(
  link: ChainLink,
  index: number,
  next: ChainLink | undefined,
): readonly DiscoveryDenial[] {
  const { delegates } = link.card;
  const reason = { code: "chain_unknown", rule: "delegates", link: linkAt(link, index) } as const;
  if (delegates === undefined) {
    const message = "the card does not say to whom the agent delegates";
    return [{ ...reason, message }];
  }
  const followed = new Set(next === undefined ? [] : placesOf(next));
  const others = delegates.filter(({ url }) => !followed.has(agentPlace(url)));
  return others.slice(0, 1).map(({ path }) => {
    const message = `the agent may delegate to ${others.length} more than this chain has`;
    return { ...reason, message, path };
  });
}

function cycles(links: readonly ChainLink[]): readonly DiscoveryDenial[] {
  const seen = new Map<string, number>();
  return links.flatMap((link, index): DiscoveryDenial[] => {
    const place = agentPlace(link.url ?? link.card.interfaces[0]?.url ?? "");
    const before = seen.get(place);
    if (before === undefined) seen.set(place, index);
    if (before === undefined || place === "") return [];
    const message = `the agent is in the chain before, as link ${before}`;
    return [{ code: "chain_cycle", rule: "delegates", message, link: linkAt(link, index) }];
  });
}

function tooDeep(link: DiscoveryLink, most: number): DiscoveryDenial {
  const message = `a chain has at most ${most} agents`;
  return { code: "chain_too_deep", rule: "delegates", message, expected: most, link };
}

function linksAllowed(options: ChainOptions): number {
  assertMembers(options, ["maxLinks"], "options");
  const { maxLinks = MAX_CHAIN_LINKS } = options;
  if (Number.isSafeInteger(maxLinks) && maxLinks > 0) return maxLinks;
  throw new TypeError("options.maxLinks: expected a number of agents, 1 or more");
}

/** Returns the capabilities of the first agent, except propagating capabilities that a later agent lacks. */
function leftStanding([first, ...others]: readonly ChainLink[]): readonly string[] {
  const declared = [...(first?.card.capabilities ?? [])].flatMap(([name, has]) =>
    has ? [name] : [],
  );
  return declared.filter(
    (name) => !propagates(name) || others.every(({ card }) => card.capabilities.get(name) === true),
  );
}
