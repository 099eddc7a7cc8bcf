import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import * as jose from "jose";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { canonicalBytes, type JsonObject } from "../../src/bytes/json.js";
import {
  type DiscoverOptions,
  type DiscoveryRequirements,
  safeDiscover,
  signCard,
} from "../../src/discovery/index.js";
import { httpServer, sendText } from "../support/loopback-servers.js";
import { card } from "./cards.js";

interface Pair {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: jose.CryptoKey;
  readonly publicKey: jose.CryptoKey;
  readonly jwk: jose.JWK;
}

const ALGORITHMS = ["ES256", "EdDSA", "PS256"];
const pairs = new Map<string, Pair>();

async function pairOf(alg: string, kid: string): Promise<Pair> {
  const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...(await jose.exportJWK(publicKey)), kid } };
}

function pair(alg = "ES256"): Pair {
  const found = pairs.get(alg);
  if (found === undefined) throw new TypeError(`there is no ${alg}`);
  return found;
}

let other: Pair;
beforeAll(async () => {
  for (const alg of ALGORITHMS) pairs.set(alg, await pairOf(alg, `key-${alg}`));
  other = await pairOf("ES256", "other");
});

function signed(document: JsonObject, { privateKey: key, alg, kid }: Pair): Promise<JsonObject> {
  return signCard(document, { key, alg, kid });
}

async function found(
  place: Parameters<typeof safeDiscover>[0],
  options: DiscoverOptions = {},
  requirements: DiscoveryRequirements = {},
): Promise<string> {
  const discovery = await safeDiscover(place, requirements, options);
  const reasons = discovery.ok ? discovery.warnings : discovery.denials;
  const codes = new Set(reasons.map(({ code }) => code));
  return [discovery.ok ? "usable" : "refused", ...codes].join(" ");
}

/** Returns the document with one signature with this header. */
function withHeader(document: JsonObject, header: object, signature = ""): JsonObject {
  const head = jose.base64url.encode(JSON.stringify(header));
  return { ...document, signatures: [{ protected: head, signature }] };
}

const REQUIRED = { requireSignature: true };

describe.each(ALGORITHMS)("a card signed with %s", (alg) => {
  test("is accepted if its key is trusted, by its key id or by its thumbprint", async () => {
    const { jwk, ...one } = pair(alg);
    expect(
      await found(await signed(card(), { ...one, jwk }), { trustedKeys: [jwk] }, REQUIRED),
    ).toBe("usable");
    const { kid: _, ...unnamed } = jwk;
    const kid = await jose.calculateJwkThumbprint(unnamed);
    const byThumbprint = await signed(card(), { ...one, jwk, kid });
    expect(await found(byThumbprint, { trustedKeys: [unnamed] }, REQUIRED)).toBe("usable");
  });

  test("gets signature_untrusted if its key is not trusted: a warning, or a refusal with requireSignature", async () => {
    const document = await signed(card(), pair(alg));
    const trustedKeys = [other.jwk];
    expect(await found(document, { trustedKeys })).toBe("usable signature_untrusted");
    expect(await found(document, {})).toBe("usable signature_untrusted");
    expect(await found(document, { trustedKeys }, REQUIRED)).toBe("refused signature_untrusted");
  });

  test.each<[what: string, change: (document: JsonObject) => JsonObject]>([
    ["another string", (document) => ({ ...document, description: "does worse things" })],
    [
      "added properties",
      (document) => ({ ...document, capabilityGrants: [], iconUrl: "https://x.example" }),
    ],
    ["a removed property", ({ skills: _, ...document }) => document],
  ])("is refused after a change: %s", async (_what, change) => {
    const document = change(await signed(card(), pair(alg)));
    const options = { trustedKeys: [pair(alg).jwk] };
    expect(await found(document, options)).toBe("refused signature_invalid");
  });
});

describe("a card is refused if its signature names a trusted key, but is invalid", () => {
  const trust = (): DiscoverOptions => ({ trustedKeys: [pair().jwk] });

  test.each<[what: string, header: object]>([
    ["its algorithm is none", { alg: "none", kid: "key-ES256" }],
    ["its algorithm is HMAC", { alg: "HS256", kid: "key-ES256" }],
    ["its algorithm is another key's", { alg: "EdDSA", kid: "key-ES256" }],
    ["it names no algorithm", { kid: "key-ES256" }],
    [
      "its header has an unknown critical parameter",
      { alg: "ES256", kid: "key-ES256", crit: ["x"], x: 1 },
    ],
  ])("because %s", async (_what, header) => {
    expect(await found(withHeader(card(), header), trust())).toBe("refused signature_invalid");
  });

  test("because it was made with the public key as an HMAC secret", async () => {
    const secret = new TextEncoder().encode(await jose.exportSPKI(pair().publicKey));
    const sign = new jose.FlattenedSign(canonicalBytes(card()));
    const jws = await sign.setProtectedHeader({ alg: "HS256", kid: "key-ES256" }).sign(secret);
    const document = {
      ...card(),
      signatures: [{ protected: jws.protected ?? "", signature: jws.signature }],
    };
    expect(await found(document, trust())).toBe("refused signature_invalid");
  });

  test("even if another signature is valid", async () => {
    const good = await signed(card(), pair());
    const bad = withHeader(card(), { alg: "EdDSA", kid: "key-EdDSA" }, "AAAA");
    const both = { ...card(), signatures: [good["signatures"], bad["signatures"]].flat() };
    const trustedKeys = [pair().jwk, pair("EdDSA").jwk];
    expect(await found(JSON.parse(JSON.stringify(both)), { trustedKeys })).toBe(
      "refused signature_invalid",
    );
  });

  test.each<[what: string, signatures: unknown]>([
    ["not an array", {}],
    ["not objects", ["x"]],
    ["without a header", [{ signature: "AAAA" }]],
    ["with a header that is not JSON", [{ protected: "AAAA", signature: "AAAA" }]],
    ["nine", Array.from({ length: 9 }, () => ({ protected: "e30", signature: "" }))],
  ])("because its signatures are %s", async (_what, signatures) => {
    const document: JsonObject = JSON.parse(JSON.stringify({ ...card(), signatures }));
    expect(await found(document, trust())).toBe("refused signature_invalid");
  });
});

describe("the signatures of a card", () => {
  test.each([undefined, null, []])("are treated as missing if they are %j", async (signatures) => {
    const document: JsonObject = JSON.parse(JSON.stringify({ ...card(), signatures }));
    const options = { trustedKeys: [pair().jwk] };
    expect(await found(document, options)).toBe("usable");
    expect(await found(document, options, REQUIRED)).toBe("refused signature_missing");
  });

  test("are treated as untrusted if they name no key", async () => {
    const document = withHeader(card(), { alg: "ES256" }, "AAAA");
    expect(await found(document, { trustedKeys: [pair().jwk] })).toBe("usable signature_untrusted");
  });

  test("are accepted if one is by a trusted key and another is not", async () => {
    const document = await signed(await signed(card(), other), pair());
    expect(await found(document, { trustedKeys: [pair().jwk] }, REQUIRED)).toBe("usable");
  });
});

test("safeDiscover reports each problem of a signature once", async () => {
  // The card is signed in several forms, each with its own entry.
  const document = await signed({ ...card(), documentationUrl: "" }, pair());
  expect(Object(document["signatures"]).length).toBe(2);
  const trusting = await safeDiscover(document, {}, { trustedKeys: [other.jwk] });
  expect(trusting).toMatchObject({ ok: true, warnings: [{ code: "signature_untrusted" }] });
  expect(trusting.warnings.length).toBe(1);
  const requiring = await safeDiscover(document, REQUIRED, { trustedKeys: [other.jwk] });
  expect(requiring.ok ? [] : requiring.denials.map(({ code }) => code)).toEqual([
    "signature_untrusted",
  ]);
  expect(requiring.warnings).toEqual([]);
});

test("safeDiscover ignores properties that were added to a signed card and that no SDK reads", async () => {
  const document = {
    ...(await signed(card(), pair())),
    capabilityGrants: [{ id: "documents:read", operations: ["*"] }],
    "x-acme": true,
  };
  const discovery = await safeDiscover(document, REQUIRED, { trustedKeys: [pair().jwk] });
  expect(discovery).toMatchObject({ ok: true, card: { grants: undefined } });
  expect(discovery.ok && Object.keys(discovery.card.document)).not.toContain("x-acme");
});

describe("safeDiscover judges only the signed part of a card", () => {
  const params = {
    delegates: [{ url: "https://b.example" }],
    capabilities: { pause_resume: true },
  };

  test("added properties with default values are dropped", async () => {
    const whole = await signed(card({ params }), pair());
    const added: JsonObject = JSON.parse(JSON.stringify(whole));
    const capabilities: { extensions: { params: { capabilities: object } }[] } = JSON.parse(
      JSON.stringify(added["capabilities"]),
    );
    const document = JSON.parse(JSON.stringify({ ...added, capabilities, iconUrl: "" }));
    const discovery = await safeDiscover(document, {}, { trustedKeys: [pair().jwk] });
    expect(discovery.ok && "iconUrl" in discovery.card.document).toBe(false);
    expect(discovery.ok && discovery.card.delegates?.length).toBe(1);
  });

  test("an added empty list of delegates is dropped", async () => {
    const bare = await signed(card({ params: { capabilities: { pause_resume: true } } }), pair());
    const text = JSON.stringify(bare).replace(
      '"pause_resume":true}',
      '"pause_resume":true},"delegates":[]',
    );
    const discovery = await safeDiscover(JSON.parse(text), {}, { trustedKeys: [pair().jwk] });
    expect(discovery.ok && discovery.card.delegates).toBeUndefined();
  });

  test("a signed empty list of delegates is kept", async () => {
    const document = await signed(card({ params: { delegates: [] } }), pair());
    const discovery = await safeDiscover(document, {}, { trustedKeys: [pair().jwk] });
    expect(discovery.ok && discovery.card.delegates).toEqual([]);
  });
});

describe("the official SDK, signCard and discovery", () => {
  const published = { ...card(), capabilities: { streaming: true, pushNotifications: false } };

  test("the SDK verifies what signCard signs", async () => {
    // The SDK logs each signature that covers another form of the card.
    const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
    for (const document of [published, card({ params: { delegates: [] } })]) {
      const written = AgentCard.fromJSON(await signed(document, pair()));
      const verify = verifyAgentCardSignature(async () => pair().publicKey);
      await expect(verify(written)).resolves.toBeUndefined();
    }
    debug.mockRestore();
  });

  const verifies = async (document: JsonObject): Promise<boolean> => {
    const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
    const verify = verifyAgentCardSignature(async () => pair().publicKey);
    // The card as fetched, which the SDK parses itself.
    const fetched: Parameters<typeof verify>[0] = JSON.parse(JSON.stringify(document));
    return verify(fetched)
      .then(() => true)
      .catch(() => false)
      .finally(() => debug.mockRestore());
  };

  test.each<[what: string, document: JsonObject]>([
    ["properties of a vendor", card({ top: { "x-acme": { tier: 1 }, interfaces: { mcp: "m" } } })],
    ["nested properties of a vendor", card({ top: { skills: [{ id: "s", inputSchema: {} }] } })],
    ["the contract's properties at A2A's places", card({ top: { minProtocolVersion: "1.0" } })],
    [
      "names in snake_case",
      card({ top: { default_input_modes: ["text/plain"], defaultInputModes: null } }),
    ],
    [
      "properties for clients of 0.3",
      card({ top: { url: "https://a.example", protocolVersion: "0.3.0", security: [{ a: [] }] } }),
    ],
  ])("the SDK verifies a card with %s, and so does discovery", async (_what, document) => {
    const made = await signed(document, pair());
    expect(await verifies(made)).toBe(true);
    expect(await found(made, { trustedKeys: [pair().jwk] }, REQUIRED)).toBe("usable");
  });

  test.each<[what: string, document: JsonObject, why: RegExp]>([
    [
      "of A2A 0.3",
      { ...card({ top: { url: "https://a.example" } }), supportedInterfaces: null },
      /it lists no supportedInterfaces, as a card of A2A 1\.0 does/,
    ],
    [
      "with a property of a wrong type",
      card({ top: { version: 1 } }),
      /\/version is 1, where A2A has string/,
    ],
    [
      "with two kinds of one security scheme",
      card({
        top: {
          securitySchemes: {
            a: {
              mtlsSecurityScheme: { description: "d" },
              httpAuthSecurityScheme: { scheme: "x" },
            },
          },
        },
      }),
      /\/securitySchemes\/a has 2 properties, where A2A has one/,
    ],
  ])("signCard refuses a card that the SDK cannot verify: %s", async (_what, document, why) => {
    const { privateKey: key, alg, kid } = pair();
    const options = { key, alg, kid };
    const call = signCard(document, options);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(/^card: the official SDKs cannot verify its signature: /);
    await expect(call).rejects.toThrow(why);
    const onUnverifiable = vi.fn();
    const made = await signCard(document, { ...options, onUnverifiable });
    expect(onUnverifiable.mock.calls).toEqual([[expect.stringMatching(why)]]);
    expect(await verifies(made)).toBe(false);
  });

  test("discovery verifies what the SDK signs", async () => {
    const { privateKey, alg, kid, jwk } = pair("EdDSA");
    const sign = generateAgentCardSignature(privateKey, { alg, kid, typ: "JOSE" });
    for (const document of [
      published,
      card({ params: { delegates: [] } }),
      card({ extensions: [{ uri: "urn:x:1", required: false }] }),
    ]) {
      const made = AgentCard.toJSON(await sign(AgentCard.fromJSON(document)));
      const signatures = Object.entries(made ?? {}).find(([name]) => name === "signatures")?.[1];
      // The card as the SDK's server writes it, and as a server would that writes out default values.
      const served: JsonObject[] = [JSON.parse(JSON.stringify(made)), { ...document, signatures }];
      for (const one of served)
        expect(await found(one, { trustedKeys: [jwk] }, REQUIRED)).toBe("usable");
    }
  });
});

describe("safeDiscover fetches the keys of signatures", () => {
  /** Starts an agent with a signed card and a JWK Set. */
  const serving = async (sign: (url: string) => Promise<JsonObject>, keys = [pair().jwk]) => {
    const server = await httpServer(async (request, response) => {
      if (request.url === "/jwks.json") return sendText(response, JSON.stringify({ keys }));
      return sendText(response, JSON.stringify(await sign(server.url)));
    });
    return server;
  };
  const cardAt = (url: string): JsonObject =>
    card({
      interfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
  const withJku = (url: string, jku: string): Promise<JsonObject> => {
    const { privateKey: key, alg, kid } = pair();
    return signCard(cardAt(url), { key, alg, kid, jku });
  };

  test("from the JWK Set that the caller names", async () => {
    const keys = await serving((url) => signed(cardAt(url), pair()));
    const agent = await serving((url) => signed(cardAt(url), pair()));
    const options = { jwksUrl: `${keys.url}/jwks.json` };
    expect(await found(agent.url, options, REQUIRED)).toBe("usable");
    expect(keys.requests.map(({ url }) => url)).toEqual(["/jwks.json"]);
  });

  test("from the agent's own origin", async () => {
    const agent = await serving((url) => withJku(url, `${url}/jwks.json`));
    expect(await found(agent.url, {}, REQUIRED)).toBe("usable");
  });

  test("from no other origin", async () => {
    const elsewhere = await serving((url) => signed(cardAt(url), pair()));
    const agent = await serving((url) => withJku(url, `${elsewhere.url}/jwks.json`));
    expect(await found(agent.url, {}, REQUIRED)).toBe("refused signature_untrusted");
    expect(elsewhere.requests).toEqual([]);
    const document = await withJku(agent.url, `${agent.url}/jwks.json`);
    expect(await found(document, {}, REQUIRED)).toBe("refused signature_untrusted");
  });

  test("and refuses a card that was changed after it was signed", async () => {
    const agent = await serving(async (url) => ({
      ...(await withJku(url, `${url}/jwks.json`)),
      description: "other",
    }));
    expect(await found(agent.url)).toBe("refused signature_invalid");
  });

  test("and reports signature_untrusted if the JWK Set cannot be fetched or read", async () => {
    const agent = await serving((url) => signed(cardAt(url), pair()));
    for (const jwksUrl of ["http://127.0.0.1:9/jwks.json", `${agent.url}/card`]) {
      expect(await found(agent.url, { jwksUrl })).toBe("usable signature_untrusted");
      expect(await found(agent.url, { jwksUrl }, REQUIRED)).toBe("refused signature_untrusted");
    }
  });
});

describe("misuse of keys and options", () => {
  test("makes safeDiscover throw for a private key among the trusted keys, without showing the key", async () => {
    const jwk = await jose.exportJWK(pair().privateKey);
    const call = safeDiscover(await signed(card(), pair()), {}, { trustedKeys: [jwk] });
    await expect(call).rejects.toThrow(/^options.trustedKeys: \[0\] is not a public key/);
    await expect(call).rejects.not.toThrow(String(jwk.d));
  });

  test.each<[options: object, message: RegExp]>([
    [{ alg: "HS256" }, /options.alg: must be one of/],
    [{ kid: "" }, /options.kid/],
    [{ key_id: "x" }, /options.key_id: unknown property/],
  ])("makes signCard throw for the options %j", async (options, message) => {
    const { privateKey: key, alg, kid } = pair();
    await expect(signCard(card(), { key, alg, kid, ...options })).rejects.toThrow(message);
  });
});

describe("signatures of a hostile card", () => {
  test("verify after the card's empty properties are removed, but not after any other change", async () => {
    const document = await signed({ ...card(), documentationUrl: "" }, pair());
    const { documentationUrl: _, ...dropped } = document;
    const trustedKeys = [pair().jwk, other.jwk];
    expect(await found(dropped, { trustedKeys }, REQUIRED)).toBe("usable");
    const tampered = { ...dropped, description: "other" };
    expect(await found(tampered, { trustedKeys }, REQUIRED)).toBe("refused signature_invalid");
    // An additional signature by another key does not make the card acceptable.
    const resigned = await signed(tampered, other);
    expect(await found(resigned, { trustedKeys }, REQUIRED)).toBe("refused signature_invalid");
  });

  test("are refused if one signature is repeated, and signing again with one key adds no signature", async () => {
    const once = await signed(card(), pair("EdDSA"));
    expect((await signed(once, pair("EdDSA")))["signatures"]).toEqual(once["signatures"]);
    const [entry] = Array.isArray(once["signatures"]) ? once["signatures"] : [];
    const twice = { ...once, signatures: [entry, entry] };
    const options = { trustedKeys: [pair("EdDSA").jwk] };
    expect(await found(twice, options)).toBe("refused signature_invalid");
  });

  test("are refused if they would need more than 48 checks", async () => {
    const decoys = await Promise.all(Array.from({ length: 40 }, () => pairOf("EdDSA", "k")));
    const last = decoys.at(-1) ?? other;
    const document = await signed(card(), last);
    const refused = await safeDiscover(document, {}, { trustedKeys: decoys.map(({ jwk }) => jwk) });
    expect(refused.ok ? [] : refused.denials).toMatchObject([
      { code: "signature_invalid", message: expect.stringContaining("more than 48 checks") },
    ]);
  });

  test("do not verify with a JWK Set that has three keys with one id", async () => {
    const three = await Promise.all(["k", "k", "k"].map((kid) => pairOf("EdDSA", kid)));
    const [one = other, two = other] = three;
    const keysOf = (pairs: readonly Pair[]) => ({ keys: pairs.map(({ jwk }) => jwk) });
    const server = await httpServer((request, response) =>
      sendText(response, JSON.stringify(keysOf(request.url === "/3" ? three : [one, two]))),
    );
    const document = await signed(card(), two);
    expect(await found(document, { jwksUrl: `${server.url}/2` }, REQUIRED)).toBe("usable");
    expect(await found(document, { jwksUrl: `${server.url}/3` }, REQUIRED)).toBe(
      "refused signature_untrusted",
    );
  });
});
