import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  type MacaroonFormat,
  parseMacaroon,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { Macaroon } from "../../src/macaroon/macaroon.js";
import { utf8 } from "../macaroon/support.js";
import { type Peer, type PeerName, peerInstalled, startPeer } from "./peers.js";

/**
 * Tests an unsigned caveat that does not hold. Some verifiers compute the chain only from caveats that hold,
 * and so ignore such a caveat. The tests expect that the peer is such a verifier, and that this project is not.
 */
export function describeInjection(name: PeerName, formats: readonly MacaroonFormat[]): void {
  describe.skipIf(!peerInstalled(name))(`a caveat injected into a token for ${name}`, () => {
    const key = "root key";
    let peer: Peer;
    beforeAll(() => {
      peer = startPeer(name);
    });
    afterAll(() => peer.close());

    test.each(formats)(
      "in the form %s is accepted by that library and refused by proviso",
      async (format) => {
        const genuine = addFirstPartyCaveat(
          createMacaroon(createRootKey(utf8(key)), { identifier: "id", location: "l" }),
          "holds",
        );
        const { location, identifier, caveats, signature } = addFirstPartyCaveat(
          genuine,
          "injected",
        );
        expect(encodeBase64url(signature)).not.toBe(encodeBase64url(genuine.signature));
        const injected = new Macaroon({
          location,
          identifier,
          caveats,
          signature: genuine.signature,
        });
        const text = writeMacaroons([injected], format);
        expect(await peer.verify({ macaroon: text, key, satisfied: ["holds"] })).toBe(true);
        const check = (caveat: Uint8Array): boolean => Buffer.from(caveat).toString() === "holds";
        expect(
          verifyMacaroon(parseMacaroon(text), createRootKey(utf8(key)), { check }),
        ).toMatchObject({
          ok: false,
          failures: [{ code: "signature_mismatch" }],
        });
      },
    );
  });
}
