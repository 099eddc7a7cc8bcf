import type { SecretPlace } from "../serve/agent-config.js";

/** One server in the configuration: a program, or an address. */
export interface ServerConfig {
  readonly command?: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: { readonly [name: string]: string };
  readonly url?: string;
  readonly headers: { readonly [name: string]: string | SecretPlace };
}

/** The configuration of `proviso mcp gate`. The schema `schemas/gate-config.schema.json` defines the defaults. */
export interface GateConfig {
  readonly home?: string;
  readonly database?: string;
  readonly keys?: {
    readonly file: string;
    readonly issuer: string;
    readonly feed: string;
    readonly state: string;
  };
  readonly grant?: string;
  readonly audience?: string;
  /** The path of a file with tokens. */
  readonly token?: string;
  readonly listen?: string;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly log: "info" | "warn" | "silent";
  readonly resolvePaths: boolean;
  readonly insecure: boolean;
  readonly servers: { readonly [name: string]: ServerConfig };
  readonly ledger: { readonly values: readonly string[]; readonly retention: number };
}
