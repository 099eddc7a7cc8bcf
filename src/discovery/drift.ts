import { isJsonObject, type Json } from "../bytes/json.js";
import { assertArray } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";
import { assertReading, type CardReading, DISCOVERY_URI } from "./card.js";
import type { DiscoveryDenial } from "./denial.js";
import { fieldsOf } from "./fields.js";
import { hasCapability } from "./judge.js";
import { agentPlace } from "./link.js";

/** Something that an agent was observed to do. */
export type Behaviour =
  /** The agent did something that requires the capability or vendor extension with this name. */
  | { readonly kind: "capability"; readonly name: string }
  /** The agent says that it has delegated the task to the agent at this URL. */
  | { readonly kind: "delegate"; readonly url: string };

/**
 * Returns a denial, `capability_undeclared` or `delegate_undeclared`, for each behaviour that an agent's card
 * does not declare. Duplicates are left out.
 *
 * @throws TypeError if an argument has the wrong type.
 */
export function undeclaredIn(
  card: CardReading,
  behaviours: readonly Behaviour[],
): readonly DiscoveryDenial[] {
  assertReading(card, "card");
  assertArray(behaviours, "behaviours", "behaviours");
  const found = new Map<string, DiscoveryDenial>();
  const named = new Set((card.delegates ?? []).map(({ url }) => agentPlace(url)));
  for (const behaviour of behaviours) {
    const denial =
      behaviour.kind === "delegate"
        ? delegateDenial(named, behaviour.url)
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

function delegateDenial(named: ReadonlySet<string>, url: string): DiscoveryDenial | undefined {
  if (named.has(agentPlace(url))) return undefined;
  const actual = url.slice(0, 256);
  const message = `the agent has handed the task on to ${JSON.stringify(actual)}, which its card does not name`;
  return { code: "delegate_undeclared", rule: RULE, message, actual };
}

/** Maximum number of URLs that are read from one response. */
const MOST = 256;

/**
 * Returns the agents to which a response says that its agent has delegated the task, without duplicates. The
 * response names them in its metadata, in `delegatedTo` (or `delegated_to`) under {@link DISCOVERY_URI}. An
 * entry that is not a string is returned as JSON. If there are more than 256 entries, a further entry has their
 * number; no card declares that entry, so {@link undeclaredIn} reports it.
 *
 * @param metadata - The metadata of a message, a task, an artifact or an event. Metadata that is not an object
 *   names no delegates.
 * @throws TypeError if an object is not a plain object, for example a Promise.
 */
export function delegatedTo(metadata: Json | undefined): readonly Behaviour[] {
  if (metadata === undefined || !isJsonObject(metadata)) return [];
  const entry = plainObject(metadata, "metadata")[DISCOVERY_URI];
  if (entry === undefined || !isJsonObject(entry)) return [];
  const list = fieldsOf([{ path: "", value: entry }], "delegatedTo").flatMap(
    ({ value }): readonly Json[] => (Array.isArray(value) ? value : [value]),
  );
  const shown = list
    .slice(0, MOST)
    .map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  if (list.length > MOST) shown.push(`${list.length} addresses`);
  return [...new Set(shown)].map((url) => ({ kind: "delegate", url }));
}
