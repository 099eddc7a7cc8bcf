import { isDeeperThan, isJsonObject, isTexts, type Json, type JsonObject } from "../bytes/json.js";
import type { Hop, HopInit } from "../caveats/hop.js";
import { REQUESTED_KEYS } from "../caveats/hop-rules.js";
import { encodeHop, normalizeHop } from "../caveats/write-hop.js";
import { meant } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import { invalidRequest, type RequestRefusal, refusedQuery } from "./refusal.js";
import { readResourceQuery } from "./resources/filter.js";
import type { ResourceQuery } from "./resources/resource.js";

/** A caller's request for capabilities. A caller should request no more than its task needs. */
export interface CapabilityRequest {
  /** Ids of the requested grants. A grant may yield several capabilities. */
  readonly grants: readonly string[];
  /** Selects resources among those that the principal may see. */
  readonly resourceQuery?: ResourceQuery;
  /**
   * Keys of a hop, which the issuer adds to its own hop. If `expires` is later than the issuer allows, the
   * issuer sets an earlier time.
   */
  readonly restrictions: Hop;
}

/** A parsed request, or the problem with it. */
export type CapabilityRequestReading =
  | { readonly ok: true; readonly request: CapabilityRequest }
  | RequestRefusal;

const OWN = ["grants", "resourceQuery"];
const RESTRICTIONS: readonly string[] = REQUESTED_KEYS;
const MEMBERS = [...OWN, ...RESTRICTIONS];
const MAX_GRANTS = 16;
const MAX_PURPOSE_LENGTH = 512;
/** Maximum nesting depth of arrays and objects. */
const MAX_DEPTH = 64;
/** Maximum size of the restrictions, in bytes of an encoded hop. Leaves space for handles in the issuer's hop. */
const MAX_BYTES = 2048;
/**
 * Longest resource query, in characters of JSON. The ledger keeps the query until the capabilities that are
 * issued for it have expired.
 */
const MAX_QUERY_LENGTH = 16_384;

/**
 * Reads a request from the network: `grants`, `resourceQuery`, and the keys of a hop except `resourceHandles`
 * and `nonce`.
 *
 * @throws NotPlainError naming the value that JSON cannot hold, such as a Promise or a Map.
 */
export function readCapabilityRequest(params: Json): CapabilityRequestReading {
  if (isDeeperThan(params, MAX_DEPTH)) {
    return invalidRequest("params", `the request must be nested at most ${MAX_DEPTH} deep`);
  }
  const value = plainCopy(params, "params", "arguments");
  if (!isJsonObject(value)) return invalidRequest("params", "the request must be an object");
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    const message = `unknown property "${unknown.slice(0, 64)}"${meant(unknown, MEMBERS)}`;
    return {
      ok: false,
      denial: { code: "invalid_request", message, path: unknown, known: MEMBERS },
    };
  }
  const grants = value["grants"];
  if (
    !isTexts(grants) ||
    grants.length === 0 ||
    grants.includes("") ||
    grants.length > MAX_GRANTS
  ) {
    return invalidRequest("grants", `grants must be an array of 1 to ${MAX_GRANTS} ids of grants`);
  }
  const purpose = value["purpose"];
  if (typeof purpose === "string" && purpose.length > MAX_PURPOSE_LENGTH) {
    return invalidRequest("purpose", `purpose must have at most ${MAX_PURPOSE_LENGTH} characters`);
  }
  const query = value["resourceQuery"];
  const reading = query === undefined ? undefined : readResourceQuery(query);
  if (reading?.ok === false) return refusedQuery(reading.denial);
  if (reading !== undefined && JSON.stringify(reading.query).length > MAX_QUERY_LENGTH) {
    const message = `the resource query must take at most ${MAX_QUERY_LENGTH} characters of JSON`;
    return invalidRequest("resourceQuery", message);
  }
  const restrictions = readRestrictions(value);
  if (typeof restrictions === "string") return invalidRequest("params", restrictions);
  const request = { grants: [...new Set(grants)], restrictions };
  if (reading === undefined) return { ok: true, request };
  return { ok: true, request: { ...request, resourceQuery: reading.query } };
}

/** Parses the hop keys of a request. Returns the hop, or a sentence about the first problem. */
function readRestrictions(value: JsonObject): Hop | string {
  const given = Object.entries(value).filter(([name]) => RESTRICTIONS.includes(name));
  if (given.length === 0) return {};
  try {
    // Check the length before any other work. Allow four times the limit, because sets may arrive with
    // duplicates, which `normalizeHop` removes.
    if (JSON.stringify(given).length > 4 * MAX_BYTES) {
      return `the restrictions must take at most ${MAX_BYTES} bytes`;
    }
    // `normalizeHop` checks every property, so the cast is safe.
    const hop = normalizeHop(Object.fromEntries(given) as HopInit);
    const size = encodeHop(hop).length;
    if (size <= MAX_BYTES) return hop;
    return `the restrictions take ${size} bytes, and ${MAX_BYTES} is the limit`;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    if (error instanceof RangeError) return "the restrictions are nested too deep";
    throw error;
  }
}
