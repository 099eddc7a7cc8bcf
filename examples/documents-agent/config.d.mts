import type { Grant } from "../../src/agent/grant.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";

/** What the agent offers: reading, writing, and all at once for what knows no capabilities. */
export const grants: readonly Grant[];

/**
 * Alice reads everything and writes letters; bob reads the reports that are not confidential; carol
 * has an old tool that knows no capabilities.
 */
export const policy: PolicyDefinition;
