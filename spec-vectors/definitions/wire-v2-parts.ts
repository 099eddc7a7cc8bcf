import { bytes, type Data } from "../build/bytes.js";
import { append, type Built, bind, chain, dischargeOf, type Third, third } from "../build/chain.js";
import { field, IDENTIFIER, SIGNATURE, v2, writeV2 } from "../build/forms.js";
import { binary, KEY, type Presented } from "./macaroon-test.js";

export const ROOT: Built = chain(KEY, "id", ["a caveat"]);
export const WHOLE: Uint8Array = writeV2(ROOT);
export const ID: Uint8Array = field(IDENTIFIER, "id");
export const CAVEAT: Uint8Array = field(IDENTIFIER, "a caveat");
export const SIG: Uint8Array = field(SIGNATURE, ROOT.signature);
const ASK: Third = third("ask", { location: "there" });
export const WITH_THIRD: Built = chain(KEY, "id", [ASK]);
export const DISCHARGE: Built = bind(WITH_THIRD, dischargeOf(ASK));
export const vid: Uint8Array = WITH_THIRD.caveats[0]?.vid ?? bytes("");
export const CID: Uint8Array = field(IDENTIFIER, "ask");

/** Returns the macaroon with one first-party caveat, encoded from the given sections. */
export function sections(
  header: readonly Data[],
  caveat: readonly Data[],
  tail: Data = SIG,
): Presented {
  return binary(v2(header, [caveat], tail));
}

export const cuts: readonly number[] = [1, 2, 4, 5, 6, 15, 16, 17, 18, 19, 30, WHOLE.length - 1];

/** Returns a macaroon with a third-party caveat that has no location, and its discharge. */
export function pair(): Built[] {
  const ask = third("ask");
  const root = append(chain(KEY, "id", [ask]), "x".repeat(200));
  return [root, bind(root, dischargeOf(ask, ["a caveat"]))];
}
