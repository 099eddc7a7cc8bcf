import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { AUTHORITY_HEADER, CAPABILITY_HEADER, EXTENSION_URI } from "./extension.js";
import { membersOf, type Outline } from "./outline.js";
import type { CapabilityPlaces } from "./presented-authority.js";

// Matches the SEP's names for capabilities in any case, with "-" and "_" anywhere. For speed, one pattern has
// all the names: every name in a request is tested, and most of them fail at the first letter.
const NAMED = new RegExp(
  `^[-_]*(?:${[
    "capability",
    "capabilities",
    "capabilityids?",
    "capabilitytokens?",
    "attenuations?",
    "tokens?",
  ]
    .map((name) => name.replace(/\w(?=\w)/g, "$&[-_]*"))
    .join("|")})[-_]*$`,
  "iu",
);

/** Returns whether a property, a header or a query field has the name of a capability. */
function isNamed(name: string): boolean {
  return NAMED.test(name);
}

/** The prefix of proviso's own URNs. A metadata key with this prefix is a mistake, unless it is the extension's URI. */
const URN = "urn:proviso:";

/** An object in a request. The check covers the names of its properties and of its metadata. */
interface Owner {
  readonly where: string;
  readonly value: Json | undefined;
  readonly allowed?: readonly string[];
  readonly metadata?: CapabilityPlaces["metadata"];
}

/**
 * Returns the first place in a request that is named like a capability, but that the method does not read;
 * `undefined` if there is none. The content of messages and the arguments of skills are not searched.
 *
 * @param message - The message and its parts, from {@link messageParts}.
 * @param headers - The names of the headers, in lower case as in Node.
 * @param trailers - The names of the trailers, in lower case. No method reads trailers.
 */
export function misplacedName(
  outline: Outline,
  message: readonly Owner[],
  headers: readonly string[],
  trailers: readonly string[],
  query: URLSearchParams,
): string | undefined {
  const envelope = { where: "the request", value: outline.envelope };
  const { inMessage } = outline;
  const called =
    inMessage === undefined ? [] : owners(inMessage, messageParts(inMessage.params["message"]));
  for (const owner of [envelope, ...owners(outline, message), ...called]) {
    const found = misplacedMember(owner);
    if (found !== undefined) return found;
  }
  const header = misplacedHeader(headers, outline.places);
  if (header !== undefined) return `the header ${header.slice(0, 64)}`;
  const trailer = trailers.find(isNamedHeader);
  if (trailer !== undefined) return `the trailer ${trailer.slice(0, 64)}`;
  // Test only the first part of a field's name, such as "capabilities" in "capabilities[0].token". No method
  // reads capabilities from the query.
  for (const name of query.keys()) if (isNamed(name.replace(/[[.].*$/s, ""))) return "the query";
  return undefined;
}

function owners(
  { params, places }: Pick<Outline, "params" | "places">,
  message: readonly Owner[],
): readonly Owner[] {
  const allowed = [...places.params, ...places.defined];
  const own = { where: "params", value: params, allowed, metadata: places.metadata };
  const { configuration } = params;
  if (configuration === undefined) return [own, ...message];
  const where = "params.configuration";
  const configured = membersOf(configuration);
  // The SDK reads both spellings.
  const targets = ["taskPushNotificationConfig", "task_push_notification_config"].map((name) => ({
    where: `${where}.${name}`,
    value: configured[name],
    allowed: ["token"],
  }));
  return [own, ...message, { where, value: configuration }, ...targets];
}

/** Returns a message and its parts. */
export function messageParts(
  message: Json | undefined,
): readonly { readonly where: string; readonly value: Json | undefined }[] {
  const where = "params.message";
  const { parts = [] } = membersOf(message);
  const listed: readonly Json[] = Array.isArray(parts) ? parts : [];
  const inside = listed.map((value, at) => ({ where: `${where}.parts[${at}]`, value }));
  return [{ where, value: message }, ...inside];
}

function misplacedMember({ where, value, allowed = [], metadata }: Owner): string | undefined {
  const members = membersOf(value);
  const own = namedMember(members, where, allowed);
  if (own !== undefined) return own;
  if (members["metadata"] === undefined) return undefined;
  const inMetadata = `${where}.metadata`;
  const { [EXTENSION_URI]: entry, ...others } = membersOf(members["metadata"]);
  const known = metadata === true || (metadata === "declaration" && isDeclaration(entry));
  if (entry !== undefined && !known) return `${inMetadata}["${EXTENSION_URI}"]`;
  if (Object.keys(others).some((key) => key.toLowerCase().startsWith(URN))) {
    return `${inMetadata}, a key that begins with ${URN}`;
  }
  return namedMember(others, inMetadata);
}

function namedMember(
  members: JsonObject,
  where: string,
  allowed: readonly string[] = [],
): string | undefined {
  const name = Object.keys(members).find((one) => isNamed(one) && !allowed.includes(one));
  return name === undefined ? undefined : `${where}.${name}`;
}

function isDeclaration(entry: Json | undefined): boolean {
  return entry !== undefined && isJsonObject(entry) && Object.keys(entry).join() === "authority";
}

const READ_HEADERS: readonly string[] = [CAPABILITY_HEADER, AUTHORITY_HEADER].map((name) =>
  name.toLowerCase(),
);

/** Common headers, which are not tested against the pattern. */
const USUAL: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-type",
  "content-length",
  "authorization",
  "user-agent",
  "accept",
  "accept-encoding",
  "accept-language",
  "a2a-version",
  "a2a-extensions",
]);

function misplacedHeader(
  names: readonly string[],
  { header }: CapabilityPlaces,
): string | undefined {
  const known = header ? READ_HEADERS : READ_HEADERS.slice(1);
  return names.find((name) => !USUAL.has(name) && !known.includes(name) && isNamedHeader(name));
}

function isNamedHeader(name: string): boolean {
  return name.startsWith("proviso-") || isNamed(name.replace(/^(?:(?:x|a2a|proviso)-)+/, ""));
}
