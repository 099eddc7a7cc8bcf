// What no verifier can be faster than: the HMACs and hashes of a token's own links, by the fastest call of this
// runtime and by our own primitive; and parsing the request that carries the token.
import { createHash, createHmac } from "node:crypto";
import { parseMacaroon } from "proviso/macaroon";
import { digest, HmacKey, hmac } from "../../dist/src/macaroon/hmac.js";
import { each, here } from "../measure.mjs";
import { requestWith, SECRET } from "../workload.mjs";

const PREFIX = Buffer.from("proviso-revocation-v1");

/** The bytes that the chain of a token hashes: its identifier, and each caveat. @param {string} token */
function linksOf(token) {
  const { identifier, caveats } = parseMacaroon(token);
  return [identifier, ...caveats.map((caveat) => caveat.identifier)];
}

/** @param {readonly string[]} tokens */
export function floor(tokens) {
  const key = new HmacKey(SECRET);
  const requests = tokens.map(requestWith);
  const chains = tokens.map(linksOf);
  return [
    here(
      "floor: its HMACs and hashes, own primitive",
      each(chains, ([first = PREFIX, ...links]) => {
        let tag = key.mac(first);
        let id = digest(PREFIX, tag);
        for (const link of links) {
          tag = hmac(tag, link);
          id = digest(PREFIX, tag);
        }
        return id;
      }),
    ),
    here(
      "floor: its HMACs and hashes, node:crypto",
      each(chains, ([first = PREFIX, ...links]) => {
        let tag = createHmac("sha256", SECRET).update(first).digest();
        let id = createHash("sha256").update(PREFIX).update(tag).digest();
        for (const link of links) {
          tag = createHmac("sha256", tag).update(link).digest();
          id = createHash("sha256").update(PREFIX).update(tag).digest();
        }
        return id;
      }),
    ),
    here(
      "floor: JSON.parse of its request",
      each(requests, (text) => JSON.parse(text)),
    ),
  ];
}
