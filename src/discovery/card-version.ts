import { isJsonObject, type JsonObject } from "../bytes/json.js";
import { textIn } from "../client/received.js";
import { type Faults, pointer } from "./faults.js";
import { type Field, fieldsOf, type Holder, isList, listAt } from "./fields.js";
import type { OlderVersion } from "./older-schema.js";
import { parseVersion, type VersionRange } from "./versions.js";

/** The A2A versions that a card can be checked against. */
export type CardVersion = OlderVersion | "1.0";

const VERSIONS: readonly CardVersion[] = ["0.1", "0.2", "0.3", "1.0"];

/** Properties that identify a card of A2A before 1.0 if the card has no `protocolVersion`. */
const OLDER_MEMBERS = ["url", "preferredTransport", "additionalInterfaces", "authentication"];

/**
 * Detects the version of a card: from the property that lists its interfaces, then from its stated version,
 * then from its other properties. Only 0.1 had `authentication`, and no card before 0.2.5 stated its version.
 */
export function versionOfCard(card: JsonObject): CardVersion {
  if (!hasOlderForm(card)) return "1.0";
  const { protocolVersion: named } = card;
  if (typeof named === "string" && named !== "") return versionNamed(named) ?? "0.3";
  if (!OLDER_MEMBERS.some((name) => Object.hasOwn(card, name))) return "1.0";
  const isFirst = Object.hasOwn(card, "authentication") && !Object.hasOwn(card, "securitySchemes");
  return isFirst ? "0.1" : "0.2";
}

/**
 * Returns the version to check a card against, for a version that the card or the caller names. Every version
 * from 1.0 on is checked against 1.0. `undefined` if the text is not a version, or names an unknown version
 * before 1.0.
 */
function versionNamed(text: string): CardVersion | undefined {
  const version = parseVersion(text);
  if (version === undefined) return undefined;
  if (version.major > 0) return "1.0";
  return VERSIONS.find((one) => one === `0.${version.minor}`);
}

/** @throws TypeError if cards cannot be checked against this version. */
export function asCardVersion(text: unknown, where: string): CardVersion {
  const version = typeof text === "string" ? parseVersion(text) : undefined;
  const isKnown = version !== undefined && version.major < 2;
  const found = isKnown && typeof text === "string" ? versionNamed(text) : undefined;
  if (found !== undefined) return found;
  throw new TypeError(`${where}: expected a version of A2A, one of ${VERSIONS.join(", ")}`);
}

// A card of A2A before 1.0 has one interface in its top-level properties, further interfaces in
// `additionalInterfaces`, and one version for all of them.

/** Returns whether a card has the form of A2A before 1.0: its `supportedInterfaces` is empty or absent. */
export function hasOlderForm(card: JsonObject): boolean {
  const lists = fieldsOf([{ path: "", value: card }], "supportedInterfaces");
  return lists.every(({ value }) => isList(value) && value.length === 0);
}

/** An interface of a card, in the form of A2A 1.0 or of earlier versions. */
export interface WrittenInterface {
  readonly holder: Holder;
  /** Name of the property that has the binding. */
  readonly binding: "protocolBinding" | "preferredTransport" | "transport";
  /** The object with the interface's version. */
  readonly version: Holder;
}

/** Returns the interfaces of a card in the older form. */
export function olderInterfaces(top: Holder, faults: Faults): readonly WrittenInterface[] {
  const more = listAt(top, "additionalInterfaces", faults);
  const { url } = top.value;
  const first = textIn(fieldsOf([top], "preferredTransport")[0]?.value) || "JSONRPC";
  const hasFirst = url !== undefined && url !== null && url !== "";
  const others = (more?.value ?? []).flatMap((item, at): WrittenInterface[] => {
    if (!isJsonObject(item)) return [];
    // The interface in the top-level properties is usually listed again in `additionalInterfaces`.
    if (hasFirst && item["url"] === url && item["transport"] === first) return [];
    const holder = { path: pointer(more?.path ?? "", at), value: item };
    return [{ holder, binding: "transport", version: top }];
  });
  return hasFirst
    ? [{ holder: top, binding: "preferredTransport", version: top }, ...others]
    : others;
}

/** The A2A versions whose cards need not state their version; 0.2.5 introduced the property. */
export const UNNAMED: readonly VersionRange[] = [
  { min: { major: 0, minor: 1 }, max: { major: 0, minor: 2 } },
];

/**
 * Returns the flag `supportsAuthenticatedExtendedCard` of a card in the older form; empty for other capabilities. A2A
 * 1.0 has this flag as `capabilities.extendedAgentCard`.
 */
export function olderFlag(name: string, card: JsonObject): readonly Field[] {
  if (name !== "extended_agent_card" || !hasOlderForm(card)) return [];
  return fieldsOf([{ path: "", value: card }], "supportsAuthenticatedExtendedCard");
}
