import type { JsonObject } from "../../bytes/json.js";
import { assertServiceName } from "../../capability/key-id.js";
import { notA } from "../../checks/kinds.js";
import { plainObject } from "../../checks/plain.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { KnownGrant } from "../grant.js";
import type { Skill, SkillEffect } from "../skill.js";

/** A capability of Agent-Auth: one skill, under the only grant that has its operation. */
export interface CapabilityTerm {
  /** The skill's id. */
  readonly name: string;
  readonly grant: string;
  readonly operation: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly input: JsonObject;
  /** JSON Schema of the result. */
  readonly output?: JsonObject;
  /** The URL at which another service runs the skill; absent if this agent runs it. */
  readonly location?: string;
  readonly effect: SkillEffect;
  readonly legacy: boolean;
  /**
   * The approvers, and how long they have to decide; the settings of the parties apply unless given. If set,
   * the capability is never granted without an approval.
   */
  readonly approval?: GrantApproval;
}

/** The capabilities of Agent-Auth, by name. */
export type CapabilityTerms = ReadonlyMap<string, CapabilityTerm>;

const NAME = /^[a-z0-9_]+$/;

/**
 * Returns an issuing agent's skills as Agent-Auth capabilities.
 *
 * @param locations - URLs of services that run a skill instead of this agent, by skill id.
 * @throws TypeError naming an argument of the wrong type, an invalid skill id or location, or an operation that
 *   is in no grant or in several.
 */
export function capabilityTerms(
  grants: ReadonlyMap<string, KnownGrant> | readonly KnownGrant[],
  skills: ReadonlyMap<string, Skill> | readonly Skill[],
  locations: { readonly [name: string]: string } = {},
): CapabilityTerms {
  for (const [name, value] of Object.entries({ grants, skills })) {
    if (Array.isArray(value) || value instanceof Map) continue;
    throw notA(name, `an array or a Map of ${name}`, value);
  }
  const places = plainObject(locations, "locations");
  const terms = new Map<string, CapabilityTerm>();
  const wrong: string[] = [];
  const known = [...skills.values()];
  for (const skill of known) {
    const { id, description, operation, input, output, effect } = skill;
    if (!NAME.test(id))
      wrong.push(`skill "${id}": a capability's name has a to z, 0 to 9 and "_" alone`);
    const found = grantOf(operation, [...grants.values()]);
    if (typeof found === "string") {
      wrong.push(`skill "${id}": its operation "${operation}" ${found}`);
      continue;
    }
    const location = Object.hasOwn(places, id) ? places[id] : undefined;
    terms.set(id, {
      name: id,
      grant: found.id,
      operation,
      description,
      input,
      legacy: found.legacy,
      // A skill without a declared effect may have any effect.
      effect: effect ?? "write",
      ...(output === undefined ? {} : { output }),
      ...(location === undefined ? {} : { location }),
      ...(found.approval === undefined ? {} : { approval: found.approval }),
    });
  }
  for (const [name, location] of Object.entries(places)) {
    if (!known.some(({ id }) => id === name))
      wrong.push(`location of "${name}": there is no such skill`);
    else if (!isWebAddress(location))
      wrong.push(`location of "${name}": must be an http or https URL that can be an audience`);
  }
  if (wrong.length > 0) throw new TypeError(wrong.join("; "));
  return terms;
}

/**
 * Returns the only grant with an operation, or a sentence about the problem. Legacy grants are considered only if no
 * other grant has the operation.
 */
function grantOf(operation: string, grants: readonly KnownGrant[]): KnownGrant | string {
  const having = grants.filter(({ operations }) => operations.includes(operation));
  const own = having.filter(({ legacy }) => !legacy);
  const [only, ...others] = own.length > 0 ? own : having;
  if (only === undefined) return "is in no grant";
  if (others.length === 0) return only;
  return `is in several grants: ${[only, ...others].map(({ id }) => id).join(", ")}`;
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) return false;
  try {
    assertServiceName(text);
    return true;
  } catch {
    return false;
  }
}
