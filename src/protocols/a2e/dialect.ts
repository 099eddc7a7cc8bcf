import type { JsonObject } from "../../bytes/json.js";

/** The version of A2E that hosts and clients of this package support. */
export const A2E_VERSION = "1.0";

/**
 * The dialect of a peer. `own` is described in docs/a2e.md; `sdk` is the dialect of A2E's published SDK. Only a
 * handshake of the SDK has the property `version`.
 */
export type Dialect = "own" | "sdk";

const VERSIONS: { readonly [Name in Dialect]: readonly string[] } = {
  own: ["a2e"],
  sdk: ["a2e", "version"],
};

/** Returns the dialect of a handshake request or of a handshake answer. */
export function dialectOf(message: JsonObject): Dialect {
  return message["version"] === undefined ? "own" : "sdk";
}

/** Returns the names of the properties that contain the version in this dialect. */
export function versionMembers(dialect: Dialect): readonly string[] {
  return VERSIONS[dialect];
}

/** Returns the version properties of a message in this dialect. */
export function versionOf(dialect: Dialect): JsonObject {
  return Object.fromEntries(VERSIONS[dialect].map((member) => [member, A2E_VERSION]));
}

/** Returns whether a message names a version other than 1.0. A message that names no version is accepted. */
export function isOtherVersion(message: JsonObject, dialect: Dialect): boolean {
  return VERSIONS[dialect].some(
    (member) => message[member] !== undefined && message[member] !== A2E_VERSION,
  );
}
