import type { VerifiedCapability } from "../capability/authorize.js";
import { limitsArguments } from "../caveats/operation-authority.js";
import type { Clearance } from "./clearance.js";
import type { ResourceHandles } from "./resources/resource-handles.js";
import type { Operation } from "./skill.js";

/** What something was done with, by names that outlive a capability: handles are noise in another. */
export interface AuthorityUse {
  readonly grant: string;
  /** Absent where only the grant was presented. */
  readonly operation?: string;
  /** The issuer's own names. */
  readonly resources: readonly string[];
}

/** Whether live capabilities allow what something was done with. */
export type Coverage = (use: AuthorityUse) => Promise<boolean>;

/** What a cleared call uses; `undefined` where authority is ambient. */
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
 * What capabilities cover together: a use, if one has its grant and operation, and each of its resources is
 * named by one of these or by one without a limit.
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
