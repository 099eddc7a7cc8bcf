import type { IncomingHttpHeaders } from "node:http";
import { MAX_PRESENTED, type PresentedCapability } from "../../agent/presented.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { malformed, throwRefused } from "./errors.js";
import { AMBIENT, AUTHORITY_HEADER, CAPABILITY_HEADER, EXTENSION_URI } from "./extension.js";

/** The places where a method reads capabilities. A request with a capability in any other place is refused. */
export interface CapabilityPlaces {
  /** Parameters that hold capabilities. */
  readonly params: readonly string[];
  /** Parameters of A2A 1.0 itself that are named like a capability, such as `token`, but are not capabilities. */
  readonly defined: readonly string[];
  /** `true` if metadata may contain capabilities; `declaration` if metadata may only declare ambient authority. */
  readonly metadata: boolean | "declaration";
  /** True if the headers `Proviso-Capability` and `Proviso-Authority` are read. */
  readonly header: boolean;
  /** `true` if the method has a message. The message may call a method about capabilities. */
  readonly message?: true;
}

/** The authority that a request presents: capabilities, or a declaration of ambient authority. */
export interface PresentedAuthority {
  readonly presented: readonly PresentedCapability[];
  /** `true` if the caller declares ambient authority. The caller then presents no capability. */
  readonly declared: boolean;
}

const NOTHING: PresentedAuthority = { presented: [], declared: false };

/**
 * Reads the authority that a request presents, from the places that its method reads. Capabilities may be in:
 * - the parameters `token`, `capabilityId` or both, or the parameter `capabilities`;
 * - the metadata, under the extension's URI;
 * - the header `Proviso-Capability`.
 *
 * In place of capabilities, the metadata or the header `Proviso-Authority` may declare ambient authority.
 *
 * @throws Refused if a place has the wrong form, or the places contradict each other.
 */
export function readPresented(
  params: JsonObject,
  headers: IncomingHttpHeaders,
  places: CapabilityPlaces,
): PresentedAuthority {
  const metadata = places.metadata === true ? (params["metadata"] ?? {}) : {};
  if (!isJsonObject(metadata)) return mistake('"metadata" must be an object');
  const own = readParams(params, places.params);
  const entry = readEntry(metadata[EXTENSION_URI]);
  const header = places.header ? readHeaders(headers) : NOTHING;
  const more = header.presented.filter(
    ({ token }) => !entry.presented.some((one) => one.token === token),
  );
  const presented = [...own.presented, ...entry.presented, ...more];
  const declared = entry.declared || header.declared;
  if (declared && presented.length > 0) mistake(CONTRADICTION);
  if (presented.length > MAX_PRESENTED) mistake(TOO_MANY);
  return { presented, declared };
}

/**
 * Returns the one capability that a method is about, given as `token`, `capabilityId` or both.
 *
 * @throws Refused if neither is given.
 */
export function readNamed(params: JsonObject): PresentedCapability {
  const [presented] = readParams(params, ["capabilityId", "token"]).presented;
  return presented ?? mistake('name the capability by its "token" or its "capabilityId"');
}

/**
 * Reads capabilities in a method's parameters.
 *
 * @param names - The parameters that the method reads.
 */
function readParams(params: JsonObject, names: readonly string[]): PresentedAuthority {
  const [id, token, capabilities] = ["capabilityId", "token", "capabilities"].map((name) =>
    names.includes(name) ? params[name] : undefined,
  );
  if (id === undefined && token === undefined) {
    return capabilities === undefined ? NOTHING : readList(capabilities);
  }
  if (capabilities !== undefined) {
    return mistake('give "capabilities", or one by its "token" or "capabilityId"');
  }
  const one = readOne({
    ...(id === undefined ? {} : { id }),
    ...(token === undefined ? {} : { token }),
  });
  if (one === undefined) return mistake('"capabilityId" and "token" must be strings');
  return { presented: [one], declared: false };
}

/** Reads the authority in the metadata's entry for the extension. */
function readEntry(entry: Json | undefined): PresentedAuthority {
  const key = `metadata["${EXTENSION_URI}"]`;
  if (entry === undefined) return NOTHING;
  if (!isJsonObject(entry)) return mistake(`${key} must be an object`);
  const { capabilities, authority, ...others } = entry;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return mistake(`${key} has "capabilities" or "authority", and not "${unknown.slice(0, 64)}"`);
  }
  if (authority === undefined)
    return capabilities === undefined ? mistake(NONE_NAMED) : readList(capabilities);
  if (capabilities !== undefined) return mistake(CONTRADICTION);
  if (authority === AMBIENT.authority) return { presented: [], declared: true };
  return mistake(`"authority" in ${key} has one value, "ambient"`);
}

const [AUTHORITY, CAPABILITY] = [AUTHORITY_HEADER.toLowerCase(), CAPABILITY_HEADER.toLowerCase()];

function readHeaders(headers: IncomingHttpHeaders): PresentedAuthority {
  const authority = headers[AUTHORITY];
  if (authority !== undefined && authority !== AMBIENT.authority) {
    return mistake(`the header ${AUTHORITY_HEADER} has one value, "ambient"`);
  }
  const declared = authority !== undefined;
  const header = headers[CAPABILITY];
  if (header === undefined) return { presented: [], declared };
  // Node joins the values of a repeated header with commas.
  const tokens = String(header)
    .split(",")
    .map((token) => token.trim());
  if (tokens.includes("")) {
    return mistake(`the header ${CAPABILITY_HEADER} must hold tokens, and no gaps`);
  }
  return { presented: tokens.map((token) => ({ token })), declared };
}

/** Reads a list of capabilities: ids, or objects with an `id`, a `token` or both. */
function readList(value: Json): PresentedAuthority {
  if (!Array.isArray(value)) return mistake(SHAPE);
  if (value.length === 0) return mistake(NONE_NAMED);
  const presented: PresentedCapability[] = [];
  for (const item of value) {
    const one = readOne(item);
    if (one === undefined) return mistake(SHAPE);
    presented.push(one);
  }
  return { presented, declared: false };
}

function readOne(item: Json): PresentedCapability | undefined {
  if (typeof item === "string") return item === "" ? undefined : { id: item };
  if (!isJsonObject(item)) return undefined;
  const { id, token, ...others } = item;
  if (Object.keys(others).length > 0 || (id === undefined && token === undefined)) return undefined;
  if (id !== undefined && (typeof id !== "string" || id === "")) return undefined;
  if (token !== undefined && (typeof token !== "string" || token === "")) return undefined;
  return { ...(id === undefined ? {} : { id }), ...(token === undefined ? {} : { token }) };
}

function mistake(message: string): never {
  return throwRefused(malformed(message));
}

const SHAPE = `"capabilities" must be an array of ids, or of objects with an "id", a "token" or both`;
const TOO_MANY = `a call may present at most ${MAX_PRESENTED} capabilities`;
const CONTRADICTION =
  "a call that declares ambient authority presents no capability; drop one of them";
// An empty list is probably a mistake, and must not become ambient authority.
const NONE_NAMED = '"capabilities" names none; name at least one, or leave it out';
