import { dirname, resolve } from "node:path";
import type { Mode, UndeclaredAmbient } from "../../src/agent/clearance.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { FixedToken } from "../../src/auth/fixed-tokens.js";
import type { PublicJwkSet } from "../../src/auth/jwt-options.js";
import { readDuration } from "../../src/caveats/time.js";
import type { Grant } from "../../src/issuer/grant.js";
import type { SqliteCollection } from "../../src/sources/sqlite-schema.js";
import { CliError, EXIT } from "../exit.js";
import { readJsonFile } from "./json.js";
import { type ConfigProblem, schemaProblems } from "./schema.js";

/** What `proviso serve` is given, as it stands in the file: see `schemas/agent-config.schema.json`. */
interface AgentConfig {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly home?: string;
  readonly listen?: { readonly host?: string; readonly port?: number };
  readonly publicUrl?: string;
  readonly mode?: Mode;
  readonly undeclaredAmbient?: UndeclaredAmbient;
  readonly grants: readonly Grant[];
  readonly policy: PolicyDefinition | string;
  readonly resources?: ResourcesConfig;
  readonly skills: string;
  readonly authentication: AuthenticationConfig;
  readonly lifetime?: string;
  readonly maxLifetime?: string;
  readonly maxHandles?: number;
  readonly limits?: {
    readonly bodyBytes?: number;
    readonly bodyDepth?: number;
    readonly requests?: number;
    readonly seconds?: number;
    readonly timeoutMs?: number;
  };
  readonly push?: { readonly origins: readonly string[] };
  readonly ledger?: { readonly values?: readonly string[] };
  readonly log?: "info" | "warn" | "silent";
}

type ResourcesConfig =
  | { readonly folder: string }
  | {
      readonly sqlite: string;
      readonly collections: { readonly [collection: string]: SqliteCollection };
    };

type AuthenticationConfig =
  | { readonly development: readonly FixedToken[] | string }
  | {
      readonly issuer: string;
      readonly audience: string;
      readonly jwks: string | PublicJwkSet;
      readonly algorithms?: readonly string[];
      readonly type?: "at+jwt" | "any";
      readonly principalClaim?: string;
      readonly invokerClaim?: string;
      readonly requiredScope?: string;
      readonly clockTolerance?: number;
    };

/** A configuration that is well formed, and where it stands. */
export interface ReadConfig {
  readonly config: AgentConfig;
  /** The file, as it was named. */
  readonly file: string;
  /** The folder that its paths start from, absolute. */
  readonly folder: string;
}

/**
 * Reads a configuration.
 *
 * @throws CliError `config_unreadable`, `config_malformed`, or `config_invalid` with everything in
 *   which it fails the schema.
 */
export async function readAgentConfig(file: string): Promise<ReadConfig> {
  const { value } = readJsonFile(file);
  refuseConfig(file, await schemaProblems(value, "config"));
  // The schema has just said that it is one.
  const config = value as AgentConfig;
  refuseConfig(file, valueProblems(config));
  return { config, file, folder: dirname(resolve(file)) };
}

// What a schema can not say.
function valueProblems({ publicUrl, lifetime, maxLifetime }: AgentConfig): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (publicUrl !== undefined && !URL.canParse(publicUrl)) {
    problems.push(problemAt("publicUrl", "is not a URL"));
  }
  for (const [path, text] of Object.entries({ lifetime, maxLifetime })) {
    if (text !== undefined && readDuration(text) === 0) {
      problems.push(problemAt(path, "must be 1s or more"));
    }
  }
  return problems;
}

/** A problem with a field. */
export function problemAt(path: string, what: string): ConfigProblem {
  return { path, message: `${path}: ${what}` };
}

/**
 * The problem that a `TypeError` of the library tells of, which begins with the field.
 *
 * @param prefix - What stands before that field in the file.
 */
export function problemFrom(error: unknown, prefix = ""): ConfigProblem {
  if (!(error instanceof TypeError)) throw error;
  const message = `${prefix}${error.message}`;
  return { path: /^[^\s:]*/.exec(message)?.[0] ?? "", message };
}

/** @throws CliError `config_invalid` if there are problems. */
export function refuseConfig(file: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw invalidConfig(file, problems);
}

/** A file in which things are wrong. */
export function invalidConfig(file: string, problems: readonly ConfigProblem[]): CliError {
  const count = problems.length === 1 ? "one thing is" : `${problems.length} things are`;
  const hint =
    "schemas/agent-config.schema.json, which editors understand, says what each field may be";
  return new CliError({
    ...{ code: "config_invalid", message: `${file}: ${count} wrong`, hint },
    ...{ exitCode: EXIT.environment, details: { problems } },
  });
}
