import { quotedName } from "../bytes/json.js";
import { suggestions } from "../checks/nearest.js";
import { objectIn } from "../client/received.js";
import { assertReading, type CardReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryWarning, Judgement } from "./denial.js";
import type { ChosenInterface, Discovery } from "./discovery.js";
import { judgeGrants } from "./judge-grants.js";
import {
  CAPABILITY_REGISTRY,
  type CapabilityRegistry,
  propagates,
  registeredCapability,
  tierAt,
} from "./registry.js";
import {
  BINDINGS,
  type DiscoveryRequirements,
  type SettledRequirements,
  settleRequirements,
} from "./requirements.js";
import { isInAny, isInRange, isTurnedRound, rangeText, versionText } from "./versions.js";

/**
 * Judges from the card alone whether an agent may be given a task. Signatures are not verified, so
 * `requireSignature` refuses every card; `safeDiscover` verifies them first. With `endToEnd`, the card must say
 * that its agent delegates to no other agent.
 *
 * @param card - A card returned by {@link readCard} with the same registry.
 * @param registry - The capabilities that can be required in addition to vendors' capabilities; this package's
 *   registry unless given.
 * @throws TypeError if `card` was not returned by {@link readCard}, or the requirements are invalid.
 * @example
 * ```ts
 * import { judgeCard, readCard } from "proviso/discovery";
 *
 * const url = "https://agent.example/a2a";
 * const card = readCard({
 *   name: "agent",
 *   supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
 *   capabilities: { streaming: true },
 * });
 * judgeCard(card).ok; // => true
 * const refused = judgeCard(card, { capabilities: ["streaming_message"] });
 * const codes = refused.ok ? [] : refused.denials.map(({ code }) => code);
 * codes; // => ["capability_undeclared"]
 * ```
 */
export function judgeCard(
  card: CardReading,
  requirements: DiscoveryRequirements = {},
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): Discovery {
  assertReading(card, "card");
  const own = judgeItself(card, requirements, registry);
  const unknown = unknownBehind(card, settleRequirements(requirements, registry), registry);
  const warnings = [...own.warnings, ...unknown.warnings];
  const denials = [...(own.ok ? [] : own.denials), ...unknown.denials];
  return own.ok && denials.length === 0 ? { ...own, warnings } : { ok: false, denials, warnings };
}

/**
 * Returns a denial or a warning if a requirement also concerns the agents to which this agent delegates, since
 * this card alone says nothing about those agents.
 */
function unknownBehind(
  { delegates }: CardReading,
  { endToEnd, capabilities }: SettledRequirements,
  registry: CapabilityRegistry,
): Judgement {
  const isNeeded = endToEnd.length > 0;
  const isOpen = delegates === undefined || delegates.length > 0;
  const isAsked = isNeeded || capabilities.some((name) => propagates(name, registry));
  if (!isOpen || !isAsked) return { denials: [], warnings: [] };
  const said =
    delegates === undefined
      ? "the card does not say to whom the agent delegates"
      : "the agents that the card delegates to are not judged";
  const message = `${said}; discoverChain judges them too`;
  const reason = { code: "chain_unknown", rule: "delegates", message } as const;
  return isNeeded ? { denials: [reason], warnings: [] } : { denials: [], warnings: [reason] };
}

/**
 * Judges a card as {@link judgeCard} does, except for the agents to which its agent delegates. The calling
 * function judges those agents.
 */
export function judgeItself(
  card: CardReading,
  requirements: DiscoveryRequirements = {},
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): Discovery {
  const settled = settleRequirements(requirements, registry);
  const choice = chooseInterface(card, settled);
  const wanted = [...new Set([...settled.capabilities, ...settled.endToEnd])];
  const capabilities = judgeCapabilities(card, wanted, settled, registry);
  const grants = judgeGrants(card, settled);
  const denials = [
    ...card.faults,
    ...(settled.requireSignature ? [unverified(card)] : []),
    ...choice.denials,
    ...capabilities.denials,
    ...grants.denials,
  ];
  const warnings = [...capabilities.warnings, ...grants.warnings];
  if (choice.found === undefined || denials.length > 0) return { ok: false, denials, warnings };
  const version = versionText(settled.version);
  return { ok: true, card, interface: choice.found, version, warnings };
}

function unverified({ signatures }: CardReading): DiscoveryDenial {
  if (signatures === 0) {
    return { code: "signature_missing", rule: "signatures", message: "the card is not signed" };
  }
  const message = "the card is signed, and its signatures are not verified";
  return { code: "signature_untrusted", rule: "signatures", path: "/signatures", message };
}

/** Returns the first interface, in the order of the card, with an acceptable binding and the required version. */
function chooseInterface(
  card: CardReading,
  { binding, version }: SettledRequirements,
): { readonly found?: ChosenInterface; readonly denials: readonly DiscoveryDenial[] } {
  const { interfaces, range } = card;
  const wanted: readonly string[] = binding === undefined ? BINDINGS : [binding];
  const denials: DiscoveryDenial[] = [];
  const expected = versionText(version);
  const isExcluded = !isInRange(version, range) && !isTurnedRound(range);
  if (isExcluded) {
    const said = rangeText(range);
    const message = `the agent speaks protocol ${said}, not ${expected}`;
    denials.push({ code: "version_incompatible", rule: "range", message, expected, actual: said });
  }
  const bound = interfaces.filter((one) => wanted.includes(one.binding));
  if (bound.length === 0) {
    const offered = [...new Set(interfaces.map((one) => one.binding.slice(0, 64)))].slice(0, 8);
    const names = offered.filter((one) => one !== "").map(quotedName);
    const named =
      names.length === 0 ? "the card names no binding" : `it offers ${names.join(", ")}`;
    const said = offered.length === 0 ? "the card names no interface" : named;
    const message = `no interface with binding ${wanted.join(" or ")}: ${said}`;
    denials.push({
      code: "interface_unsupported",
      rule: "binding",
      message,
      expected: wanted,
      actual: offered,
    });
    return { denials };
  }
  const found = bound.find(({ speaks }) => isInAny(version, speaks));
  if (found === undefined && !isExcluded) {
    const versions = [...new Set(bound.flatMap(({ speaks }) => speaks.map(rangeText)))].slice(0, 8);
    const said =
      versions.length === 0 ? "the card names no version" : `the card has ${versions.join(", ")}`;
    const whose = binding === undefined ? "no interface" : `no interface with binding ${binding}`;
    const message = `${whose} speaks protocol ${expected}: ${said}`;
    denials.push({
      code: "version_incompatible",
      rule: "interfaces",
      message,
      expected,
      actual: versions,
    });
  }
  const known = BINDINGS.find((one) => one === found?.binding);
  if (found === undefined || known === undefined) return { denials };
  const { url, tenant } = found;
  const chosen = { url, binding: known, tenant };
  return { found: chosen, denials };
}

/** Judges whether the card declares each capability, and whether callers can rely on the capability. */
export function judgeCapabilities(
  card: CardReading,
  names: readonly string[],
  requirements: Pick<SettledRequirements, "version" | "allowDeprecated">,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): Judgement {
  const near = suggestions();
  const denials: DiscoveryDenial[] = [];
  const warnings: DiscoveryWarning[] = [];
  const declared = [...card.capabilities].flatMap(([name, has]) => (has ? [name] : []));
  for (const name of names) {
    const entry = registeredCapability(name, registry);
    const tier = entry === undefined ? "declared" : tierAt(entry, requirements.version);
    const rule = "capabilities";
    const { supersededBy } = entry ?? {};
    const instead = supersededBy === undefined ? "" : `; use ${supersededBy}`;
    if (tier === "removed") {
      const message = `${name} was removed in protocol ${entry?.removed}${instead}`;
      denials.push({ code: "capability_removed", rule, message, expected: name });
      continue;
    }
    if (!hasCapability(card, name, registry)) {
      denials.push(undeclared(card, name, near(name, declared), registry));
      continue;
    }
    if (tier !== "deprecated") continue;
    const message = `${name} is deprecated since protocol ${entry?.deprecated}${instead}`;
    const successor = supersededBy === undefined ? {} : { nearest: supersededBy };
    const reason = { code: "capability_deprecated", rule, message, ...successor } as const;
    (requirements.allowDeprecated ? warnings : denials).push(reason);
  }
  return { denials, warnings };
}

/**
 * Returns whether a card declares a capability; `true` for an implicit capability, which needs no declaration.
 * If the capability needs a flag of A2A, the card must also set that flag.
 */
export function hasCapability(
  card: CardReading,
  name: string,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): boolean {
  const entry = registeredCapability(name, registry);
  if (entry?.tier === "implicit") return true;
  const said = card.capabilities.get(name);
  // Listing an extension declares the vendor's capability with that URI, unless a flag denies it.
  if (entry === undefined) return said ?? card.extensions.includes(name);
  return said === true && (entry.needs === undefined || ownFlag(card, entry.needs));
}

function ownFlag({ document }: CardReading, name: string): boolean {
  return objectIn(document["capabilities"])[name] === true;
}

function undeclared(
  card: CardReading,
  name: string,
  near: string | undefined,
  registry: CapabilityRegistry,
): DiscoveryDenial {
  const said = card.capabilities.get(name);
  const needs = registeredCapability(name, registry)?.needs;
  const nearest = near === undefined ? {} : { nearest: near };
  const reason = { code: "capability_undeclared", expected: name } as const;
  if (said === true && needs !== undefined) {
    const message = `the card declares ${name} without capabilities.${needs}, which it needs`;
    return { ...reason, rule: needs, message, path: "/capabilities" };
  }
  const how =
    said === false
      ? `says that it has no ${quotedName(name)}`
      : `does not declare ${quotedName(name)}`;
  const actual = said === undefined ? {} : { actual: said };
  return { ...reason, rule: "capabilities", message: `the agent ${how}`, ...actual, ...nearest };
}
