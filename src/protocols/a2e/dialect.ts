import type { JsonObject } from "../../bytes/json.js";

/** The spoken version of the protocol. */
export const A2E_VERSION = "1.0";

/**
 * The dialect of a peer: the one in docs/a2e.md (`own`), or that of A2E's published SDK (`sdk`). Only the SDK's
 * handshake has the property `version`.
 */
export type Dialect = "own" | "sdk";

const VERSIONS: { readonly [Name in Dialect]: readonly string[] } = {
  own: ["a2e"],
  sdk: ["a2e", "version"],
};

/** Returns the dialect of a handshake, or of its answer. */
export function dialectOf(message: JsonObject): Dialect {
  return message["version"] === undefined ? "own" : "sdk";
}

/** The properties that contain a message's version. */
export function versionMembers(dialect: Dialect): readonly string[] {
  return VERSIONS[dialect];
}

/** Returns the version in every property that a dialect has for it. */
export function versionOf(dialect: Dialect): JsonObject {
  return Object.fromEntries(VERSIONS[dialect].map((member) => [member, A2E_VERSION]));
}

/** Returns whether a message names another version. It may name none. */
export function isOtherVersion(message: JsonObject, dialect: Dialect): boolean {
  return VERSIONS[dialect].some(
    (member) => message[member] !== undefined && message[member] !== A2E_VERSION,
  );
}
