import type { Grant } from "../../src/agent/grant.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";

/** The agent's grants: one for reading, one for writing, and a legacy grant of both for tools without capabilities. */
export const grants: readonly Grant[];

/**
 * Alice may read everything and write letters. Bob may read reports that are not confidential. Carol has an old
 * tool without capabilities.
 */
export const policy: PolicyDefinition;
