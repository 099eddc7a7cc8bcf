import { isJsonObject, type Json, type JsonObject, quotedName } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { DISCOVERY_URI } from "./card.js";
import type { CardVersion } from "./card-version.js";
import { pointer, shownPath } from "./faults.js";
import { camelCase, snakeCase } from "./fields.js";
import type { Remark } from "./finding.js";
import { CAPABILITY_REGISTRY, isVendorCapability, registeredName } from "./registry.js";
import { CARD_SCHEMAS, hasMember, versionsWith } from "./schema-members.js";

/** A property that the schema of the card's version does not have. */
export interface UnknownMember {
  readonly name: string;
  /** JSON Pointer to the object that has the property. */
  readonly here: string;
  /** The object that has the property. */
  readonly holder: JsonObject;
  /** The properties that the schema allows in this object. */
  readonly known: readonly string[];
  readonly version: CardVersion;
  readonly card: JsonObject;
}

/**
 * Returns the finding on an unknown property. Usually it is a remark, because readers ignore such a property (A2A
 * 1.0, section 5.7). It is a warning if the property looks misspelt, or if readers of the card's version look for
 * the same thing in another property, which the card lacks.
 */
export function memberRemark(member: UnknownMember, suggest: Suggest): Remark {
  const path = pointer(member.here, member.name);
  const [severity, words] =
    ofOtherVersion(member, path) ?? ofContract(member) ?? unknown(member, suggest);
  return { severity, code: "member_unknown", path, message: `${shownPath(path)}: ${words}` };
}

type Said = readonly [severity: "warning" | "remark", words: string];

/** Groups of properties that have the same meaning in different versions of A2A. */
const SAME: readonly (readonly string[])[] = [
  [
    "/supportedInterfaces",
    "/url",
    "/preferredTransport",
    "/additionalInterfaces",
    "/protocolVersion",
  ],
  ["/securitySchemes", "/authentication"],
  ["/securityRequirements", "/security"],
  ["/skills/*/securityRequirements", "/skills/*/security"],
  ["/capabilities/extendedAgentCard", "/supportsAuthenticatedExtendedCard"],
  ["/supportedInterfaces/*/protocolBinding", "/supportedInterfaces/*/transport"],
  ["/additionalInterfaces/*/transport", "/additionalInterfaces/*/protocolBinding"],
];

function ofOtherVersion({ version, card }: UnknownMember, path: string): Said | undefined {
  const pattern = path.replace(/\/\d+(?=\/|$)/g, "/*");
  const row = SAME.find((one) => one.includes(pattern));
  const instead = row?.find((one) => hasMember(CARD_SCHEMAS[version], one));
  const versions = versionsWith(pattern);
  if (versions.length === 0 && instead === undefined) return undefined;
  const whose =
    versions.length === 0 ? "not a property of A2A" : `a property of A2A ${versions.join(", ")}`;
  if (instead === undefined) return ["remark", `${whose}; A2A ${version} has none for it`];
  const place = placeBeside(path, instead);
  return isThere(card, place)
    ? ["remark", `${whose}, for its readers; those of A2A ${version} read ${place}`]
    : ["warning", `${whose}; readers of A2A ${version} look for ${place}`];
}

/** Replaces each `*` in the pattern by the index in the path. */
function placeBeside(path: string, pattern: string): string {
  const indexes = path.match(/\/\d+(?=\/|$)/g) ?? [];
  return indexes.reduce((place, index) => place.replace("/*", index), pattern);
}

function isThere(card: JsonObject, path: string): boolean {
  let at: Json | undefined = card;
  for (const step of path.split("/").slice(1)) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = at !== undefined && isJsonObject(at) ? at[step] : undefined;
  }
  return at !== undefined && at !== null;
}

/** Fields of the discovery contract that a card may have beside A2A's properties. */
const CONTRACT = [
  "minProtocolVersion",
  "maxProtocolVersion",
  "protocolVersions",
  "capabilityGrants",
];

function ofContract({ name, here, known, version }: UnknownMember): Said | undefined {
  const isField = CONTRACT.some((one) => one === name || snakeCase(one) === name);
  // A flag of A2A itself is misspelt if it is written in snake_case.
  const isCapability =
    here === "/capabilities" &&
    !known.includes(camelCase(name)) &&
    (isVendorCapability(name) || CAPABILITY_NAMES.includes(registeredName(name)));
  if (!isField && !isCapability) return undefined;
  const place = `its place is in the params of ${DISCOVERY_URI}`;
  return ["remark", `not a property of A2A ${version}; ${place}`];
}

const CAPABILITY_NAMES = CAPABILITY_REGISTRY.capabilities.map(({ name }) => name);

function unknown({ name, here, holder, known }: UnknownMember, suggest: Suggest): Said {
  const names = [...known, ...(here === "/capabilities" ? CAPABILITY_NAMES : [])];
  const free = names.filter((one) => !Object.hasOwn(holder, one));
  const near = free.find((one) => snakeCase(one) === name) ?? suggest(name, free);
  return near === undefined
    ? ["remark", "not a property of A2A; readers pass it over"]
    : ["warning", `not a property of A2A; did you mean ${quotedName(near)}?`];
}
