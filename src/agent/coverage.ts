import type { VerifiedCapability } from "../capability/authorize.js";
import { limitsArguments } from "../caveats/operation-authority.js";
import type { Clearance } from "./clearance.js";
import type { ResourceHandles } from "./resources/resource-handles.js";
import type { Operation } from "./skill.js";

/** A past use of authority. It has resource names rather than handles, since names outlive a capability. */
export interface AuthorityUse {
  readonly grant: string;
  /** Absent if a capability of the grant was presented, but no operation was called. */
  readonly operation?: string;
  /** The issuer's own names of the resources. */
  readonly resources: readonly string[];
}

/** Returns whether live capabilities allow a past use of authority. */
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
 * Returns a test of what several capabilities together allow. The test considers only capabilities that have the grant
 * and operation of the use, and no limits on the operation's arguments. The use is covered if one of these capabilities
 * has no limit on resources, or if together they name all resources of the use.
 *
 * @param capabilities - Authentic capabilities that are neither expired nor revoked.
 */
export function coverageOf(
  capabilities: readonly VerifiedCapability[],
  handles: ResourceHandles,
): Coverage {
  return async ({ grant, operation, resources }) => {
    const fitting = capabilities.filter(
      ({ grant: own, authority }) =>
        own === grant &&
        // The arguments of the use are not recorded, so they may violate a limit on arguments.
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
