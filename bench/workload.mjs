// The tokens and calls of all measurements: a user's documents, narrowed hop by hop as agents do. A pool is larger than
// the default verification cache, so that no token is in the cache when it is used.
import { createHash } from "node:crypto";
import { encodeHop } from "proviso";
import { createIssuer, createRevocationList, importKeyring } from "proviso/issuer";
import {
  addFirstPartyCaveat,
  macaroonToText,
  parseMacaroon,
  readMacaroons,
  writeMacaroons,
} from "proviso/macaroon";

/** @import { HopInit } from "proviso" */
/** @import { Invocation } from "proviso/issuer" */

export const DEPTHS = [1, 3, 8, 32];
export const GRANT = "documents:read";
const EXPIRES = "2099-01-01T00:00:00Z";
const OPERATIONS = ["retrieve", "search"];
const HANDLES = ["rh_6s1b7kqzm0f2xw9d4c8tyu", "rh_9f3k2mzq7x0vb5n1d8rwap"];
export const SECRET = new Uint8Array(createHash("sha256").update("bench").digest());

const k = Buffer.from(SECRET).toString("base64url");
const keys = importKeyring({
  keys: [
    { kty: "oct", kid: "bench", alg: "HS256", key_ops: ["sign", "verify"], iat: 1_700_000_000, k },
  ],
});
const revocations = createRevocationList();
/** The issuer's clock is set to 2098, so that tokens may live until 2099. */
export const issuer = createIssuer({
  name: "documents-agent",
  keys,
  revocations,
  maxLifetime: 90 * 86_400,
  clock: () => Date.UTC(2098, 11, 1),
});

/** @type {Invocation & { readonly resourceHandles: readonly string[] }} */
export const ALLOWED = {
  grant: GRANT,
  operation: "retrieve",
  resourceHandles: [HANDLES[0] ?? ""],
  arguments: { format: "text", limit: 20 },
  invoker: "summariser",
  audience: "documents-agent",
};
/** @type {Invocation} */
export const REFUSED = { ...ALLOWED, operation: "search", resourceHandles: [HANDLES[1] ?? ""] };

/** The restrictions of further hops, used in turn. @type {readonly HopInit[]} */
const HOPS = [
  { operations: ["retrieve"], purpose: "summarise the quarterly reports" },
  { resourceHandles: [HANDLES[0] ?? ""], invokers: ["summariser"] },
  { constraints: { format: "text", limit: { max: 50, min: 1 } } },
  { expires: EXPIRES, audience: ["documents-agent"] },
];

/**
 * Returns the restrictions of a token with this many hops, the issuer's hop first. @param {number} hops @returns
 * {HopInit[]}
 */
export function hopsOf(hops) {
  const first = { expires: EXPIRES, operations: OPERATIONS, resourceHandles: HANDLES };
  const rest = Array.from({ length: hops - 1 }, (_, at) => HOPS[at % HOPS.length] ?? {});
  return [first, ...rest];
}

/**
 * Appends hops to a token, without the holder's lint.
 * @param {string} token
 * @param {readonly HopInit[]} hops
 */
function appended(token, hops) {
  let macaroon = parseMacaroon(token);
  for (const hop of hops) macaroon = addFirstPartyCaveat(macaroon, encodeHop(hop));
  return macaroonToText(macaroon);
}

/** Makes a new token with this many hops. @param {number} hops */
export function fresh(hops) {
  const [first, ...rest] = hopsOf(hops);
  const { token } = issuer.mint({ grant: GRANT, principal: "alice@example.com", ...first });
  return rest.length === 0 ? token : appended(token, rest);
}

/** Makes distinct tokens, none the parent of another. @param {number} hops @param {number} [count] */
export function pool(hops, count = 1280) {
  return Array.from({ length: count }, () => fresh(hops));
}

/** Returns the same tokens with one bit of the signature flipped. @param {readonly string[]} tokens */
export function forged(tokens) {
  return tokens.map((token) => {
    const bytes = Buffer.from(token, "base64url");
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    return bytes.toString("base64url");
  });
}

/** Converts a token to the v1 binary format, as base64url. @param {string} token */
export function inVersion1(token) {
  return writeMacaroons(readMacaroons(token).macaroons, "v1");
}

/** @param {string} token @param {Invocation} call @param {boolean} allowed */
export function decide(token, call, allowed) {
  if (issuer.authorize(token, call).allowed !== allowed) throw new Error(`not ${allowed}`);
}
