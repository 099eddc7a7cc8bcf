// npm `macaroon`, with only the JSON forms, since its exportBinary() is broken.
import macaroon from "macaroon";
import { bytes, serve } from "./serve.mjs";

const read = (text) => macaroon.importMacaroon(JSON.parse(text));
const write = (value) => ({ text: JSON.stringify(value.exportJSON()) });

await serve({
  create: ({ key, identifier, location, format }) =>
    write(
      macaroon.newMacaroon({
        rootKey: bytes(key),
        identifier: bytes(identifier),
        location: bytes(location).toString(),
        version: format === "v1json" ? 1 : 2,
      }),
    ),
  append(request) {
    const value = read(request.macaroon);
    value.addFirstPartyCaveat(bytes(request.caveat));
    return write(value);
  },
  thirdParty(request) {
    const value = read(request.macaroon);
    const location = bytes(request.location).toString();
    value.addThirdPartyCaveat(bytes(request.key), bytes(request.identifier), location);
    return write(value);
  },
  bind(request) {
    const discharge = read(request.discharge);
    discharge.bindToRoot(read(request.macaroon).signature);
    return write(discharge);
  },
  convert: (request) => write(read(request.macaroon)),
  verify({ macaroon: text, key, discharges, satisfied }) {
    const known = satisfied && new Set(satisfied.map((one) => bytes(one).toString()));
    const check = (caveat) => (!known || known.has(caveat) ? null : "not met");
    const root = read(text);
    const others = discharges.map(read);
    try {
      root.verify(bytes(key), check, others);
      return { valid: true };
    } catch (error) {
      return { valid: false, error: error.message };
    }
  },
});
