import { MAX_PRESENTED, type PresentedCapability } from "../../agent/presented.js";
import { isJsonObject, type Json } from "../../bytes/json.js";
import { AMBIENT, AUTHORITY_HEADER, CAPABILITY_HEADER, EXTENSION_URI } from "./extension.js";

/** What a request presents, or a sentence about what is wrong. */
export type PresentedReading =
  | {
      readonly ok: true;
      readonly presented: readonly PresentedCapability[];
      /** Whether the caller declares that it uses ambient authority; nothing is presented then. */
      readonly declared: boolean;
    }
  | { readonly ok: false; readonly message: string };

/** The values of the headers that say what a request rests on; absent where there is none. */
export interface PresentingHeaders {
  readonly tokens: HeaderValue;
  readonly authority: HeaderValue;
}

type HeaderValue = string | readonly string[] | undefined;

/** Picks them out of all headers, which Node has in lower case. */
export function presentingHeaders(headers: {
  readonly [name: string]: HeaderValue;
}): PresentingHeaders {
  return {
    tokens: headers[CAPABILITY_HEADER.toLowerCase()],
    authority: headers[AUTHORITY_HEADER.toLowerCase()],
  };
}

type ListReading =
  | { readonly ok: true; readonly presented: readonly PresentedCapability[] }
  | { readonly ok: false; readonly message: string };

const SHAPE = `"capabilities" must be an array of ids, or of objects with an "id", a "token" or both`;

/**
 * Reads a list of capabilities: ids, or objects with an `id`, a `token` or both.
 *
 * @param value - As a caller sent it; absent for none.
 */
function readPresented(value: Json | undefined): ListReading {
  if (value === undefined) return { ok: true, presented: [] };
  if (!Array.isArray(value)) return { ok: false, message: SHAPE };
  if (value.length > MAX_PRESENTED) {
    return { ok: false, message: `a call may present at most ${MAX_PRESENTED} capabilities` };
  }
  const presented: PresentedCapability[] = [];
  for (const item of value) {
    const one = readOne(item);
    if (one === undefined) return { ok: false, message: SHAPE };
    presented.push(one);
  }
  return { ok: true, presented };
}

/**
 * What a method presents in its own parameters, whose `metadata` and whose request's header count as
 * everywhere: `token`, `capabilityId` or both, or `capabilities`.
 */
export function presentedIn(
  params: { readonly [name: string]: Json },
  headers: PresentingHeaders,
): PresentedReading {
  const { metadata, capabilities, capabilityId, token } = params;
  if (metadata !== undefined && !isJsonObject(metadata)) {
    return { ok: false, message: '"metadata" must be an object' };
  }
  if (Array.isArray(capabilities) && capabilities.length === 0) return NONE_NAMED;
  const single = capabilityId !== undefined || token !== undefined;
  if (single && capabilities !== undefined) {
    return { ok: false, message: 'give "capabilities", or one by its "token" or "capabilityId"' };
  }
  const own = single ? readNamed(params) : readPresented(capabilities);
  if (!own.ok) return own;
  const around = presentedWith(metadata, headers);
  if (!around.ok) return around;
  const { declared } = around;
  const presented = [...own.presented, ...around.presented];
  if (declared && presented.length > 0) return CONTRADICTION;
  if (presented.length <= MAX_PRESENTED) return { ok: true, presented, declared };
  return { ok: false, message: `a call may present at most ${MAX_PRESENTED} capabilities` };
}

// An empty list is a slip more likely than a wish, and must not turn into ambient authority.
const NONE_NAMED: { readonly ok: false; readonly message: string } = {
  ok: false,
  message: '"capabilities" names none; name at least one, or leave it out',
};

/** One capability by `token`, `capabilityId` or both, as the SEP's methods name them. */
export function readNamed(params: { readonly [name: string]: Json }): ListReading {
  const { capabilityId: id, token } = params;
  if (id === undefined && token === undefined) {
    return { ok: false, message: 'name the capability by its "token" or its "capabilityId"' };
  }
  const one = readOne({
    ...(id === undefined ? {} : { id }),
    ...(token === undefined ? {} : { token }),
  });
  if (one === undefined) {
    return { ok: false, message: '"capabilityId" and "token" must be texts' };
  }
  return { ok: true, presented: [one] };
}

/**
 * What a core operation presents: in the metadata of the request under the extension's URI, and in
 * the header `Proviso-Capability`; or that it declares ambient authority, there or in the header
 * `Proviso-Authority`.
 *
 * @param metadata - The request's own, not its message's.
 */
export function presentedWith(
  metadata: { readonly [name: string]: unknown } | undefined,
  headers: PresentingHeaders,
): PresentedReading {
  if (Array.isArray(metadata)) return { ok: false, message: '"metadata" must be an object' };
  // Parsed from JSON by the SDK, whose type for it says nothing.
  const entry = metadata?.[EXTENSION_URI] as Json | undefined;
  const inMetadata = readEntry(entry);
  if (!inMetadata.ok) return inMetadata;
  const { tokens, authority } = headers;
  if (authority !== undefined && authority !== AMBIENT.authority) {
    return { ok: false, message: `the header ${AUTHORITY_HEADER} has one value, "ambient"` };
  }
  const inHeader = readTokens(tokens);
  if (!inHeader.ok) return inHeader;
  const more = inHeader.presented.filter(
    ({ token }) => !inMetadata.presented.some((one) => one.token === token),
  );
  const presented = [...inMetadata.presented, ...more];
  if (presented.length > MAX_PRESENTED) {
    const message = `metadata and ${CAPABILITY_HEADER} present more than ${MAX_PRESENTED} capabilities`;
    return { ok: false, message };
  }
  const declared = inMetadata.declared || authority !== undefined;
  return declared && presented.length > 0 ? CONTRADICTION : { ok: true, presented, declared };
}

const CONTRADICTION: PresentedReading = {
  ok: false,
  message: "a call that declares ambient authority presents no capability; drop one of them",
};

/** What stands in the metadata under the extension's URI. */
function readEntry(entry: Json | undefined): PresentedReading {
  const key = `metadata["${EXTENSION_URI}"]`;
  if (entry === undefined) return { ok: true, presented: [], declared: false };
  if (!isJsonObject(entry)) return { ok: false, message: `${key} must be an object` };
  const unknown = Object.keys(entry).find((name) => !ENTRY_MEMBERS.includes(name));
  if (unknown !== undefined) {
    const message = `${key} has "capabilities" or "authority", and not "${unknown.slice(0, 64)}"`;
    return { ok: false, message };
  }
  const { capabilities, authority } = entry;
  if (authority !== undefined) {
    if (capabilities !== undefined) return CONTRADICTION;
    if (authority === AMBIENT.authority) return { ok: true, presented: [], declared: true };
    return { ok: false, message: `"authority" in ${key} has one value, "ambient"` };
  }
  if (capabilities === undefined || (Array.isArray(capabilities) && capabilities.length === 0)) {
    return NONE_NAMED;
  }
  const reading = readPresented(capabilities);
  return reading.ok ? { ...reading, declared: false } : reading;
}

const ENTRY_MEMBERS = ["capabilities", "authority"];

function readTokens(header: HeaderValue): ListReading {
  if (header === undefined) return { ok: true, presented: [] };
  const tokens = [header]
    .flat()
    .join(",")
    .split(",")
    .map((token) => token.trim());
  if (tokens.some((token) => token === "")) {
    return { ok: false, message: `the header ${CAPABILITY_HEADER} must hold tokens, and no gaps` };
  }
  return { ok: true, presented: tokens.map((token) => ({ token })) };
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
