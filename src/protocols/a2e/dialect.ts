import type { JsonObject } from "../../bytes/json.js";

/** The version of the protocol that is spoken. */
export const A2E_VERSION = "1.0";

/**
 * How a peer writes the protocol: as docs/a2e.md has it, or as A2E's published SDK does. The handshake decides it:
 * the SDK says its version in `version`, which proviso's own dialect does not have.
 */
export type Dialect = "own" | "sdk";

const VERSIONS: { readonly [Name in Dialect]: readonly string[] } = {
  own: ["a2e"],
  sdk: ["a2e", "version"],
};

/** The dialect of a handshake, or of its answer. */
export function dialectOf(message: JsonObject): Dialect {
  return message["version"] === undefined ? "own" : "sdk";
}

/** The members by which a message says its version. */
export function versionMembers(dialect: Dialect): readonly string[] {
  return VERSIONS[dialect];
}

/** The version, under every name that a dialect has for it. */
export function versionOf(dialect: Dialect): JsonObject {
  return Object.fromEntries(VERSIONS[dialect].map((member) => [member, A2E_VERSION]));
}

/** Whether a message is of another version than the one that is spoken; none is that one. */
export function isOtherVersion(message: JsonObject, dialect: Dialect): boolean {
  return VERSIONS[dialect].some(
    (member) => message[member] !== undefined && message[member] !== A2E_VERSION,
  );
}
