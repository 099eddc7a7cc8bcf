import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readServiceKeyId } from "../../src/capability/key-id.js";
import { inspect } from "../../src/index.js";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  type Issuer,
  importKeyring,
  type Keyring,
  type RevocationList,
} from "../../src/issuer/index.js";
import { revocationIdOf } from "../../src/revocation/id.js";
import { append, attenuated, codes, denials, fixture, misuse } from "../capability/support.js";

const DOCS = "https://docs.example/api";
const CALL = { grant: "files", operation: "get" } as const;
const AT = "2030-01-01T00:00:00Z";

/** A service that has only its own keys and a revocation list. */
function serviceOf(
  keys: Keyring,
  service = DOCS,
): { readonly issuer: Issuer; readonly revocations: RevocationList } {
  const revocations = createRevocationList();
  const own = importKeyring(JSON.parse(JSON.stringify(keys.serviceKeys(service))));
  const { issuer } = fixture({ keys: own, revocations, audience: service });
  return { issuer, revocations };
}

function mintFor(issuer: Issuer, service: string | undefined = DOCS): string {
  return issuer.mint({ grant: "files", operations: ["get", "put"], service }).token;
}

describe("the key derived for one service", () => {
  test("is the HMAC of a label and the service's name under the root key's secret", () => {
    const keys = createKeyring().rotate();
    const own = keys.serviceKeys(DOCS).keys;
    expect(own).toEqual(
      keys.exportJwkSet().keys.map((jwk) => ({
        ...jwk,
        kid: `${jwk.kid}@${DOCS}`,
        k: createHmac("sha256", Buffer.from(jwk.k, "base64url"))
          .update(`proviso-service-key-v1 ${DOCS}`)
          .digest("base64url"),
      })),
    );
    expect(importKeyring({ keys: own }).service).toBe(DOCS);
    expect(keys.service).toBeUndefined();
  });

  test("has an id from which readServiceKeyId reads the root key's id and the service's name", () => {
    const id = "k@docs";
    expect(readServiceKeyId(id)).toEqual({ root: "k", service: "docs" });
    for (const none of ["@docs", "k@", "k", "k@a b", ""]) {
      expect(readServiceKeyId(none)).toBeUndefined();
    }
  });

  test("differs for service names that differ in case only", () => {
    const keys = createKeyring();
    const secretOf = (service: string) => keys.serviceKeys(service).keys.map(({ k }) => k);
    expect(secretOf("Docs")).not.toEqual(secretOf("docs"));
    const issuer = createIssuer({ name: "agent", keys, revocations: createRevocationList() });
    const asked = { grant: "files", operation: "get" };
    for (const service of ["docs", "Docs"]) {
      const own = importKeyring(keys.serviceKeys(service));
      const checker = createIssuer({
        name: "agent",
        keys: own,
        revocations: createRevocationList(),
      });
      const token = mintFor(issuer, service);
      for (const audience of ["docs", "Docs"]) {
        const allowed = audience === service;
        expect(issuer.authorize(token, { ...asked, audience }).allowed).toBe(allowed);
        expect(checker.authorize(token, { ...asked, audience }).allowed).toBe(allowed);
      }
    }
  });

  test("makes tokens for which inspect shows the service", () => {
    const { issuer } = fixture();
    expect(inspect(mintFor(issuer)).service).toBe(DOCS);
    const { token } = issuer.mint({ grant: "files", operations: ["get"] });
    expect(inspect(token)).not.toHaveProperty("service");
  });

  test("derives no further keys, and is rotated only by the issuer", () => {
    const own = importKeyring(createKeyring().serviceKeys(DOCS));
    expect(misuse(() => own.serviceKeys("b"))).toContain(`the keys of the service ${DOCS}`);
    expect(misuse(() => own.rotate())).toContain(`the keys of the service ${DOCS}`);
    expect(misuse(() => own.mintingFor("b"))).toContain(`the keys of the service ${DOCS}`);
    expect(own.find(`${own.minting.kid}@b`)).toBeUndefined();
  });

  test.each([
    ["empty", ""],
    ["with a space", "a b"],
    ["with an @", "a@b"],
    ["with a letter beyond ASCII", "ä"],
    ["of 256 characters", "a".repeat(256)],
    ["an array", ["a b"]],
  ])("is refused for a service name that is %s", (_about, service) => {
    const keys = createKeyring();
    const named = service as string;
    expect(misuse(() => keys.serviceKeys(named))).toContain("service must be 1 to 255 printable");
    const { issuer } = fixture({ keys });
    expect(misuse(() => mintFor(issuer, named))).toContain("service must be 1 to 255 printable");
    expect(keys.find(`${keys.minting.kid}@${service}`)).toBeUndefined();
  });

  test("cannot be in one keyring with a root key or another service's key", () => {
    const keys = createKeyring();
    const [root] = keys.exportJwkSet().keys;
    const verifying = (service: string) =>
      keys.serviceKeys(service).keys.map((jwk) => ({ ...jwk, key_ops: ["verify"] }));
    expect(misuse(() => importKeyring({ keys: [root, ...verifying("a")] }))).toContain(
      "a keyring has root keys, or the keys of one service, and not both",
    );
    const [a] = keys.serviceKeys("a").keys;
    expect(misuse(() => importKeyring({ keys: [a, ...verifying("b")] }))).toContain("not both");
    for (const kid of ["@a", "key_1@", "a@b@c", "a@b c"]) {
      expect(misuse(() => importKeyring({ keys: [{ ...root, kid }] }))).toContain("KID@SERVICE");
    }
  });

  test("is cached for a limited number of service names, and derived again for an evicted name", () => {
    const keys = createKeyring();
    const kid = `${keys.minting.kid}@a`;
    const first = keys.find(kid);
    expect(keys.find(kid)).toBe(first);
    for (let one = 0; one < 300; one++) keys.find(`${keys.minting.kid}@service-${one}`);
    const again = keys.find(kid);
    expect(again).not.toBe(first);
    const identifier = new Uint8Array([1, 2, 3]);
    expect(again && revocationIdOf(again.tag(identifier))).toBe(
      first && revocationIdOf(first.tag(identifier)),
    );
  });
});

describe("a token for one service", () => {
  test("is checked and narrowed by a holder of only the service's key", () => {
    const { issuer, keys } = fixture();
    const service = serviceOf(keys);
    const token = mintFor(issuer);
    const decision = service.issuer.authorize(token, CALL);
    expect(decision).toMatchObject({
      allowed: true,
      capability: { service: DOCS, keyId: `${keys.minting.kid}@${DOCS}`, issuer: "agent" },
    });
    const child = attenuated(token, { operations: ["put"] });
    expect(codes(service.issuer.authorize(child, CALL))).toEqual(["operation_denied"]);
  });

  test("has the service as its only audience, and a request for another audience is a TypeError", () => {
    const { issuer } = fixture();
    const request = { grant: "files", operations: ["get"], service: DOCS };
    expect(issuer.mint(request).hop.audience).toEqual([DOCS]);
    expect(issuer.mint({ ...request, audience: [DOCS] }).hop.audience).toEqual([DOCS]);
    for (const audience of [["b"], [DOCS, "b"]]) {
      expect(misuse(() => issuer.mint({ ...request, audience }))).toBe(
        `audience: a token for the service "${DOCS}" has that audience alone, not "b"`,
      );
    }
  });

  test("is refused by every other service, and by its issuer without the service's audience", () => {
    const { issuer, keys } = fixture();
    const token = mintFor(issuer);
    expect(codes(serviceOf(keys, "b").issuer.authorize(token, CALL))).toEqual(["unknown_key"]);
    expect(codes(issuer.authorize(token, CALL))).toEqual(["audience_denied", "audience_denied"]);
    expect(issuer.authorize(token, { ...CALL, audience: DOCS }).allowed).toBe(true);
  });

  test("is refused everywhere else if the service itself minted it", () => {
    const { issuer, keys } = fixture();
    const service = serviceOf(keys);
    const own = service.issuer.mint({ grant: "admin", anyOperation: true, principal: "alice" });
    expect(own.hop.audience).toEqual([DOCS]);
    // A token that a thief of the service's key can make: with any identifier and an unrestricted hop.
    const identifier = JSON.stringify({
      grant: "files",
      id: "cap_AAAAAAAAAAAAAAAA",
      iss: "agent",
      issued: AT,
      kid: `${keys.minting.kid}@${DOCS}`,
      v: 1,
    });
    const hop = '{"expires":"2030-01-02T00:00:00Z"}';
    const forged = service.issuer.remake({ identifier, hop }) ?? "";
    expect(service.issuer.authorize(forged, CALL).allowed).toBe(true);
    expect(denials(issuer.authorize(forged, { ...CALL, audience: "agent" }))).toEqual([
      {
        code: "audience_denied",
        hop: 0,
        rule: "kid",
        expected: [DOCS],
        actual: "agent",
        message: `this token was made under the key of the service "${DOCS}", and no other accepts it`,
      },
    ]);
    expect(codes(issuer.authorize(forged, CALL))).toEqual(["audience_denied"]);
    expect(codes(issuer.standing(forged))).toEqual(["audience_denied"]);
    // The service cannot make a token with the id of a root key or of another service's key.
    for (const kid of [keys.minting.kid, `${keys.minting.kid}@b`]) {
      const named = identifier.replace(`${keys.minting.kid}@${DOCS}`, kid);
      expect(service.issuer.remake({ identifier: named, hop })).toBeUndefined();
    }
  });

  test("can be remade, authenticated and revoked at its issuer, which can also open its handles", () => {
    const { issuer, keys, revocations } = fixture();
    const { capability, identifier } = issuer.issue(
      (draft) => ({
        grant: "files",
        operations: ["get"],
        resourceHandles: [...draft.handles([7]).values()],
      }),
      { service: DOCS },
    );
    const { token, hop, keyId, id } = capability;
    expect(keyId).toBe(`${keys.minting.kid}@${DOCS}`);
    expect(issuer.remake({ identifier, hop: JSON.stringify(sorted(hop)) })).toBe(token);
    expect(issuer.isAuthentic(token)).toBe(true);
    const handles = hop.resourceHandles ?? [];
    expect([...issuer.openHandles({ id, keyId }, handles).values()]).toEqual([7]);
    expect([...serviceOf(keys).issuer.openHandles({ id, keyId }, handles).values()]).toEqual([7]);

    const revocation = issuer.revocationOf(token);
    if (revocation.ok) revocations.add(revocation.entry);
    const call = { ...CALL, resourceHandles: handles, audience: DOCS };
    expect(codes(issuer.authorize(token, call))).toEqual(["revoked"]);
    const service = serviceOf(keys);
    service.revocations.replace(revocations.snapshot("2030-01-01T00:05:00Z"));
    expect(codes(service.issuer.authorize(token, call))).toEqual(["revoked"]);
  });

  test("is refused once its root key or its own key is revoked, or the root key is retired", () => {
    const { issuer, keys } = fixture();
    const [mine, theirs] = [mintFor(issuer), mintFor(issuer, "b")];
    const { kid } = keys.minting;
    const root = createRevocationList();
    root.add({ kind: "key", id: kid, at: AT });
    const all = fixture({ keys, revocations: root }).issuer;
    expect(denials(all.authorize(mine, { ...CALL, audience: DOCS }))).toMatchObject([
      { code: "revoked", rule: "key", actual: kid },
    ]);
    expect(codes(all.authorize(theirs, { ...CALL, audience: "b" }))).toEqual(["revoked"]);

    const one = createRevocationList();
    one.add({ kind: "key", id: `${kid}@${DOCS}`, at: AT });
    const some = fixture({ keys, revocations: one }).issuer;
    expect(codes(some.authorize(mine, { ...CALL, audience: DOCS }))).toEqual(["revoked"]);
    expect(some.authorize(theirs, { ...CALL, audience: "b" }).allowed).toBe(true);

    const retired = fixture({ keys: keys.rotate().retire(kid) }).issuer;
    expect(codes(retired.authorize(mine, { ...CALL, audience: DOCS }))).toEqual(["unknown_key"]);
    expect(codes(serviceOf(keys.rotate().retire(kid)).issuer.authorize(mine, CALL))).toEqual([
      "unknown_key",
    ]);
    expect(serviceOf(keys.rotate()).issuer.authorize(mine, CALL).allowed).toBe(true);
  });

  test("is refused by its own service if an added hop names another audience", () => {
    const { issuer, keys } = fixture();
    const token = append(mintFor(issuer), '{"audience":["b"]}');
    expect(codes(serviceOf(keys).issuer.authorize(token, CALL))).toEqual(["audience_denied"]);
  });
});

describe("issuer.issue", () => {
  test("makes another token under the id of an earlier capability", () => {
    const { issuer } = fixture();
    const request = { grant: "files", operations: ["get"] };
    const { id } = issuer.mint(request);
    const again = issuer.issue(() => ({ ...request, expires: "5m" }), { id }).capability;
    expect(again.id).toBe(id);
    expect(issuer.authorize(again.token, CALL)).toMatchObject({
      allowed: true,
      capability: { id },
    });
  });

  test("refuses an invalid id, an unknown option, and a service in the request instead of the options", () => {
    const { issuer } = fixture();
    const request = { grant: "files", operations: ["get"] };
    for (const id of ["", "cap_1", "rv_AAAAAAAAAAAAAAAAAAAAAA", 7 as unknown as string]) {
      expect(misuse(() => issuer.issue(() => request, { id }))).toContain(
        "options.id must be cap_",
      );
    }
    const misspelt = { servise: DOCS } as object;
    expect(misuse(() => issuer.issue(() => request, misspelt))).toContain(
      'options.servise: unknown property; did you mean "service"?',
    );
    expect(misuse(() => issuer.issue(() => ({ ...request, service: DOCS })))).toContain(
      "name it in the options of issue",
    );
  });
});

function sorted(hop: object): object {
  return Object.fromEntries(Object.entries(hop).sort(([a], [b]) => (a < b ? -1 : 1)));
}
