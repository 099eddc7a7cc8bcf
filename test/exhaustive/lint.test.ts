import { expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import { ALL, everyChain, Findings, hopAt, LONGEST, PATIENCE, report } from "./chains.js";
import { attenuates } from "./model.js";
import { HOPS } from "./universe.js";

// The test uses all chains of two and three hops: one or two hops of a token, and one hop to append.

test(
  "attenuation accepts exactly the hops that narrow a chain, for every chain",
  () => {
    const findings = new Findings();
    let chains = 0;
    let accepted = 0;
    for (let length = 0; length < LONGEST; length++) {
      everyChain(length, ({ hops, authority }) => {
        const chain = hops.map(hopAt);
        for (const [at, hop] of HOPS.entries()) {
          chains++;
          const accepts = overreaches(authority, hop).length === 0;
          if (accepts) accepted++;
          if (accepts !== attenuates(chain, hop)) {
            findings.add([...hops, at], accepts ? "wrongly accepted" : "wrongly refused");
          }
        }
      });
    }
    report(`the lint (accepting ${accepted.toLocaleString("en")})`, chains);
    expect(findings.first).toEqual([]);
    expect(chains).toBe(ALL);
  },
  PATIENCE,
);
