import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseMacaroon } from "../../src/macaroon/index.js";
import { rejection } from "../macaroon/support.js";
import { describeExchange } from "./exchange.js";
import { describeInjection } from "./injection.js";
import { type Peer, peerInstalled, startPeer } from "./peers.js";

describeExchange("pymacaroons", [
  // In v1 packets, pymacaroons counts the characters of identifiers and locations instead of their bytes. It
  // also drops the verification id of a caveat without a location.
  { format: "v1", restrictions: { ascii: true, located: true } },
  { format: "v2" },
  { format: "v1json" },
  { format: "v2json" },
]);

describeInjection("pymacaroons", ["v1", "v2", "v1json", "v2json"]);

describe.skipIf(!peerInstalled("pymacaroons"))("a quirk of pymacaroons:", () => {
  const init = { key: "key", identifier: "id" };
  let peer: Peer;
  beforeAll(() => {
    peer = startPeer("pymacaroons");
  });
  afterAll(() => peer.close());

  test("v2 without location: pymacaroons writes an empty location, which proviso reads as none", async () => {
    const text = await peer.create({ ...init, format: "v2" });
    expect(text).toBe("AgEAAgJpZAAABiC-muRrz7pzU9ndKa_ZaGwRuFOacc_6JbKhr1oekYAXGw");
    expect(parseMacaroon(text).location).toBeUndefined();
  });

  test("v2 JSON: pymacaroons writes no version property, and proviso reads the JSON without it", async () => {
    const text = await peer.create({ ...init, format: "v2json" });
    expect(text).toBe('{"i": "id", "s64": "vprka8-6c1PZ3Smv2WhsEbhTmnHP-iWyoa9aHpGAFxs"}');
    expect(parseMacaroon(text).caveats).toEqual([]);
  });

  test("v1 with non-ASCII letters: pymacaroons writes wrong packet lengths, which proviso refuses", async () => {
    const text = await peer.create({ ...init, identifier: "é", format: "v1" });
    expect(rejection(() => parseMacaroon(text)).code).toBe("packet_terminator");
  });

  test("v1, a third-party caveat without location: pymacaroons loses the verification id", async () => {
    const root = await peer.create({ ...init, format: "v1" });
    const text = await peer.thirdParty(root, { key: "k", identifier: "ask" });
    expect(parseMacaroon(text).caveats).toMatchObject([{ kind: "first-party" }]);
  });
});
