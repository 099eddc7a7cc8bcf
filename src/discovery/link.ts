import type { CardDelegate, CardReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryLink, DiscoveryWarning } from "./denial.js";
import { judgeCapabilities, judgeItself } from "./judge.js";
import { propagates } from "./registry.js";
import {
  type DiscoveryRequirements,
  type SettledRequirements,
  settleRequirements,
} from "./requirements.js";

/** One agent of a chain: its card and its URL. */
export interface ChainLink {
  /** The URL of the agent, or of its card. */
  readonly url?: string;
  readonly card: CardReading;
}

/** The position of a link in a chain. */
interface LinkPlace {
  /** 0 for the called agent. */
  readonly index: number;
  readonly requirements: DiscoveryRequirements;
  /** The previous link; absent for the first. */
  readonly previous?: ChainLink | undefined;
}

/** Judges one link by its own card and the card of the previous link. The calling function checks cycles and depth. */
export function judgeLink(
  link: ChainLink,
  { index, requirements, previous }: LinkPlace,
): { readonly denials: DiscoveryDenial[]; readonly warnings: DiscoveryWarning[] } {
  const settled = settleRequirements(requirements);
  const claimed = previous === undefined ? [] : claimsOf(previous.card, link);
  const discovery = judgeItself(
    link.card,
    index === 0 ? requirements : linkRequirements(requirements),
  );
  const denials = discovery.ok ? [] : [...discovery.denials];
  const warnings = [...discovery.warnings];
  // If the previous card has no `delegates`, this agent is not reported as undeclared; `chain_unknown` covers
  // that case.
  const named =
    previous?.card.delegates === undefined || delegatesFor(previous.card, link).length > 0;
  if (!named) {
    const rule = "delegates";
    const message = "the agent before it does not name this one among its delegates";
    denials.push({ code: "delegate_undeclared", rule, message });
  }
  const known = new Set(endToEnd(settled));
  const claims = judgeCapabilities(
    link.card,
    claimed.filter((name) => !known.has(name)),
    settled,
  );
  for (const denial of claims.denials) {
    denials.push({
      ...denial,
      rule: "delegates",
      message: `${denial.message}, as the agent before it claims`,
    });
  }
  const place = linkAt(link, index);
  return {
    denials: denials.map((denial) => ({ ...denial, link: place })),
    warnings: warnings.map((warning) => ({ ...warning, link: place })),
  };
}

/**
 * Returns the requirements for every agent after the first: the protocol version, and the capabilities that are
 * required end to end.
 */
export function linkRequirements(requirements: DiscoveryRequirements): DiscoveryRequirements {
  const { protocolVersion, allowDeprecated } = requirements;
  return {
    protocolVersion,
    allowDeprecated,
    capabilities: endToEnd(settleRequirements(requirements)),
  };
}

/**
 * Returns the capabilities that every link must have: those in `endToEnd`, and those in `capabilities` that
 * propagate.
 */
export function endToEnd(
  requirements: Pick<SettledRequirements, "capabilities" | "endToEnd">,
): readonly string[] {
  const { capabilities, endToEnd: named } = requirements;
  return [...new Set([...named, ...capabilities.filter((name) => propagates(name))])];
}

/**
 * Returns the capabilities that this link and all later links must have: those in `before`, and propagating
 * capabilities that the previous card claims for this link.
 */
export function everywhereFrom(
  link: ChainLink,
  before: readonly string[],
  previous: ChainLink | undefined,
): readonly string[] {
  const claimed = previous === undefined ? [] : claimsOf(previous.card, link);
  return [...new Set([...before, ...claimed.filter((name) => propagates(name))])];
}

/** Returns the entries of a card that name the next agent. */
function delegatesFor({ delegates = [] }: CardReading, next: ChainLink): readonly CardDelegate[] {
  const places = new Set(placesOf(next));
  return delegates.filter(({ url }) => places.has(agentPlace(url)));
}

/** Returns the capabilities that a card claims for the next agent. */
function claimsOf(card: CardReading, next: ChainLink): readonly string[] {
  return [...new Set(delegatesFor(card, next).flatMap(({ capabilities }) => capabilities))];
}

/** Normalizes an agent's URL for comparison: without well-known card paths, query and fragment. */
export function agentPlace(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/\.well-known\/agent(?:-card)?\.json$/, "").replace(/\/+$/, "")}`;
}

/** Returns the URLs of an agent: the URL by which it was reached, or else the URLs in its card. */
export function placesOf({ url, card }: ChainLink): readonly string[] {
  return (url === undefined ? card.interfaces.map((one) => one.url) : [url]).map(agentPlace);
}

/** Returns the description of a link that denials and warnings contain. */
export function linkAt(link: ChainLink | undefined, index: number): DiscoveryLink {
  return link?.url === undefined ? { index } : { index, url: link.url };
}
