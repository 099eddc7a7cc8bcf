import { readFileSync } from "node:fs";
import { assertNoTwin } from "../bytes/json.js";
import { DEFAULT_MAX_LIFETIME, MAX_LIFETIME } from "../capability/mint.js";
import { assertMembers } from "../checks/members.js";
import { type Grant, grantsById } from "../issuer/grant.js";
import { isErrno } from "../system/error-code.js";
import { HomeError, unreadable } from "./home-error.js";

/** The contents of a home's `config.json`. */
export interface HomeConfig {
  /** The issuer's name, which every token contains. */
  readonly issuer: string;
  /** Longest lifetime of a capability in seconds. */
  readonly maxLifetime: number;
  /** The grants and their operations, if the home lists them. */
  readonly grants?: readonly HomeGrant[] | undefined;
}

/** A grant as a home lists it. */
export type HomeGrant = Pick<Grant, "id" | "operations">;

/** @throws HomeError `config_malformed` or `home_unreadable`. */
export function readHomeConfig(path: string): HomeConfig {
  const malformed = (what: string): HomeError => new HomeError("config_malformed", path, what);
  let text: string;
  let value: unknown;
  try {
    text = readFileSync(path, "utf8");
    value = JSON.parse(text);
  } catch (error) {
    throw isErrno(error) ? unreadable(error, path) : malformed(`${path} is not JSON`);
  }
  try {
    assertNoTwin(text);
    return checkHomeConfig(value);
  } catch (error) {
    throw error instanceof TypeError ? malformed(`${path}: ${error.message}`) : error;
  }
}

/**
 * Validates the configuration of a home and adds defaults.
 *
 * @throws TypeError naming the property that is wrong.
 */
export function checkHomeConfig(value: unknown): HomeConfig {
  if (typeof value !== "object" || value === null) throw new TypeError("it is not an object");
  assertMembers(value, ["issuer", "maxLifetime", "grants"], "");
  const config: { issuer?: unknown; maxLifetime?: unknown; grants?: unknown } = value;
  const { issuer, maxLifetime = DEFAULT_MAX_LIFETIME, grants } = config;
  if (typeof issuer !== "string" || issuer === "") throw new TypeError('"issuer" must be a name');
  if (!isLifetime(maxLifetime)) {
    throw new TypeError(`"maxLifetime" must be 1 to ${MAX_LIFETIME} whole seconds`);
  }
  if (grants === undefined) return { issuer, maxLifetime };
  return { issuer, maxLifetime, grants: homeGrants(grants) };
}

/** Returns whether a number of seconds is an allowed longest lifetime. */
export function isLifetime(seconds: unknown): seconds is number {
  return Number.isSafeInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_LIFETIME;
}

function homeGrants(value: unknown): readonly HomeGrant[] {
  // `grantsById` validates every property.
  const grants = grantsById(value as readonly Grant[]);
  return [...grants.values()].map((grant, at) => {
    const { id, operations } = grant;
    if (operations.length === 0) throw new TypeError(`grants[${at}].operations: there must be one`);
    assertMembers(grant, ["id", "operations"], `grants[${at}]`);
    return { id, operations };
  });
}

/**
 * Returns a sentence for each difference between the offered grants and the grants that a home lists; empty if the
 * home lists none. The command line uses the listed grants, so a difference would make it disagree with the agent.
 *
 * @param path - The home's configuration file, as named in the sentences.
 */
export function grantDifferences(
  { grants: listed }: HomeConfig,
  offered: readonly HomeGrant[],
  path: string,
): readonly string[] {
  if (listed === undefined) return [];
  const [here, home] = [operationsIn(offered), operationsIn(listed)];
  return [...new Set([...here.keys(), ...home.keys()])].flatMap((id) => {
    const [mine, theirs] = [here.get(id), home.get(id)];
    if (mine === theirs) return [];
    const what = `"${id}" has ${mine ?? "no place"} here, and ${theirs ?? "no place"} in ${path}`;
    return [`${what}; make them agree, or leave "grants" out of the home`];
  });
}

function operationsIn(grants: readonly HomeGrant[]): ReadonlyMap<string, string> {
  return new Map(
    grants.map(({ id, operations }) => [id, [...new Set(operations)].sort().join(", ")]),
  );
}
