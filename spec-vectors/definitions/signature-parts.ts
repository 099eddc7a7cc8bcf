import { bytes, flip } from "../build/bytes.js";
import {
  type Built,
  type BuiltCaveat,
  chain,
  type Third,
  tampered,
  third,
} from "../build/chain.js";
import { as, invalid, KEY, type MacaroonTest, type Presented } from "./macaroon-test.js";

export const CAVEATS: string[] = ["user = alice", "door = front", "time < 2030"];
export const ROOT: Built = chain(KEY, "id", CAVEATS);
const [first, second, last] = CAVEATS.map((caveat) => ({ cid: bytes(caveat) })) as [
  BuiltCaveat,
  BuiltCaveat,
  BuiltCaveat,
];
export const FIRST: BuiltCaveat = first;
export const SECOND: BuiltCaveat = second;
export const LAST: BuiltCaveat = last;
export const PARENT: Built = chain(KEY, "id", CAVEATS.slice(0, 2));
const ASK: Third = third("ask");
export const SEALED: Built = chain(KEY, "id", [ASK]);
export const cid: Uint8Array = bytes("ask");
export const vid: Uint8Array = SEALED.caveats[0]?.vid ?? bytes("");

export function forged(fields: Parameters<typeof tampered>[1]): Presented {
  return as("v2", tampered(ROOT, fields));
}

/**
 * Returns a token under another key. A checker computes other tags than the token's maker, so the test lists no
 * tags.
 */
export function under(secret: string): Presented {
  return { text: as("v2", chain(secret, "id", CAVEATS)).text, chains: [] };
}

export const bits: MacaroonTest[] = [0, 1, 7].map((bit) =>
  invalid(
    `bit ${bit} of the signature's first byte flipped`,
    "Forged",
    forged({ signature: flip(ROOT.signature, 0, bit) }),
    "signature_mismatch",
  ),
);

/** Returns a macaroon whose maker used the key without deriving it first. */
export function underived(): Built {
  const built = chain(KEY, "id");
  const plain = { ...built, firstKey: bytes(KEY) };
  const [tag = bytes("")] = tampered(plain, {}).tags;
  return { ...built, signature: tag };
}
