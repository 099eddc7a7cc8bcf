import { base64url, bytes } from "../build/bytes.js";
import { type Built, bind, chain, dischargeOf, type Third, third } from "../build/chain.js";
import { type JsonObject, jsonV1, jsonV2 } from "../build/forms.js";
import { json, KEY, type Presented } from "./macaroon-test.js";

export const ROOT: Built = chain(KEY, "id", ["a caveat"]);
export const V2: JsonObject = jsonV2(ROOT);
export const V1: JsonObject = jsonV1(ROOT);
export const S64: string = base64url(ROOT.signature);
const ASK: Third = third("ask", { location: "there" });
export const WITH_THIRD: Built = chain(KEY, "id", [ASK]);
export const DISCHARGE: Built = bind(WITH_THIRD, dischargeOf(ASK));
export const vid: Uint8Array = WITH_THIRD.caveats[0]?.vid ?? bytes("");
export const BARE: Built = chain(KEY, "id");
export const WHOLE: string = JSON.stringify(V2);
export const BYTES: Built = chain(KEY, Uint8Array.of(0xff, 0xfe), [Uint8Array.of(0xc3)]);

/** Returns the v2 JSON macaroon with some properties replaced. `undefined` omits a property. */
export function v2(members: JsonObject): Presented {
  return json({ ...V2, ...members });
}

export function v1(members: JsonObject): Presented {
  return json({ ...V1, ...members });
}

/** Returns the v2 JSON macaroon with one caveat, which has the given properties. */
export function caveat(members: JsonObject): Presented {
  return v2({ c: [members] });
}

/** Returns the text of `count` nested arrays. */
export function nested(count: number): string {
  return "[".repeat(count) + "]".repeat(count);
}

/** A macaroon whose signature has a byte below 16. */
export const SMALL: Built = [...Array(100).keys()]
  .map((at) => chain(KEY, `id ${at}`))
  .find(({ signature }) => signature.some((byte) => byte < 16)) as Built;

/** Makes the first byte below 16 invalid, by a letter that is no hexadecimal digit: `0a` becomes `ag`. */
export function smallByte(digits: string): string {
  return digits.replace(/^((?:..)*?)0(.)/, "$1$2g");
}
