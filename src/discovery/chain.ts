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

/** A chain of agents that may be given the task, or the reasons why not. */
export type ChainDiscovery = UsableChain | RefusedChain;

interface UsableChain {
  readonly ok: true;
  /** The agent to call: the first of the chain. */
  readonly agent: UsableAgent;
  /** Capabilities that the first agent declares, except propagating ones that a later agent lacks. */
  readonly capabilities: readonly string[];
  readonly warnings: readonly DiscoveryWarning[];
}

export interface RefusedChain {
  readonly ok: false;
  /** Every reason, each with the link that it is about; at least one. */
  readonly denials: readonly DiscoveryDenial[];
  /** The first link that is refused. */
  readonly link: DiscoveryLink;
  readonly warnings: readonly DiscoveryWarning[];
}

/** Most reasons, and most warnings, for one chain. */
export const MAX_CHAIN_REASONS = 100;
/** Most agents in one chain by default. */
export const MAX_CHAIN_LINKS = 8;

interface ChainOptions {
  /** Most agents in the chain; 8 unless given. */
  readonly maxLinks?: number;
}

/**
 * Judges a chain of agents, each of which delegates to the next. The first agent must meet all requirements;
 * every other one must have the protocol version and the capabilities that are required end to end.
 *
 * - A capability in `endToEnd`, and a required one that propagates (`context_reuse`), is checked at every link.
 *   A card that does not name its delegates then refuses the chain.
 * - A capability that a card relies on in the next agent is checked there, and at later agents too if it
 *   propagates.
 * - Each card with delegates must name the next agent.
 *
 * @param links - From the called agent to the last.
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
 * // What the other agent's card says is not known here.
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

/** Denies a link with delegates outside the chain, about which nothing is known. */
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

/** Returns the capabilities of the first agent, except propagating ones that a later agent lacks. */
function leftStanding([first, ...others]: readonly ChainLink[]): readonly string[] {
  const declared = [...(first?.card.capabilities ?? [])].flatMap(([name, has]) =>
    has ? [name] : [],
  );
  return declared.filter(
    (name) => !propagates(name) || others.every(({ card }) => card.capabilities.get(name) === true),
  );
}
