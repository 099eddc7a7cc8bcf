import { bytes } from "../build/bytes.js";
import { type Built, type Third, tampered, third } from "../build/chain.js";
import { type Discharge, EXPIRES, type Setup } from "./check-test.js";

export const A: Third = third("a", { location: "https://a.example/" });
export const B: Third = third("b");
export const C: Third = third("c");
export const RETRIEVE: string = '{"operations":["retrieve"]}';
export const SEARCH: string = '{"operations":["search"]}';
export const PAST: string = '{"expires":"2026-01-01T00:00:00Z"}';

/** The denial for a discharge that does not match its caveat, with the number of the discharge. */
export const MISMATCH: readonly [string] = ["discharge_invalid/1"];

/** Returns a setup whose link 2 requires A, with the given discharges. */
export function asking(...discharges: readonly Discharge[]): Setup {
  return { links: [EXPIRES, A], discharges };
}

/** Returns a setup whose links 2 and 3 require A and B, with the given discharges. */
export function asking2(...discharges: readonly Discharge[]): Setup {
  return { links: [EXPIRES, A, B], discharges };
}

export function nested(depth: number): Setup {
  const asks = Array.from({ length: depth }, (_, at) => third(`level ${at + 1}`));
  const discharges = asks.map((of, at) => ({ of, links: asks.slice(at + 1, at + 2) }));
  return { links: [EXPIRES, ...asks.slice(0, 1)], discharges };
}

/** Returns a token whose holder appended a third-party caveat that no discharge can satisfy. */
export function unsealable(token: Built): Built {
  const [first, asked] = token.caveats;
  if (first === undefined || asked?.vid === undefined) throw new Error("there is no such caveat");
  const vid = asked.vid.slice();
  vid[30] = (vid[30] ?? 0) ^ 1;
  const start = { ...token, caveats: [first], tags: token.tags.slice(0, 2) };
  return signed(tampered(start, { caveats: [first, { ...asked, vid }] }));
}

function signed(built: Built): Built {
  return { ...built, signature: built.tags.at(-1) ?? bytes("") };
}

/** Returns the token with the signature that it had before its last caveat. */
export function before(token: Built): Built {
  return { ...token, signature: token.tags.at(-2) ?? bytes("") };
}
