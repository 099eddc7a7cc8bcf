import type { JsonObject } from "../bytes/json.js";
import { hasOlderForm } from "./older-form.js";
import type { OlderVersion } from "./older-schema.js";
import { parseVersion } from "./versions.js";

/** The versions of A2A that a card can be checked as. */
export type CardVersion = OlderVersion | "1.0";

const VERSIONS: readonly CardVersion[] = ["0.1", "0.2", "0.3", "1.0"];

/** The members by which a card without `protocolVersion` is one of A2A before 1.0. */
const OLDER_MEMBERS = ["url", "preferredTransport", "additionalInterfaces", "authentication"];

/**
 * The version that a card has the form of: what it lists interfaces in, then what it says, then its members.
 * A member `authentication` was in 0.1 alone, and no card before 0.2.5 said its version.
 */
export function versionOfCard(card: JsonObject): CardVersion {
  if (!hasOlderForm(card)) return "1.0";
  const { protocolVersion: named } = card;
  if (typeof named === "string" && named !== "") return versionNamed(named) ?? "0.3";
  if (!OLDER_MEMBERS.some((name) => Object.hasOwn(card, name))) return "1.0";
  const isFirst = Object.hasOwn(card, "authentication") && !Object.hasOwn(card, "securitySchemes");
  return isFirst ? "0.1" : "0.2";
}

/** The version to check as where one is named: a minor version of 1 adds to 1.0. `undefined` if unreadable. */
function versionNamed(text: string): CardVersion | undefined {
  const version = parseVersion(text);
  if (version === undefined) return undefined;
  if (version.major > 0) return "1.0";
  return VERSIONS.find((one) => one === `0.${version.minor}`);
}

/** @throws TypeError if no card can be checked as one of this version. */
export function asCardVersion(text: unknown, where: string): CardVersion {
  const version = typeof text === "string" ? parseVersion(text) : undefined;
  const isKnown = version !== undefined && version.major < 2;
  const found = isKnown && typeof text === "string" ? versionNamed(text) : undefined;
  if (found !== undefined) return found;
  throw new TypeError(`${where}: expected a version of A2A, one of ${VERSIONS.join(", ")}`);
}
