import { hkdfSync } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64url } from "../../src/bytes/base64.js";
import {
  createKeyring,
  createRevocationList,
  importKeyring,
  type Keyring,
} from "../../src/issuer/index.js";
import { MAX_SEALED_TEXT } from "../../src/issuer/sealed-text.js";
import { fixture, misuse, NOW } from "../capability/support.js";

const { issuer } = fixture({ random: undefined });

describe("a string sealed by the issuer", () => {
  test("opens to its text for its own purpose only", () => {
    for (const text of [
      "",
      " ",
      "alice after 70",
      "ä\u0000\u{1F600}",
      "x".repeat(MAX_SEALED_TEXT),
    ]) {
      const sealed = issuer.seal("listing", text);
      expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(issuer.open("listing", sealed)).toBe(text);
      expect(issuer.open("listing2", sealed)).toBeUndefined();
    }
  });

  test("hides its text, and differs at each sealing", () => {
    const [one, other] = [issuer.seal("listing", "alice"), issuer.seal("listing", "alice")];
    expect(one).not.toBe(other);
    expect(Buffer.from(one, "base64url").toString("latin1")).not.toContain("alice");
  });

  test("with any byte changed, removed or added does not open", () => {
    const bytes = decodeBase64(issuer.seal("listing", "alice"));
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (at, change) => {
          const damaged = Uint8Array.from(bytes);
          damaged[at] = (damaged[at] ?? 0) ^ change;
          expect(issuer.open("listing", encodeBase64url(damaged))).toBeUndefined();
          const cut = encodeBase64url(bytes.subarray(0, at));
          expect(issuer.open("listing", cut)).toBeUndefined();
        },
      ),
    );
    expect(issuer.open("listing", `${encodeBase64url(bytes)}AAAA`)).toBeUndefined();
  });

  test("is the only kind of value that opens; any other value gives undefined", () => {
    for (const text of [
      "",
      "!",
      "AAAA",
      "A".repeat(30_000),
      undefined,
      7,
      {},
      issuer.seal("b", ""),
    ]) {
      expect(issuer.open("listing", text)).toBeUndefined();
    }
  });

  test("opens until its expiry", () => {
    let now = NOW;
    const timed = fixture({ clock: () => now }).issuer;
    const [short, dated, endless] = [
      timed.seal("state", "a", "10m"),
      timed.seal("state", "b", new Date(NOW + 600_000)),
      timed.seal("state", "c"),
    ];
    now += 599_999;
    expect([short, dated, endless].map((one) => timed.open("state", one))).toEqual(["a", "b", "c"]);
    now += 1;
    expect([short, dated, endless].map((one) => timed.open("state", one))).toEqual([
      undefined,
      undefined,
      "c",
    ]);
  });

  test("opens after a key rotation, until its key is retired", () => {
    const first = createKeyring();
    let keys: Keyring = first;
    const rotating = fixture({ keys: (() => keys) as never }).issuer;
    const sealed = rotating.seal("state", "a");
    keys = first.rotate();
    expect(rotating.open("state", sealed)).toBe("a");
    keys = keys.retire(first.minting.kid);
    expect(rotating.open("state", sealed)).toBeUndefined();
  });

  test("opens only at the service if a service sealed it, not at the issuer from whose key the service's key is derived", () => {
    const { issuer: root, keys } = fixture();
    const own = importKeyring(keys.serviceKeys("files.example"));
    const { issuer: service } = fixture({ keys: own });
    const sealed = service.seal("console-session", "alice");
    expect(service.open("console-session", sealed)).toBe("alice");
    expect(root.open("console-session", sealed)).toBeUndefined();
    expect(service.open("console-session", root.seal("console-session", "a"))).toBeUndefined();
  });

  test("opens until its key is revoked; if sealed by a service, also until the root key is revoked", () => {
    const { issuer: root, keys, revocations } = fixture();
    const own = importKeyring(keys.serviceKeys("files.example"));
    const { issuer: service, revocations: copy } = fixture({ keys: own });
    const [sealed, served] = [root.seal("state", "a"), service.seal("state", "b")];
    const entry = { kind: "key", id: keys.minting.kid, at: "2020-01-01T00:00:00Z" } as const;
    expect([root.open("state", sealed), service.open("state", served)]).toEqual(["a", "b"]);
    revocations.add(entry);
    copy.add(entry);
    expect(root.open("state", sealed)).toBeUndefined();
    expect(service.open("state", served)).toBeUndefined();
  });

  test("does not open while the revocation list is too old", () => {
    let now = NOW;
    const trustedUntil = new Date(NOW + 60_000).toISOString().replace(".000Z", "Z");
    const revocations = createRevocationList({ version: 1, entries: [], trustedUntil });
    const { issuer: following } = fixture({ revocations, clock: () => now });
    const sealed = following.seal("state", "a");
    expect(following.open("state", sealed)).toBe("a");
    now += 60_000;
    expect(following.open("state", sealed)).toBeUndefined();
  });

  test("cannot be made with an invalid purpose, text or expiry, or opened with an invalid purpose", () => {
    const purposes = ["", "a b", "ä", "a".repeat(65), undefined as unknown as string];
    for (const purpose of purposes) {
      expect(misuse(() => issuer.seal(purpose, "a"))).toContain("purpose must be 1 to 64");
      expect(misuse(() => issuer.open(purpose, "a"))).toContain("purpose must be 1 to 64");
    }
    expect(misuse(() => issuer.seal("a", "\ud800"))).toContain("lone surrogates");
    expect(misuse(() => issuer.seal("a", 7 as unknown as string))).toContain("must be a string");
    expect(misuse(() => issuer.seal("a", "ä".repeat(MAX_SEALED_TEXT)))).toContain("at most 16384");
    expect(misuse(() => issuer.seal("a", "b", "soon"))).toContain("expires");
  });

  test("is encrypted under the key that HKDF of OpenSSL derives", () => {
    const keys = createKeyring();
    const [jwk] = keys.exportJwkSet().keys;
    const bytes = decodeBase64(fixture({ keys }).issuer.seal("state", "a"));
    const box = bytes.subarray(1 + (bytes[0] ?? 0));
    const secret = Buffer.from(jwk?.k ?? "", "base64url");
    const label = "proviso-sealed-text-v1 state";
    const key = new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), label, 32));
    // OpenSSL has no XSalsa20, so the test compares only the derived key, by opening the box with it.
    expect(xsalsa20poly1305(key, box.subarray(0, 24)).decrypt(box.subarray(24))).toEqual(
      new TextEncoder().encode(" a"),
    );
  });
});
