import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseMacaroon } from "../../src/macaroon/index.js";
import { rejection } from "../macaroon/support.js";
import { describeExchange } from "./exchange.js";
import { type Peer, peerInstalled, startPeer } from "./peers.js";

describeExchange("npm-macaroon", [{ format: "v1json" }, { format: "v2json" }]);

describe.skipIf(!peerInstalled("npm-macaroon"))("npm macaroon", () => {
  let peer: Peer;
  beforeAll(() => {
    peer = startPeer("npm-macaroon");
  });
  afterAll(() => peer.close());

  const s64 = "A".repeat(43);
  test.each([
    {
      about: "a signature that is not hex",
      json: { identifier: "i", signature: "z".repeat(64) },
      code: "json_hex",
    },
    {
      about: "a signature of one byte",
      json: { identifier: "i", signature: "aa" },
      code: "signature_length",
    },
    {
      about: "both i and i64",
      json: { v: 2, i: "i", i64: "aQ", s64 },
      code: "json_both_encodings",
    },
  ])("reads $about, which proviso refuses", async ({ json, code }) => {
    const text = JSON.stringify(json);
    expect(await peer.convert(text, "v2json")).toMatch(/^\{/);
    expect(rejection(() => parseMacaroon(text)).code).toBe(code);
  });
});
