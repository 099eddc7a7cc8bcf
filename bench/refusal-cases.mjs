// A token at each limit of the specification, with three calls. The token allows the first call and refuses the other
// two. The names of the second call nearly match, so there may be a suggestion; the names of the third are too long for
// a suggestion.
import { bindDischarges, CAPABILITY_LIMITS, encodeHop } from "proviso";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToBytes,
  macaroonToText,
  parseMacaroon,
} from "proviso/macaroon";

/** @import { HopInit } from "proviso" */
/** @import { Invocation } from "proviso/issuer" */
/** A case: its name, its token and its three calls. */
/** @typedef {[what: string, token: string, calls: readonly Invocation[]]} Case */

const { bytes, caveats, caveatBytes, discharges, setMembers } = CAPABILITY_LIMITS;
export const GRANT = "documents:read";
/** Longer than any name that gets a suggestion. */
export const FAR = "x".repeat(200);
const THIRD = new Uint8Array(32).fill(3);

export const revocations = createRevocationList();
/** Without a cache, so that every decision is a cold one. */
export const issuer = createIssuer({
  name: "bench",
  keys: createKeyring(),
  revocations,
  cache: false,
});
const minted = mint(["get"]);

/** @param {readonly string[]} operations */
function mint(operations) {
  return issuer.mint({ grant: GRANT, operations }).token;
}

/**
 * Builds an invocation of this benchmark.
 * @param {Partial<Invocation>} more
 * @returns {Invocation}
 */
function call(more) {
  return { grant: GRANT, operation: "get", ...more };
}

/** @param {{ readonly [name: string]: unknown }} given */
function given(given) {
  return call({ arguments: given });
}

/** @param {readonly string[]} resourceHandles */
function naming(resourceHandles) {
  return call({ resourceHandles });
}

/**
 * Appends a hop to a token, without the holder's lint.
 * @param {string} token
 * @param {HopInit} hop
 */
export function attenuated(token, hop) {
  return macaroonToText(addFirstPartyCaveat(parseMacaroon(token), encodeHop(hop)));
}

/** Appends the same hop as often as it fits into a token. @param {HopInit} hop */
function deep(hop) {
  let macaroon = parseMacaroon(minted);
  while (macaroon.caveats.length < caveats) {
    const longer = addFirstPartyCaveat(macaroon, encodeHop(hop));
    if (macaroonToBytes(longer, "v2").length > bytes) break;
    macaroon = longer;
  }
  return { links: macaroon.caveats.length, token: macaroonToText(macaroon) };
}

/**
 * Builds a hop with the maximum number of different names that are allowed and fit into the hop.
 * @param {string} start
 * @param {number} length
 * @param {(names: string[]) => HopInit} hop
 */
export function fill(start, length, hop) {
  const name = (/** @type {number} */ at) =>
    `${start}${String(at).padStart(length - start.length, "0")}`;
  /** @type {string[]} */
  let names = [];
  while (names.length < setMembers) {
    const more = [...names, name(names.length)];
    if (encodeHop(hop(more)).length > caveatBytes) break;
    names = more;
  }
  return names;
}

/** @template T @param {readonly string[]} names @param {T} value */
function each(names, value) {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** Builds a token with the maximum of discharges, each with a hop. @param {HopInit} hop */
function discharged(hop) {
  const questions = Array.from({ length: discharges }, (_, at) => `question ${at}`);
  const needing = questions.reduce(
    (macaroon, identifier) => addThirdPartyCaveat(macaroon, { key: THIRD, identifier }),
    parseMacaroon(minted),
  );
  const answers = questions.map((identifier) => {
    const bare = createMacaroon(createRootKey(THIRD), { identifier });
    return macaroonToText(addFirstPartyCaveat(bare, encodeHop(hop)));
  });
  return bindDischarges(macaroonToText(needing), answers);
}

/** @returns {Case[]} */
export function cases() {
  const expires = "2099-01-01T00:00:00Z";
  const short = fill("o", 4, (operations) => ({ operations, expires }));
  const long = fill("o", 64, (operations) => ({ operations, expires }));
  const handles = fill("rh_", 25, (resourceHandles) => ({ resourceHandles }));
  const wrong = handles.map((handle) => handle.replace("rh_0", "rh_9"));
  const exact = fill("a", 5, (names) => ({ constraints: each(names, "value") }));
  const bounds = { min: 1, max: 9 };
  const bounded = fill("a", 5, (names) => ({ constraints: each(names, bounds) }));
  const values = fill("v", 24, (all) => ({ constraints: { a: { not_in: all } } }));
  const [value = "", large] = [values.at(-1), "x".repeat(1000)];
  const one = { constraints: { a: "value" } };
  const argument = ["value", "valeu", FAR].map((a) => given({ a }));
  const [ones, sets] = [deep(one), deep({ operations: [...short.slice(0, 32), "get"].sort() })];
  const [listed, often] = [
    attenuated(minted, { resourceHandles: handles }),
    deep({ resourceHandles: handles }),
  ];
  const limited = (/** @type {HopInit["constraints"]} */ limits = {}) =>
    attenuated(minted, { constraints: limits });
  const operations = (/** @type {string[]} */ ...names) =>
    names.map((operation) => call({ operation }));
  return [
    ["2 links", attenuated(minted, one), argument],
    [`${ones.links} links`, ones.token, argument],
    [`${sets.links} links of 33 operations`, sets.token, operations("get", "gte", FAR)],
    [`${short.length} operations`, mint(short), operations(short.at(-1) ?? "", "o99X", FAR)],
    [
      `${long.length} operations, 64 characters each`,
      mint(long),
      operations(long.at(-1) ?? "", `${"o".padEnd(62, "0")}XX`, FAR),
    ],
    [
      `${handles.length} handles of ${handles.length}`,
      listed,
      [handles, wrong, wrong.map((handle) => handle + FAR)].map(naming),
    ],
    [
      `${often.links} links of ${handles.length} handles`,
      often.token,
      [handles, wrong, wrong.map((handle) => handle + FAR)].map(naming),
    ],
    [
      `${handles.length} handles, one of them wrong`,
      listed,
      [handles[0], wrong[0], FAR].map((last = "") => naming([...handles.slice(1), last])),
    ],
    [
      `${exact.length} arguments`,
      limited(each(exact, "value")),
      ["value", "valeu", FAR].map((a) => given(each(exact, a))),
    ],
    [
      `${bounded.length} arguments between bounds`,
      limited(each(bounded, bounds)),
      [5, 50, "x"].map((a) => given(each(bounded, a))),
    ],
    [
      `an argument in a list of ${values.length}`,
      limited({ a: { in: values } }),
      [value, value.replace("v0", "v9"), FAR].map((a) => given({ a })),
    ],
    [
      `an argument not in a list of ${values.length}`,
      limited({ a: { not_in: values } }),
      ["other", value, 7].map((a) => given({ a })),
    ],
    [
      "arguments of 256 KiB",
      limited({ a: large }),
      [large, `${large}x`, FAR].map((a) => given({ a, b: "x".repeat(1 << 18) })),
    ],
    [
      "an argument of 256 KiB where one of 1,000 is allowed",
      limited({ a: large }),
      [large, "x".repeat(1 << 18), "y".repeat(1 << 18)].map((a) => given({ a })),
    ],
    [`${discharges} discharges`, discharged(one), argument],
  ];
}
