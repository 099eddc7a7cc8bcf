// The configuration of `proviso session serve`. In this folder, host.ts starts a host and its plugins.
// connect.ts reads calls, one per line, and prints the answers.

import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { McpPluginOptions } from "../../src/protocols/a2e/plugins/mcp/mcp-plugin.js";
import type { ProcPluginOptions } from "../../src/protocols/a2e/plugins/proc/proc-plugin.js";
import type { MemoryLimits } from "../../src/stores/memory/memory-limits.js";
import type { RevocationListConfig } from "../serve/agent-config.js";

/**
 * The configuration of `proviso session serve`. The schema `schemas/session-config.schema.json` defines the
 * defaults.
 */
export interface SessionConfig {
  readonly home?: string;
  readonly database?: string;
  readonly listen: { readonly host: string; readonly port: number; readonly path?: string };
  readonly policy?: PolicyDefinition | string;
  readonly ambient?: {
    readonly principal: string;
    readonly invoker: string;
    readonly undeclared: "accepted" | "refused";
  };
  readonly plugins: {
    /** The path of the module of tools. */
    readonly tools?: string;
    readonly memory?: Partial<MemoryLimits>;
    readonly proc?: Pick<ProcPluginOptions, "programs" | "limits">;
    readonly mcp?: Pick<McpPluginOptions, "servers" | "limits">;
  };
  readonly omitUnavailable: boolean;
  readonly limits: {
    readonly sessions?: number;
    readonly parallel?: number;
    readonly line?: number;
    readonly handshake?: number;
    readonly idle?: number;
    readonly call?: number;
    readonly longestCall?: number;
  };
  readonly revocationList?: RevocationListConfig;
  readonly rate?: { readonly messages: number; readonly seconds: number };
  readonly ledger: { readonly values: readonly string[]; readonly retention: number };
}
