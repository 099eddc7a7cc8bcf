import { createRequire } from "node:module";
import { beforeAll, describe, expect, test } from "vitest";
import { createNonce, encodeHop } from "../../src/index.js";
import { type PeerName, peerInstalled, startPeer } from "../interop/peers.js";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output(
    ...["mint", "--grant", "documents:read", "--op", "retrieve", "--op", "search"],
    ...["--arg", "amount<=1000", "--expires", "1h"],
  );
});

/** Returns a hop in canonical form. A nonce gives the hop a revocation id of its own. */
function newHop(): Uint8Array {
  return encodeHop({
    operations: ["retrieve"],
    constraints: { amount: { max: 100 } },
    purpose: "délégué à l'autre",
    nonce: createNonce(),
  });
}

/**
 * Checks this command's verdicts on a token that another implementation has narrowed with the hop of {@link
 * newHop}.
 */
async function checkNarrowed(narrowed: string): Promise<void> {
  bench.write("theirs", `${narrowed}\n`);
  bench.write("narrowed", `${await bench.output("convert", "@theirs", "--to", "v2")}\n`);
  const whole = ["verify", token, "--grant", "documents:read"];
  const verify = ["verify", "@narrowed", "--grant", "documents:read", "--op"];
  const [narrow, wider, more, parent, diff, shown] = await Promise.all([
    bench.run([...verify, "retrieve", "--arg", "amount=50"]),
    bench.run([...verify, "search", "--arg", "amount=50"]),
    bench.run([...verify, "retrieve", "--arg", "amount=500"]),
    bench.run([...whole, "--op", "search", "--arg", "amount=500"]),
    bench.run(["diff", token, "@narrowed"]),
    bench.run(["inspect", "@narrowed"]),
  ]);
  expect(narrow.stdout).toMatch(/^allowed\n/);
  expect([narrow.status, wider.status, more.status, parent.status]).toEqual([0, 1, 1, 0]);
  expect(wider.stdout).toContain("operation_denied  hop 2, operations");
  expect(more.stdout).toContain("constraint_violated  hop 2, constraints.amount.max");
  expect(diff.status).toBe(0);
  expect(diff.stdout).toContain('operations: "search" taken away, "retrieve" left');
  expect(shown.stdout).toContain('"délégué à l\'autre"');

  // Revoking the narrowed token leaves its parent valid.
  const revoked = await bench.run(["revoke", "@narrowed"]);
  expect(revoked.status).toBe(0);
  const after = await Promise.all([
    bench.run([...verify, "retrieve", "--arg", "amount=50"]),
    bench.run([...whole, "--op", "search", "--arg", "amount=500"]),
  ]);
  expect(after.map(({ status }) => status)).toEqual([5, 0]);
}

/** The functions of npm `macaroon` that this test uses. */
interface NpmMacaroon {
  importMacaroon(json: unknown): {
    addFirstPartyCaveat(caveat: Uint8Array | string): void;
    exportJSON(): unknown;
  };
}

test("the npm package macaroon narrows a minted token, and the commands accept and revoke the result", async () => {
  const { importMacaroon }: NpmMacaroon = createRequire(import.meta.url)("macaroon");
  const theirs = importMacaroon(JSON.parse(await bench.output("convert", token, "--to", "v2json")));
  theirs.addFirstPartyCaveat(new TextDecoder().decode(newHop()));
  await checkNarrowed(JSON.stringify(theirs.exportJSON()));
});

const narrowers: readonly [PeerName, readonly string[]][] = [
  ["npm-macaroon", ["v2json"]],
  ["pymacaroons", ["v1", "v2", "v1json", "v2json"]],
];
// The tests in `test/interop` show for every size that peers read and write each form.
for (const [name, forms] of FULL ? narrowers : []) {
  describe.runIf(peerInstalled(name))(`the peer ${name}`, () => {
    test.each(forms)(
      "narrows a minted token in the format %s, and the commands accept and revoke the result",
      async (form) => {
        const peer = startPeer(name);
        try {
          const converted = await bench.output("convert", token, "--to", form);
          await checkNarrowed(await peer.append(converted, newHop()));
        } finally {
          await peer.close();
        }
      },
    );
  });
}
