import { isJsonObject, type Json } from "../bytes/json.js";
import type { CardReading } from "./card.js";
import { agentPlace } from "./chain.js";
import type { DiscoveryDenial } from "./denial.js";
import { hasCapability } from "./judge.js";
import { DISCOVERY_URI } from "./uris.js";

/** Something that an agent was seen to do. */
export type Behaviour =
  /** It did what only an agent with this capability does, a vendor's extension too. */
  | { readonly kind: "capability"; readonly name: string }
  /** It says that it has handed the task on to the agent at this address. */
  | { readonly kind: "delegate"; readonly url: string };

/**
 * What an agent did that its card does not declare: its card has fallen behind, or it does not keep to it.
 *
 * @returns `capability_undeclared` and `delegate_undeclared`, each once.
 */
export function undeclaredIn(
  card: CardReading,
  behaviours: readonly Behaviour[],
): readonly DiscoveryDenial[] {
  const found = new Map<string, DiscoveryDenial>();
  for (const behaviour of behaviours) {
    const denial =
      behaviour.kind === "delegate"
        ? delegateDenial(card, behaviour.url)
        : capabilityDenial(card, behaviour.name);
    if (denial !== undefined) found.set(denial.message, denial);
  }
  return [...found.values()];
}

const RULE = "response";

function capabilityDenial(card: CardReading, name: string): DiscoveryDenial | undefined {
  if (hasCapability(card, name)) return undefined;
  const shown = JSON.stringify(name.slice(0, 128));
  const message = `the agent did what only ${shown} stands for, which its card does not declare`;
  return { code: "capability_undeclared", rule: RULE, message, expected: name.slice(0, 128) };
}

function delegateDenial({ delegates }: CardReading, url: string): DiscoveryDenial | undefined {
  const place = agentPlace(url);
  if (delegates?.some((one) => agentPlace(one.url) === place)) return undefined;
  const actual = url.slice(0, 256);
  const message = `the agent has handed the task on to ${JSON.stringify(actual)}, which its card does not name`;
  return { code: "delegate_undeclared", rule: RULE, message, actual };
}

/** Addresses in one response. */
const MOST = 32;

/**
 * The agents that a response's metadata says the task was handed on to: `delegatedTo` under the contract's
 * URI, one address or several. What is there and cannot be read is given as it is written.
 *
 * @param metadata - Of a message, a task, an artifact or an event.
 */
export function delegatedTo(metadata: Json | undefined): readonly Behaviour[] {
  if (metadata === undefined || !isJsonObject(metadata)) return [];
  const entry = metadata[DISCOVERY_URI];
  if (entry === undefined || !isJsonObject(entry)) return [];
  const named = entry["delegatedTo"] ?? entry["delegated_to"] ?? [];
  const list: readonly Json[] = Array.isArray(named) ? named : [named];
  const shown = list
    .slice(0, MOST)
    .map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return shown.map((url) => ({ kind: "delegate", url }));
}
