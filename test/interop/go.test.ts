import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createMacaroon,
  createRootKey,
  parseMacaroon,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { contents, rejection, utf8 } from "../macaroon/support.js";
import { sized } from "../support/size.js";
import { describeExchange } from "./exchange.js";
import { type Peer, peerInstalled, startPeer } from "./peers.js";
import { makeHere, makeThere, randomPlans } from "./plans.js";

describeExchange("go", [
  { format: "v1" },
  { format: "v2", restrictions: { binary: true } },
  { format: "v1json" },
  // The Go implementation omits the version property.
  { format: "v2json", restrictions: { binary: true } },
]);

describe.skipIf(!peerInstalled("go"))("the Go library", () => {
  let peer: Peer;
  beforeAll(() => {
    peer = startPeer("go");
  });
  afterAll(() => peer.close());

  describe.each(["v1", "v2"] as const)("a Slice in %s", (format) => {
    const plans = randomPlans(sized(30, 10)).filter(({ caveats }) =>
      caveats.some((one) => "third" in one),
    );

    test("written by Go is read and verified by proviso", async () => {
      for (const plan of plans) {
        const { root, discharges } = await makeThere(peer, plan, format);
        const text = await peer.join([root, ...discharges]);
        const [ours, ...rest] = readMacaroons(text).macaroons;
        expect(rest).toHaveLength(discharges.length);
        const options = { discharges: rest, check: () => true };
        expect(verifyMacaroon(ours, createRootKey(plan.key), options)).toEqual({ ok: true });
      }
    });

    test("written by proviso is read by Go, and comes back byte for byte", async () => {
      for (const plan of plans) {
        const { root, discharges } = makeHere(plan);
        const text = writeMacaroons([root, ...discharges], format);
        expect(await peer.join([text])).toBe(text);
      }
    });
  });

  test("a Slice mixing v1 and v2, which Go reads, is refused by proviso", async () => {
    const init = { key: "k", identifier: "i" };
    const text = await peer.join([
      await peer.create({ ...init, format: "v1" }),
      await peer.create({ ...init, format: "v2" }),
    ]);
    expect(rejection(() => readMacaroons(text)).code).toBe("trailing_bytes");
  });

  test("Go's v2 JSON, which has no version property, is read by proviso", async () => {
    const text = await peer.create({ key: "key", identifier: "id", format: "v2json" });
    expect(text).toBe('{"i":"id","s64":"vprka8-6c1PZ3Smv2WhsEbhTmnHP-iWyoa9aHpGAFxs"}');
    const ours = createMacaroon(createRootKey(utf8("key")), { identifier: "id" });
    expect(contents(parseMacaroon(text))).toEqual(contents(ours));
  });

  test("Go silently drops a caveat that is not UTF-8 from a v1 token", async () => {
    const text = await peer.create({ key: "k", identifier: "i", format: "v1" });
    expect(await peer.append(text, Uint8Array.of(0xff))).toBe(text);
  });
});
