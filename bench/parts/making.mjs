// Measures the making and reading of tokens without a decision: mint, attenuate with its lint, and inspect.
import { attenuate, inspect } from "proviso";
import { each, here, inTurns, microseconds, ratio, rounded } from "../measure.mjs";
import { npm } from "../peers/macaroons.mjs";
import { GRANT, hopsOf, issuer, pool, SECRET } from "../workload.mjs";

/** @import { Figures, Size } from "../measure.mjs" */

const NARROWER = { operations: ["retrieve"] };
const CAVEAT = new TextEncoder().encode('{"operations":["retrieve"]}');

/** @param {Size} size @returns {Promise<Figures[]>} */
export async function run(size) {
  const tokens = pool(3);
  const [first] = hopsOf(1);
  const contenders = [
    here("mint", () => issuer.mint({ grant: GRANT, principal: "alice@example.com", ...first })),
    here("npm macaroon: create, add, export as JSON", () => {
      const made = npm.newMacaroon({
        rootKey: SECRET,
        identifier: "a capability of some ordinary length",
        version: 2,
      });
      made.addFirstPartyCaveat(CAVEAT);
      return JSON.stringify(made.exportJSON());
    }),
    here(
      "attenuate with its lint, 3 hops",
      each(tokens, (token) => {
        if (!attenuate(token, NARROWER).ok) throw new Error("not narrowed");
      }),
    ),
    here(
      // Exports JSON, because the binary export of `macaroon` fails with four caveats.
      "npm macaroon: import, add, export as JSON",
      each(tokens, (token) => {
        const read = npm.importMacaroon(token);
        read.addFirstPartyCaveat(CAVEAT);
        return JSON.stringify(read.exportJSON());
      }),
    ),
    here("inspect, 3 hops", each(tokens, inspect)),
  ];
  const rounds = await inTurns(contenders, size);
  const speed = ratio(
    rounds,
    "npm macaroon: import, add, export as JSON",
    "attenuate with its lint, 3 hops",
  );
  return [
    {
      title: "Making and reading",
      about: "Microseconds, each token seen once.",
      columns: ["", "µs"],
      rows: contenders.map(({ name }) => [name, microseconds(rounds, name)]),
      ratios: speed === undefined ? {} : { "attenuate: speed to npm macaroon": rounded(speed) },
    },
  ];
}
