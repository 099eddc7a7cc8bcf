import type { Grant } from "../../src/agent/grant.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";

/** The agent's grants: reading, writing, and a legacy grant of both for tools without capabilities. */
export const grants: readonly Grant[];

/**
 * Alice may read everything and write letters; bob may read reports that are not confidential; carol has an old
 * tool without capabilities.
 */
export const policy: PolicyDefinition;
