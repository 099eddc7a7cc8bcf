import type { Mode, UndeclaredAmbient } from "../../src/agent/clearance.js";
import type { ListedAgent } from "../../src/agent/delegation/agents.js";
import type { PartySettings } from "../../src/agent/parties/settings.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { FixedToken } from "../../src/auth/fixed-tokens.js";
import type { JwtAuthenticatorOptions, PublicJwkSet } from "../../src/auth/jwt-options.js";
import type { OpenIdLoginOptions } from "../../src/console/login/openid.js";
import type { RateLimit } from "../../src/http/callers.js";
import type { Grant, GrantApproval } from "../../src/issuer/grant.js";
import type { Delegate, ListedCollection } from "../../src/protocols/a2a/card.js";
import type { Collection } from "../../src/sources/table-columns.js";

/** The configuration of `proviso serve`. The schema `schemas/agent-config.schema.json` defines the defaults. */
export interface AgentConfig {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly delegates?: readonly Delegate[];
  readonly collections?: readonly ListedCollection[];
  readonly page: boolean;
  readonly home?: string;
  readonly database?: string;
  readonly metrics?: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** The protocols to serve, at least one. */
  readonly protocols: readonly [ProtocolName, ...ProtocolName[]];
  readonly mode: Mode;
  readonly undeclaredAmbient?: UndeclaredAmbient;
  readonly grants: readonly GrantConfig[];
  readonly policy: PolicyDefinition | string;
  readonly resources?: ResourcesConfig;
  readonly skills: string;
  readonly authentication: AuthenticationConfig;
  readonly lifetime?: string;
  readonly maxLifetime?: string;
  readonly maxHandles?: number;
  readonly limits: {
    readonly bodyBytes: number;
    readonly bodyDepth: number;
    readonly requests: number;
    readonly seconds: number;
    readonly timeoutMs: number;
    readonly graceMs: number;
    readonly revocations: number;
  };
  readonly delegation?: DelegationConfig;
  /** Settings for reading the revocation list. The defaults are those of `openRevocations`. */
  readonly revocationList?: RevocationListConfig;
  /** Services trust the published list for this long; by default for 5 minutes. */
  readonly revocationFeed?: { readonly maxAge: string };
  /** Settings of the protocol `agent-auth`. */
  readonly agentAuth?: AgentAuthConfig;
  /**
   * Settings of the approvals console. Without `login`, users sign in with development tokens, if the
   * configuration has such tokens.
   */
  readonly approvals?: { readonly login?: ConsoleLoginConfig; readonly lifetime?: string };
  readonly push?: { readonly origins: readonly string[] };
  readonly tasks: { readonly retention: number; readonly count: number; readonly bytes: number };
  readonly ledger: { readonly values: readonly string[]; readonly retention: number };
  readonly log: "info" | "warn" | "silent";
}

/**
 * The interval between two reads of the revocation list, and the age at which the list is too old, both in
 * milliseconds.
 */
export interface RevocationListConfig {
  readonly refreshMs?: number;
  readonly staleAfterMs?: number;
}

/** A grant. The lifetime of its approvals is a duration such as `2h`. */
export interface GrantConfig extends Omit<Grant, "approval"> {
  readonly approval?: Omit<GrantApproval, "lifetime"> & { readonly lifetime?: string };
}

/** The protocols, by their names in the schema. */
export type ProtocolName = "a2a" | "agent-auth" | "approvals" | "delegation" | "revocations";

interface DelegationConfig {
  readonly enabled: boolean;
  readonly prefix: string;
  readonly tenant?: string;
  readonly allowEqual: boolean;
  readonly agents: readonly ListedAgent[];
  readonly maxDelegations: number;
}

/** Settings for agents that register themselves. */
export interface AgentAuthConfig extends Omit<PartySettings, "lifetimes"> {
  /**
   * The names of the capabilities that are shown without credentials, or `*` for all of them. By default, none
   * are shown.
   */
  readonly public?: readonly string[] | "*";
  /** URLs of services that execute capabilities in the agent's place, by the capability's name. */
  readonly locations?: { readonly [capability: string]: string };
  readonly verificationUrl?: string;
  readonly introspection?: RateLimit;
  /** Lifetimes by name, each a duration such as `1h`. */
  readonly lifetimes?: {
    readonly [Name in keyof NonNullable<PartySettings["lifetimes"]>]: string;
  };
}

type ResourcesConfig =
  | { readonly folder: string }
  | {
      readonly database: string;
      readonly collections: { readonly [collection: string]: Collection };
    };

type AuthenticationConfig =
  | { readonly development: readonly FixedToken[] | string }
  | (Omit<JwtAuthenticatorOptions, "jwks"> & { readonly jwks: string | PublicJwkSet });

/** The location of a secret: a file, relative to the configuration's folder, or an environment variable. */
export type SecretPlace = { readonly file: string } | { readonly env: string };

/** Settings of the sign-in to the approvals console. */
interface ConsoleLoginConfig extends Omit<OpenIdLoginOptions, "clientSecret"> {
  readonly clientSecret?: SecretPlace;
}
