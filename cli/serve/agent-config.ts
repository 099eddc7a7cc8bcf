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

/** The configuration of `proviso serve`, with the defaults of its schema, `schemas/agent-config.schema.json`. */
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
  /** The protocols to serve; at least one. */
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
  /** Absent properties have the defaults of `openRevocations`. */
  readonly revocationList?: RevocationListConfig;
  /** Unless given, services trust the list for 5 minutes. */
  readonly revocationFeed?: { readonly maxAge: string };
  /** For the protocol agent-auth. */
  readonly agentAuth?: AgentAuthConfig;
  /** Unless given, users sign in with development tokens, if there are any. */
  readonly approvals?: { readonly login?: ConsoleLoginConfig; readonly lifetime?: string };
  readonly push?: { readonly origins: readonly string[] };
  readonly tasks: { readonly retention: number; readonly count: number; readonly bytes: number };
  readonly ledger: { readonly values: readonly string[]; readonly retention: number };
  readonly log: "info" | "warn" | "silent";
}

/** The interval at which the revocation list is read, and its greatest age, in milliseconds. */
export interface RevocationListConfig {
  readonly refreshMs?: number;
  readonly staleAfterMs?: number;
}

/** A grant. The time to approve it is a duration such as `2h`. */
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
  /** Names of the capabilities shown without credentials, or `*` for all; none unless given. */
  readonly public?: readonly string[] | "*";
  /** URLs of services that execute a capability instead of the agent, by capability name. */
  readonly locations?: { readonly [capability: string]: string };
  readonly verificationUrl?: string;
  readonly introspection?: RateLimit;
  /** Durations, such as `1h`. */
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

/** The place of a secret: a file, relative to the configuration's folder, or a variable of the environment. */
export type SecretPlace = { readonly file: string } | { readonly env: string };

/** Settings of the sign-in to the approvals console. */
interface ConsoleLoginConfig extends Omit<OpenIdLoginOptions, "clientSecret"> {
  readonly clientSecret?: SecretPlace;
}
