import { bytes, flip, hash2, seal, sha256 } from "../build/bytes.js";
import {
  append,
  type Built,
  bind,
  chain,
  derive,
  dischargeOf,
  type Third,
  tampered,
  third,
} from "../build/chain.js";
import { as, invalid, KEY, type MacaroonTest, valid } from "./macaroon-test.js";
import type { Flag } from "./notes.js";

// The tests use v2 JSON unless they say otherwise, since every implementation reads a macaroon with its
// discharges in this form.

export const A: Third = third("a");
export const B: Third = third("b");
export const C: Third = third("c");
export const ROOT: Built = chain(KEY, "id", [A]);
export const ONE: Built = dischargeOf(A);
export const BOUND: Built = bind(ROOT, ONE);
export const OTHER_ROOT: Built = chain(KEY, "other id", [A]);

/** Returns a root with the given links, followed by the discharges, bound to the root. */
export function graph(links: readonly (string | Third)[], discharges: readonly Built[]): Built[] {
  const root = chain(KEY, "id", links);
  return [root, ...discharges.map((one) => bind(root, one))];
}

/** Returns a root with `depth` discharges. Each discharge needs the next one. */
export function nested(depth: number): Built[] {
  const asks = Array.from({ length: depth }, (_, at) => third(`level ${at + 1}`));
  const [first = A] = asks;
  return graph(
    [first],
    asks.map((ask, at) => dischargeOf(ask, asks.slice(at + 1, at + 2))),
  );
}

/** Returns a root with `rungs` discharges. Each discharge needs the next one twice. */
export function ladder(rungs: number): Built[] {
  const asks = Array.from({ length: rungs }, (_, at) => third(`rung ${at}`));
  const [first = A] = asks;
  return graph(
    [first, first],
    asks.map((ask, at) =>
      dischargeOf(ask, [...asks.slice(at + 1, at + 2), ...asks.slice(at + 1, at + 2)]),
    ),
  );
}

export function good(comment: string, chains: readonly Built[]): MacaroonTest {
  return valid(comment, "Discharge", as("v2json", ...chains));
}

export function unbound(comment: string, discharge: Built): MacaroonTest {
  return invalid(
    comment,
    ["Discharge", "Binding"],
    as("v2json", ROOT, discharge),
    "discharge_mismatch",
  );
}

export function tangled(
  comment: string,
  chains: readonly Built[],
  code: string,
  more: readonly Flag[] = [],
): MacaroonTest {
  const flags = ["Discharge", "DischargeGraph", "PymacaroonsBug", ...more] as const;
  return invalid(comment, flags, as("v2json", ...chains), code);
}

/**
 * Returns a macaroon with one third-party caveat whose `vid` seals `key`. If `under` is another key than the
 * tag, a checker cannot open the `vid`.
 */
function sealedWith(key: Uint8Array, under?: Uint8Array): Built {
  const start = chain(KEY, "id");
  const vid = seal(under ?? start.signature, sha256("nonce").slice(0, 24), key);
  const signature = hash2(start.signature, vid, "a");
  return tampered(start, { caveats: [{ cid: bytes("a"), vid }], signature });
}

export const RAW: Built = sealedWith(derive(A.caveatKey));
export const STRANGE: Built = sealedWith(derive(A.caveatKey), sha256("not the tag"));
export const GARBLED: Built = sealedWith(flip(derive(A.caveatKey), 0));
export const BROKEN: Built = brokenBox();

/**
 * Returns a macaroon with one third-party caveat whose `vid` has a flipped bit. The macaroon is correctly
 * signed, since any holder can append such a caveat.
 */
function brokenBox(): Built {
  const start = chain(KEY, "id");
  const vid = flip(seal(start.signature, sha256("nonce").slice(0, 24), derive(A.caveatKey)), -1);
  return tampered(start, {
    caveats: [{ cid: bytes("a"), vid }],
    signature: hash2(start.signature, vid, "a"),
  });
}

export function appended(): Built[] {
  const root = append(ROOT, "x");
  return [root, bind(root, ONE)];
}

export function dropped(): Built {
  return tampered(bind(ROOT, dischargeOf(A, ["x"])), { caveats: [] });
}

export function boundToParent(): Built[] {
  const root = chain(KEY, "id", [A]);
  const inner = dischargeOf(A, [B]);
  return [root, bind(root, inner), bind(inner, dischargeOf(B))];
}
