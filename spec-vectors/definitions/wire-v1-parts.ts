import { bytes, concat, type Data } from "../build/bytes.js";
import { type Built, bind, chain, dischargeOf, type Third, third } from "../build/chain.js";
import { packet, writeV1 } from "../build/forms.js";
import { binary, KEY, type Presented } from "./macaroon-test.js";

export const ROOT: Built = chain(KEY, "id", ["a caveat"]);
export const WHOLE: Uint8Array = writeV1(ROOT);
export const LOC: Uint8Array = packet("location", "");
export const ID: Uint8Array = packet("identifier", "id");
export const CAVEAT: Uint8Array = packet("cid", "a caveat");
export const SIG: Uint8Array = packet("signature", ROOT.signature);
const ASK: Third = third("ask", { location: "there" });
export const WITH_THIRD: Built = chain(KEY, "id", [ASK]);
export const DISCHARGE: Built = bind(WITH_THIRD, dischargeOf(ASK));
export const vid: Uint8Array = WITH_THIRD.caveats[0]?.vid ?? bytes("");
export const ASK_CID: Uint8Array = packet("cid", "ask");
export const ASK_VID: Uint8Array = packet("vid", vid);
export const THIRD_SIG: Uint8Array = packet("signature", WITH_THIRD.signature);

export function packets(...all: readonly Data[]): Presented {
  return binary(concat(...all));
}

/** Replaces the four digits of a packet's length. */
export function header(digits: string, rest: Data): Uint8Array {
  return concat(digits, bytes(rest).slice(4));
}

export const cuts: readonly number[] = [
  3,
  4,
  10,
  LOC.length,
  LOC.length + ID.length,
  WHOLE.length - SIG.length,
  WHOLE.length - 1,
];
