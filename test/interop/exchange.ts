import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  type MacaroonFormat,
  parseMacaroon,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { A_CHAIN, C_CHAIN, K1 } from "../macaroon/known-answers.js";
import { contents, hex, utf8 } from "../macaroon/support.js";
import { sized } from "../support/size.js";
import { PEERS, type Peer, type PeerName, peerInstalled, startPeer } from "./peers.js";
import {
  makeHere,
  makeThere,
  type Plan,
  predicates,
  type Restrictions,
  randomPlans,
} from "./plans.js";

const PLANS = sized(60, 12);
const WRONG_KEY = createRootKey(new Uint8Array([0]));

/** The exchange of macaroons in one form with one peer. */
export interface Exchange {
  readonly format: MacaroonFormat;
  readonly restrictions?: Restrictions;
}

/** Tests that each side reads and verifies everything that the other side makes in these forms. */
export function describeExchange(name: PeerName, exchanges: readonly Exchange[]): void {
  describe.skipIf(!peerInstalled(name))(`proviso and ${name}`, () => {
    let peer: Peer;
    beforeAll(() => {
      peer = startPeer(name);
    });
    afterAll(() => peer.close());

    test("exchange every form that the other library supports", () => {
      expect(exchanges.map(({ format }) => format)).toEqual(PEERS[name].formats);
    });

    describe.each(exchanges)("in the form $format", ({ format, restrictions }) => {
      const plans = randomPlans(PLANS, restrictions);
      const read = (text: string): Macaroon => parseMacaroon(text);
      const write = (macaroon: Macaroon): string => writeMacaroons([macaroon], format);

      test.each(A_CHAIN)("make the known macaroon $name", async ({ caveats, signature }) => {
        let text = await peer.create({ ...K1, format });
        for (const caveat of caveats) text = await peer.append(text, caveat);
        expect(hex(read(text).signature)).toBe(signature);
        expect(await peer.verify({ macaroon: text, key: K1.key, satisfied: caveats })).toBe(true);
      });

      test("verify in the other library the known macaroon C2, with C3 bound to C2", async () => {
        const { key, caveat, third, dischargeCaveat } = C_CHAIN;
        const root = parseMacaroon(C_CHAIN.c2V2);
        const made = createMacaroon(createRootKey(utf8(third.key)), third);
        const discharge = addFirstPartyCaveat(made, dischargeCaveat);
        const satisfied = [caveat, dischargeCaveat];
        const request = { macaroon: write(root), key, satisfied };
        const bound = await peer.bind(write(root), write(discharge));
        expect(hex(read(bound).signature)).toBe(C_CHAIN.c3BoundSignature);
        const ours = write(bindDischarge(root, discharge));
        expect(await peer.verify({ ...request, discharges: [ours] })).toBe(true);
        expect(await peer.verify({ ...request, discharges: [write(discharge)] })).toBe(false);
        expect(await peer.verify({ ...request, discharges: [] })).toBe(false);
      });

      test("verify in proviso the macaroons that the other library made and bound", async () => {
        for (const plan of plans) {
          const theirs = await makeThere(peer, plan, format);
          const root = read(theirs.root);
          const discharges = theirs.discharges.map(read);
          expect(verdict(root, plan, discharges)).toEqual({ ok: true });
          expect(verifyMacaroon(root, WRONG_KEY, { discharges, check: yes }).ok).toBe(false);
        }
      });

      test("verify in the other library the macaroons that proviso made and bound", async () => {
        for (const plan of plans) {
          const { root, discharges } = makeHere(plan);
          const request = {
            macaroon: write(root),
            discharges: discharges.map(write),
            satisfied: predicates(plan),
          };
          expect(await peer.verify({ ...request, key: plan.key })).toBe(true);
          expect(await peer.verify({ ...request, key: "another key" })).toBe(false);
        }
      });

      test("refuse an unmet caveat", async () => {
        const { key, identifier } = K1;
        const macaroon = addFirstPartyCaveat(createMacaroon(createRootKey(utf8(key)), K1), "no");
        const text = write(macaroon);
        expect(await peer.verify({ macaroon: text, key, satisfied: ["yes", identifier] })).toBe(
          false,
        );
        expect(await peer.verify({ macaroon: text, key, satisfied: ["yes", "no"] })).toBe(true);
        const result = verifyMacaroon(macaroon, createRootKey(utf8(key)), { check: () => false });
        expect(result.ok).toBe(false);
      });

      test("make the same macaroon by appending a caveat", async () => {
        for (const plan of plans) {
          const { root } = makeHere(plan);
          const theirs = await peer.append(write(root), "appended = there");
          const ours = addFirstPartyCaveat(root, "appended = there");
          expect(contents(read(theirs))).toEqual(contents(ours));
        }
      });

      test("keep a macaroon of proviso unchanged when the other library reads and writes it", async () => {
        for (const plan of plans) {
          const { root } = makeHere(plan);
          const theirs = await peer.convert(write(root), format);
          expect(contents(read(theirs))).toEqual(contents(root));
        }
      });
    });
  });
}

function yes(): boolean {
  return true;
}

/** Returns our verdict on a macaroon, if exactly the predicates of the plan hold. */
function verdict(root: Macaroon, plan: Plan, discharges: Macaroon[]): unknown {
  const known = new Set(predicates(plan).map((one) => Buffer.from(one).toString("hex")));
  const check = (caveat: Uint8Array): boolean => known.has(Buffer.from(caveat).toString("hex"));
  return verifyMacaroon(root, createRootKey(plan.key), { discharges, check });
}
