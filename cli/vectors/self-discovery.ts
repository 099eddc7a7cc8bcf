import type { Json } from "../../src/bytes/json.js";
import { ClientError } from "../../src/client/client-error.js";
import type { CardReading } from "../../src/discovery/card.js";
import { parseCard } from "../../src/discovery/card-text.js";
import { validateChain } from "../../src/discovery/chain.js";
import { judgeItself } from "../../src/discovery/judge.js";
import { readCard } from "../../src/discovery/read-card.js";
import type { CapabilityRegistry, RegisteredCapability } from "../../src/discovery/registry.js";
import type { DiscoveryRequirements } from "../../src/discovery/requirements.js";
import { checkRegistry, checkStability } from "../../src/discovery/stability.js";
import { compareVersions, parseVersion } from "../../src/discovery/versions.js";

/** A card as the protocol has it. */
interface AskedCard {
  readonly card?: Json;
  readonly cardText?: string;
}

interface DiscoverRequest extends AskedCard {
  readonly op: "discover";
  readonly requirements: DiscoveryRequirements;
  readonly registry?: AskedRegistry;
}

interface ChainRequest {
  readonly op: "chain";
  readonly links: readonly (AskedCard & { readonly url: string })[];
  readonly requirements: DiscoveryRequirements;
  readonly maxLength?: number;
}

interface RegistryRequest {
  readonly op: "registry";
  readonly registry: AskedRegistry;
  readonly previous?: AskedRegistry;
}

/** A registry as the protocol has it: the tiers are only implicit and declared. */
interface AskedRegistry {
  readonly version: string;
  readonly capabilities: readonly (Omit<RegisteredCapability, "tier" | "description"> & {
    readonly tier: "implicit" | "declared";
  })[];
}

/** A request about cards, chains or registries. */
export type DiscoveryRequest = DiscoverRequest | ChainRequest | RegistryRequest;

// Where a card comes from only shows in messages.
const ANYWHERE = new URL("https://agent.example/");

type Answered = { readonly [name: string]: unknown };

/** This package's own answer to a request about cards, chains or registries. */
export function answerDiscovery(request: DiscoveryRequest): Answered {
  switch (request.op) {
    case "discover":
      return discover(request);
    case "chain":
      return chain(request);
    case "registry":
      return registry(request);
  }
}

function discover({ requirements, registry: asked, ...card }: DiscoverRequest): Answered {
  const known = asked === undefined ? undefined : registryFrom(asked);
  const result = judgeItself(readingOf(card), requirements, known);
  if (!result.ok) return { result: "refused", denials: result.denials };
  const warnings = result.warnings.map(({ code }) => code);
  return { result: "usable", interface: result.interface, version: result.version, warnings };
}

function chain({ links, requirements, maxLength }: ChainRequest): Answered {
  const cards = links.map(({ url, ...card }) => ({ url, card: readingOf(card) }));
  const options = maxLength === undefined ? {} : { maxLinks: maxLength };
  const result = validateChain(cards, requirements, options);
  if (result.ok) return { result: "valid" };
  const denials = result.denials.map(({ code, link }) => ({ code, link: link?.index }));
  return { result: "refused", denials };
}

function registry({ registry: asked, previous }: RegistryRequest): Answered {
  const next = registryFrom(asked);
  const problems =
    previous === undefined ? checkRegistry(next) : checkStability(registryFrom(previous), next);
  if (problems.length === 0) return { result: "valid" };
  return { result: "invalid", rules: problems.map(({ rule }) => rule) };
}

/** What is not the JSON of a card is read as none. */
function readingOf({ card = null, cardText }: AskedCard): CardReading {
  return readCard(cardText === undefined ? card : parsed(cardText));
}

function parsed(text: string): Json {
  try {
    return parseCard(text, ANYWHERE);
  } catch (error) {
    if (error instanceof ClientError) return null;
    throw error;
  }
}

function registryFrom({ version, capabilities }: AskedRegistry): CapabilityRegistry {
  const entries = capabilities.map((entry) => {
    const isDeprecated =
      entry.tier === "declared" &&
      entry.deprecated !== undefined &&
      isReached(entry.deprecated, version);
    const tier = isDeprecated ? "deprecated" : entry.tier;
    return { ...entry, tier, description: entry.name } as const;
  });
  return { version, capabilities: entries };
}

function isReached(moment: string, version: string): boolean {
  const [from, now] = [moment, version].map(parseVersion);
  return from !== undefined && now !== undefined && compareVersions(now, from) >= 0;
}
