import { expect, test } from "vitest";
import type { Hop } from "../../src/caveats/hop.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { attenuate } from "../../src/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";
import { addFirstPartyCaveat, macaroonToText, parseMacaroon } from "../../src/macaroon/index.js";
import { sized } from "../support/size.js";
import { allows, attenuates } from "./model.js";
import { HOPS, INSTANTS, INVOCATIONS, RESTRICTIONS } from "./universe.js";

// The other tests call the judge, the meet and the lint directly. In this test, the chains are real tokens: minted by
// the issuer, extended by the holder, and checked.

const NOW = Date.parse(INSTANTS[0] ?? "");
const FIRST_HOP: Hop = { expires: "2030-01-01T00:10:00Z" };
const SOME: readonly Hop[] = [
  ...Object.values(RESTRICTIONS).flatMap((hops) => hops[Math.floor(hops.length / 2)] ?? []),
  { constraints: { amount: { not_in: [2] } } },
  { maxFurtherHops: 0 },
  HOPS[HOPS.length - 2] ?? {},
];
const EVERY = 8;
const LONGEST = sized(4, 2);

const issuer = createIssuer({
  name: "documents-agent",
  keys: createKeyring(),
  revocations: createRevocationList(),
  clock: () => NOW,
});
const minted = issuer.mint({ grant: "documents:read", anyOperation: true, ...FIRST_HOP });

/** Returns the token with another hop, appended without the lint. */
function extended(token: string, hop: Hop): string {
  return macaroonToText(addFirstPartyCaveat(parseMacaroon(token), encodeHop(hop)));
}

test("a token allows exactly the calls that all its hops allow, and attenuate accepts exactly the hops that narrow the token", () => {
  const wrong: string[] = [];
  let tokens = 0;
  let calls = 0;
  const check = (token: string, chain: readonly Hop[]): void => {
    tokens++;
    for (const [at, { time, moment, grants, ...asked }] of INVOCATIONS.entries()) {
      if (at % EVERY !== tokens % EVERY) continue;
      calls++;
      const { allowed } = issuer.authorize(token, {
        ...asked,
        grant: "documents:read",
        time: new Date(time),
      });
      const links = chain.map((hop, place) =>
        allows(hop, { ...asked, grants, time, moment }, chain.length - place - 1),
      );
      if (allowed !== links.every((one) => one)) wrong.push(JSON.stringify({ chain, asked, time }));
    }
    for (const hop of SOME) {
      if (attenuate(token, hop).ok !== attenuates(chain, hop)) {
        wrong.push(JSON.stringify({ chain, hop }));
      }
    }
    if (chain.length === LONGEST) return;
    for (const hop of SOME) check(extended(token, hop), [...chain, hop]);
  };
  check(minted.token, [minted.hop]);
  const count = (of: number): string => of.toLocaleString("en");
  console.log(`whole tokens: ${count(tokens)}, ${count(calls)} calls`);
  expect(wrong.slice(0, 5)).toEqual([]);
  const lengths = Array.from({ length: LONGEST }, (_, hops) => SOME.length ** hops);
  expect(tokens).toBe(lengths.reduce((sum, count) => sum + count));
});
