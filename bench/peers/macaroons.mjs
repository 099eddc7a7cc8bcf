// The macaroon packages of npm. They verify the signature chain of proviso's tokens, but do not judge the caveats.
import { createRequire } from "node:module";
import { each, here } from "../measure.mjs";
import { inVersion1, SECRET } from "../workload.mjs";

const load = createRequire(import.meta.url);
export const npm = load("macaroon");
const { MacaroonsDeSerializer, MacaroonsVerifier } = load("macaroons.js");
const { default: tools, generate_derived_key: derive = tools.generate_derived_key } = load(
  "macaroons.js/lib/CryptoTools",
);

const derived = derive(Buffer.from(SECRET));

/** @param {readonly string[]} tokens */
export function npmMacaroons(tokens) {
  const old = tokens.map(inVersion1);
  return [
    here(
      "npm macaroon",
      each(tokens, (token) => npm.importMacaroon(token).verify(SECRET, () => null)),
    ),
    here(
      "npm macaroons.js",
      each(old, (token) => {
        const verifier = new MacaroonsVerifier(MacaroonsDeSerializer.deserialize(token));
        verifier.satisfyGeneral(() => true);
        if (!verifier.isValid(derived)) throw new Error("macaroons.js refuses");
      }),
    ),
  ];
}
