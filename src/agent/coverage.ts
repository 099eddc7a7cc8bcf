import type { VerifiedCapability } from "../capability/authorize.js";
import { limitsArguments } from "../caveats/operation-authority.js";
import type { Clearance } from "./clearance.js";
import type { ResourceHandles } from "./resources/resource-handles.js";
import type { Operation } from "./skill.js";

/** A use: something done, by resource names, which outlive a capability, unlike handles. */
export interface AuthorityUse {
  readonly grant: string;
  /** Absent where only the grant was presented. */
  readonly operation?: string;
  /** The issuer's own names. */
  readonly resources: readonly string[];
}

/** Returns whether live capabilities allow what something was done with. */
export type Coverage = (use: AuthorityUse) => Promise<boolean>;

/** Returns the use of a cleared call; `undefined` for ambient authority. */
export function useOf({
  capability,
  asked,
  resources,
}: Clearance<Operation>): AuthorityUse | undefined {
  if (capability === undefined) return undefined;
  const names = Array.from(resources.values(), ({ name }) => name);
  return { grant: capability.grant, operation: asked.operation, resources: [...new Set(names)] };
}

/**
 * The combined coverage of capabilities. They cover a use if one has its grant and operation, and each of its
 * resources is named by one of these, or one of these has no limit on resources.
 *
 * @param capabilities - Authentic and live.
 */
export function coverageOf(
  capabilities: readonly VerifiedCapability[],
  handles: ResourceHandles,
): Coverage {
  return async ({ grant, operation, resources }) => {
    const fitting = capabilities.filter(
      ({ grant: own, authority }) =>
        own === grant &&
        // What the arguments were is not recorded: a limit on them may have been passed.
        !limitsArguments(authority, operation) &&
        (operation === undefined || (authority.operations?.includes(operation) ?? true)),
    );
    if (fitting.length === 0) return false;
    const names = new Set<string>();
    for (const capability of fitting) {
      const { resourceHandles } = capability.authority;
      if (resourceHandles === undefined) return true;
      const opened = await handles.open(capability, resourceHandles);
      for (const name of opened.values()) names.add(name);
    }
    return resources.every((name) => names.has(name));
  };
}
