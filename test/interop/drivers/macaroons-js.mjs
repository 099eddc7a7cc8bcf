// npm `macaroons.js`, which has only the v1 binary form, and only text.
import crypto from "node:crypto";
import { bytes, serve } from "./serve.mjs";

// To add a third-party caveat, the package starts an asynchronous randomFill() of the buffer with the caveat
// key, and encrypts without waiting. Sometimes the key is thus overwritten. Nothing reads the random bytes, so
// randomFill() is replaced before the package is loaded. Otherwise these tests would fail by chance.
crypto.randomFill = () => {};
const { default: macaroons } = await import("macaroons.js");
const { default: CryptoTools } = await import("macaroons.js/lib/CryptoTools.js");
const { MacaroonsBuilder, MacaroonsDeSerializer, MacaroonsVerifier } = macaroons;

const read = (text) => MacaroonsDeSerializer.deserialize(text);
const write = (builder) => ({ text: builder.getMacaroon().serialize() });
const change = (text) => MacaroonsBuilder.modify(read(text));
// The package takes a key in a Buffer for one that is already derived.
const derived = (key) => CryptoTools.generate_derived_key(bytes(key));

await serve({
  create: ({ key, identifier, location }) =>
    write(
      new MacaroonsBuilder(bytes(location).toString(), derived(key), bytes(identifier).toString()),
    ),
  append: (request) =>
    write(change(request.macaroon).add_first_party_caveat(bytes(request.caveat).toString())),
  thirdParty: (request) =>
    write(
      change(request.macaroon).add_third_party_caveat(
        bytes(request.location).toString(),
        bytes(request.key),
        bytes(request.identifier).toString(),
      ),
    ),
  bind: (request) => write(change(request.macaroon).prepare_for_request(read(request.discharge))),
  convert: (request) => write(change(request.macaroon)),
  verify({ macaroon, key, discharges, satisfied }) {
    const known = satisfied && new Set(satisfied.map((one) => bytes(one).toString()));
    const verifier = new MacaroonsVerifier(read(macaroon));
    verifier.satisfyGeneral((caveat) => !known || known.has(caveat));
    for (const discharge of discharges) verifier.satisfy3rdParty(read(discharge));
    return { valid: verifier.isValid(derived(key)) };
  },
});
