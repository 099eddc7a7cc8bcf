// What no verifier can be faster than: as many HMACs and hashes as a token of so many hops has tags, by the
// fastest call of this runtime and by our own primitive; and parsing the request that carries the token.
import { createHash, createHmac } from "node:crypto";
import { digest, HmacKey, hmac } from "../../dist/src/macaroon/hmac.js";
import { each, here } from "../measure.mjs";
import { HOPS, requestWith, SECRET } from "../workload.mjs";

/** What a link of ordinary length is. */
const LINK = Buffer.from(JSON.stringify(HOPS[0]));
const PREFIX = Buffer.from("proviso-revocation-v1");

/** @param {number} hops @param {readonly string[]} tokens */
export function floor(hops, tokens) {
  const key = new HmacKey(SECRET);
  const requests = tokens.map(requestWith);
  return [
    here("floor: its HMACs and hashes, own primitive", () => {
      let tag = key.mac(LINK);
      let id = digest(PREFIX, tag);
      for (let at = 0; at < hops; at++) {
        tag = hmac(tag, LINK);
        id = digest(PREFIX, tag);
      }
      return id;
    }),
    here("floor: its HMACs and hashes, node:crypto", () => {
      let tag = createHmac("sha256", SECRET).update(LINK).digest();
      let id = createHash("sha256").update(PREFIX).update(tag).digest();
      for (let at = 0; at < hops; at++) {
        tag = createHmac("sha256", tag).update(LINK).digest();
        id = createHash("sha256").update(PREFIX).update(tag).digest();
      }
      return id;
    }),
    here(
      "floor: JSON.parse of its request",
      each(requests, (text) => JSON.parse(text)),
    ),
  ];
}
