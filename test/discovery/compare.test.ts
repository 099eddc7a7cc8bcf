import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { CAPABILITY_REGISTRY, compareCards, readCard } from "../../src/discovery/index.js";
import { cpuTime } from "../support/cpu-time.js";
import { sized } from "../support/size.js";
import { card } from "./cards.js";
import { changed } from "./changed.js";

const BASE: Json = card({
  params: {
    minProtocolVersion: "0.3",
    maxProtocolVersion: "1.5",
    capabilities: { pause_resume: true, context_reuse: false, "com.acme.x": true },
    delegates: [{ url: "https://b.example", capabilities: ["pause_resume"] }],
  },
  grants: [
    { id: "documents:read", description: "d", operations: ["retrieve", "list"], attenuable: true },
    {
      id: "documents:write",
      description: "d",
      operations: ["*"],
      attenuable: false,
      requires: ["documents:read"],
    },
  ],
  extensions: [{ uri: "urn:acme:voice", required: false, params: { rate: 1 } }],
  interfaces: [
    { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    {
      url: "https://a.example/rest",
      protocolBinding: "HTTP+JSON",
      protocol_versions: ["1.0", "1.1"],
      tenant: "t",
    },
  ],
  top: {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "d" } } },
    securityRequirements: [{ schemes: { bearer: {} } }, { schemes: { key: { list: ["a"] } } }],
    signatures: [{ protected: "e30", signature: "AAAA" }],
  },
});

const RPC = "JSONRPC https://a.example/rpc";
const P = "/capabilities/extensions/0/params";
const G = "/capabilities/extensions/1/params/capabilityGrants";

function compared(...after: readonly (readonly [path: string, to: Json | undefined])[]) {
  const other = after.reduce((value, [path, to]) => changed(value, path, to), BASE);
  return compareCards(readCard(BASE), readCard(other)).map(
    ({ impact, path }) => `${impact} ${path}`,
  );
}

test("compareCards lists no change between the base card and a copy of it", () => {
  expect(readCard(BASE).faults).toEqual([]);
  expect(compareCards(readCard(BASE), readCard(structuredClone(BASE)))).toEqual([]);
});

describe("compareCards lists a change", () => {
  test.each<[path: string, to: Json | undefined, expected: string]>([
    ["/name", "other", "safe card/name"],
    ["/description", "other", "safe card/description"],
    ["/version", "2.0.0", "safe card/version"],
    ["/iconUrl", "https://a.example/i.png", "safe card/iconUrl"],
    ["/x", 1, "safe card/x"],
    [`${P}/capabilities/pause_resume`, false, "breaking capabilities/pause_resume"],
    [`${P}/capabilities/pause_resume`, undefined, "breaking capabilities/pause_resume"],
    [`${P}/capabilities/context_reuse`, undefined, "safe capabilities/context_reuse"],
    [`${P}/capabilities/context_reuse`, true, "safe capabilities/context_reuse"],
    [`${P}/capabilities/com.acme.x`, undefined, "breaking capabilities/com.acme.x"],
    [`${P}/capabilities/artifact_streaming`, true, "deprecating capabilities/artifact_streaming"],
    [`${P}/capabilities/streaming_message`, true, "deprecating capabilities/streaming_message"],
    ["/capabilities/pushNotifications", true, "safe capabilities/push_notifications"],
    ["/capabilities/streaming", undefined, "breaking capabilities/streaming"],
    ["/capabilities/extendedAgentCard", true, "safe capabilities/extended_agent_card"],
    [`${P}/minProtocolVersion`, "1.0", "safe range"],
    [`${P}/minProtocolVersion`, undefined, "safe range"],
    [`${P}/maxProtocolVersion`, "1.4", `breaking interfaces/${RPC}/versions`],
    [`${P}/maxProtocolVersion`, "1.10", `safe interfaces/${RPC}/versions`],
    [`${P}/maxProtocolVersion`, undefined, `safe interfaces/${RPC}/versions`],
    ["/supportedInterfaces/0/protocolVersion", "1.2", "safe "],
    ["/supportedInterfaces/0/protocolVersions", ["1.0"], `breaking interfaces/${RPC}/versions`],
    ["/supportedInterfaces/0/protocolVersion", undefined, `safe interfaces/${RPC}/versions`],
    [
      "/supportedInterfaces/1/protocol_versions",
      ["1.0"],
      "breaking interfaces/HTTP+JSON https://a.example/rest (tenant t)/versions",
    ],
    [
      "/supportedInterfaces/1/protocol_versions",
      ["1.0", "1.1", "1.2"],
      "safe interfaces/HTTP+JSON https://a.example/rest (tenant t)/versions",
    ],
    [
      "/supportedInterfaces/1/tenant",
      "u",
      "breaking interfaces/HTTP+JSON https://a.example/rest (tenant t)",
    ],
    [`${G}/0/operations`, ["retrieve"], "breaking grants/documents:read/operations"],
    [`${G}/0/operations`, ["retrieve", "list", "search"], "safe grants/documents:read/operations"],
    [`${G}/0/attenuable`, false, "breaking grants/documents:read/attenuable"],
    [`${G}/1/attenuable`, true, "safe grants/documents:write/attenuable"],
    [`${G}/0/requires`, ["documents:write"], "breaking grants/documents:read/requires"],
    [`${G}/1/requires`, [], "safe grants/documents:write/requires"],
    [`${G}/0/description`, "e", "safe grants/documents:read/description"],
    [`${G}/1`, undefined, "breaking grants/documents:write"],
    [`${G}/-`, { id: "n", operations: ["a"] }, "safe grants/n"],
    [`${P}/delegates`, undefined, "breaking delegates"],
    [`${P}/delegates`, [], "safe delegates/https://b.example"],
    [`${P}/delegates/-`, { url: "https://c.example" }, "breaking delegates/https://c.example"],
    [`${P}/delegates/0/capabilities`, [], "breaking delegates/https://b.example"],
    ["/capabilities/extensions/2", undefined, "breaking extensions/urn:acme:voice"],
    ["/capabilities/extensions/2/required", true, "breaking extensions/urn:acme:voice/required"],
    ["/capabilities/extensions/2/params/rate", 2, "breaking extensions/urn:acme:voice/params/rate"],
    ["/capabilities/extensions/2/params/more", 2, "safe extensions/urn:acme:voice/params/more"],
    ["/capabilities/extensions/2/description", "d", "safe extensions/urn:acme:voice/description"],
    ["/capabilities/extensions/-", { uri: "urn:n" }, "safe extensions/urn:n"],
    ["/capabilities/extensions/-", { uri: "urn:n", required: true }, "breaking extensions/urn:n"],
    ["/skills/-", { id: "t", name: "T" }, "safe skills/t"],
    ["/skills/0", undefined, "breaking skills/s"],
    ["/skills/0/description", "e", "safe skills/s/description"],
    ["/skills/0/inputModes", ["text/plain"], "breaking skills/s/inputModes"],
    ["/skills/0/securityRequirements", [{ schemes: { bearer: {} } }], "breaking skills/s/security"],
    ["/securityRequirements", undefined, "safe security"],
    ["/securityRequirements/0", undefined, "breaking security"],
    ["/securityRequirements/-", { schemes: { other: {} } }, "safe security"],
    ["/securitySchemes/bearer", undefined, "breaking card/securitySchemes/bearer"],
    [
      "/securitySchemes/bearer/httpAuthSecurityScheme/scheme",
      "DPoP",
      "breaking card/securitySchemes/bearer/httpAuthSecurityScheme/scheme",
    ],
    [
      "/securitySchemes/bearer/httpAuthSecurityScheme/description",
      "e",
      "safe card/securitySchemes/bearer/httpAuthSecurityScheme/description",
    ],
    ["/signatures/0/signature", "BBBB", "safe signatures"],
    ["/signatures", undefined, "breaking signed"],
  ])("of %s to %j as: %s", (path, to, expected) => {
    expect(compared([path, to])).toContain(expected);
  });
});

describe("compareCards compares properties that A2A 1.0 does not have", () => {
  test.each<[about: string, path: string, value: Json]>([
    ["at the top level", "/interfaces", { mcp: "https://a.example/mcp" }],
    ["with a name that every object inherits", "/constructor", "x"],
    ["in a skill", "/skills/0/inputSchema", { type: "object" }],
    ["in an interface", "/supportedInterfaces/0/region", "eu"],
    ["in an extension", "/capabilities/extensions/2/vendor", "acme"],
    ["under capabilities", "/capabilities/memory", { kind: "long" }],
    ["a flag under capabilities", "/capabilities/memory", true],
  ])("adding, changing or removing a vendor's property is safe: %s", (_, path, value) => {
    const [without, having, other] = [BASE, changed(BASE, path, value), changed(BASE, path, [1])];
    const impacts = (before: Json, after: Json) =>
      new Set(compareCards(readCard(before), readCard(after)).map(({ impact }) => impact));
    expect(impacts(without, having)).toEqual(new Set(["safe"]));
    expect(impacts(having, other)).toEqual(new Set(["safe"]));
    expect(impacts(having, without)).toEqual(new Set(["safe"]));
  });

  test.each<[path: string, value: Json]>([
    ["/url", "https://a.example/rpc"],
    ["/additionalInterfaces", []],
    ["/capabilities/stateTransitionHistory", true],
  ])("removing a property of another A2A version is breaking: %s", (path, value) => {
    const having = changed(BASE, path, value);
    expect(compareCards(readCard(having), readCard(BASE))).toMatchObject([{ impact: "breaking" }]);
  });
});

test.each<[param: string, to: Json, impact: string]>([
  ["ambientAuthority", "refused", "breaking"],
  ["undeclaredAmbient", "refused", "breaking"],
  ["capabilitiesRequired", true, "breaking"],
  ["mode", "require", "breaking"],
  ["ambientAuthority", "accepted", "safe"],
  ["mode", "prefer", "safe"],
])(
  "adding %s with the value %j to the capability extension's params is %s",
  (param, to, impact) => {
    const uri = "urn:proviso:a2a:capabilities:1";
    const of = (params: Json) => readCard(card({ extensions: [{ uri, params }] }));
    expect(compareCards(of({}), of({ [param]: to }))).toMatchObject([{ impact }]);
  },
);

test("adding the first grants to a card is safe, and removing all grants is breaking", () => {
  const grants = [{ id: "documents:read", operations: ["retrieve"], attenuable: true }];
  const uri = "urn:proviso:a2a:capabilities:1";
  const before = readCard(card({ extensions: [{ uri, params: {} }] }));
  const after = readCard(card({ extensions: [{ uri, params: { capabilityGrants: grants } }] }));
  expect(compareCards(before, after)).toMatchObject([{ impact: "safe", path: "grants" }]);
  expect(compareCards(after, before)).toMatchObject([{ impact: "breaking", path: "grants" }]);
});

test("compareCards takes deprecations from the registry that it is given", () => {
  const before = readCard(card());
  const after = readCard(card({ capabilities: { pause_resume: true } }));
  const registry = {
    version: "2.0",
    capabilities: CAPABILITY_REGISTRY.capabilities.map((entry) =>
      entry.name === "pause_resume" ? { ...entry, deprecated: "2.0" } : entry,
    ),
  };
  expect(compareCards(before, after)).toMatchObject([{ impact: "safe" }]);
  expect(compareCards(before, after, registry)).toMatchObject([{ impact: "deprecating" }]);
});

test("compareCards lists one safe change if two cards differ only in the spelling and place of properties", () => {
  const moved = compared(
    [`${P}/minProtocolVersion`, undefined],
    ["/min_protocol_version", "0.3.1"],
    [`${P}/capabilities/pause_resume`, undefined],
    ["/capabilities/pauseResume", true],
  );
  expect(moved).toEqual(["safe "]);
});

test("compareCards lists breaking changes first, then deprecating ones, then safe ones", () => {
  const found = compared(
    ["/name", "n"],
    [`${P}/capabilities/artifact_streaming`, true],
    ["/skills/0", undefined],
  );
  expect(found.map((one) => one.split(" ")[0])).toEqual(["breaking", "deprecating", "safe"]);
});

test("a new contradiction in a card is breaking", () => {
  expect(compared(["/min_protocol_version", "1.0"])).toContain(`breaking ${P}/minProtocolVersion`);
});

test("compareCards compares a card nested 9,999 deep without an error", () => {
  const deep: Json = JSON.parse(`{"name":"a","x":${"[".repeat(9999)}${"]".repeat(9999)}}`);
  const [first] = compareCards(readCard(BASE), readCard(deep));
  expect(first?.impact).toBe("breaking");
  expect(compareCards(readCard(deep), readCard(deep))).toMatchObject([{ impact: "safe" }]);
});

/** Returns JSON Pointers to all values inside a value. */
function pointers(value: Json, path = ""): readonly string[] {
  const entries = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([name, inner]: [string, Json]) => {
    const here = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return [here, ...pointers(inner, here)];
  });
}

test("compareCards lists a change for every difference between two cards", () => {
  const place = fc.constantFrom(...pointers(BASE));
  const value = fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(place, value, (path, to) => {
      // JSON has no -0, but fast-check generates it.
      const json: Json | undefined = to === undefined ? undefined : JSON.parse(JSON.stringify(to));
      const other = changed(BASE, path, json);
      const isSame = JSON.stringify(other) === JSON.stringify(BASE);
      expect(compareCards(readCard(BASE), readCard(other)).length > 0).toBe(!isSame);
    }),
    { numRuns: sized(500) },
  );
});

describe("compareCards compares input and output modes", () => {
  const skills = (...own: readonly (readonly string[] | undefined)[]): Json =>
    own.map((inputModes, at) => ({
      id: `s${at}`,
      name: "S",
      description: "d",
      tags: ["t"],
      ...(inputModes === undefined ? {} : { inputModes }),
    }));
  const between = (before: Json, after: Json) =>
    compareCards(readCard(before), readCard(after)).map(({ impact, path }) => `${impact} ${path}`);
  const of = (modes: readonly string[], ...own: readonly (readonly string[] | undefined)[]) =>
    card({ top: { defaultInputModes: modes, skills: skills(...own) } });

  test("of the card only once, not again for every skill that uses them", () => {
    const none = Array.from({ length: 20 }, () => undefined);
    expect(between(of(["a", "b"], ...none), of(["a", "c"], ...none))).toEqual([
      "breaking card/defaultInputModes",
      "safe card/defaultInputModes",
    ]);
  });

  test("of a skill with the default modes of the other card, if the skill has no modes of its own there", () => {
    const [own, shared] = [of(["a", "b"], ["a"]), of(["a", "b"], undefined)];
    expect(between(own, shared)).toEqual(["safe skills/s0/inputModes"]);
    expect(between(shared, own)).toEqual(["breaking skills/s0/inputModes"]);
    expect(between(shared, of(["a", "b"], ["a", "b"]))).toEqual(["safe "]);
  });

  test("and lists every skill as changed if 1,001 skills would each inherit 1,001 modes", () => {
    const modes = Array.from({ length: 1001 }, (_, at) => `m${at}`);
    const empty = Array.from({ length: 1001 }, () => modes.slice(0, 1));
    const none = empty.map(() => undefined);
    const found = between(of(modes, ...none), of(modes, ...empty));
    expect(found.length).toBe(1001);
    expect(found.every((one) => one.startsWith("breaking"))).toBe(true);
  });
});

test("compareCards lists 1,000 changes, and one breaking change instead of all further ones", () => {
  const many = (to: string) =>
    readCard(
      card({
        top: { x: Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`${to}${at}`, 1])) },
      }),
    );
  const changes = compareCards(readCard(card({ top: { x: {} } })), many("a"));
  expect(changes.length).toBe(1001);
  expect(changes[0]).toMatchObject({ impact: "breaking", path: "" });
  expect(changes.slice(1).every(({ impact }) => impact === "safe")).toBe(true);
});

/** Returns the messages of the changes between two cards, each with its impact. */
function said(before: Json, after: Json): readonly string[] {
  return compareCards(readCard(before), readCard(after)).map(
    ({ impact, message }) => `${impact} ${message}`,
  );
}

describe("compareCards compares the versions at one interface URL", () => {
  const url = "https://a.example/rpc";
  const place = "interfaces/JSONRPC https://a.example/rpc/versions";
  const one = { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
  const old = { ...one, protocolVersion: "0.3" };
  const speaking = (interfaces: readonly Json[], top = {}) => card({ interfaces, top });

  test("adding a version is safe, removing a version is breaking (A2A 1.0, section 3.6.2)", () => {
    expect(said(speaking([one]), speaking([one, old]))).toEqual([
      `safe ${place}: 1.0 is now 0.3, 1.0`,
    ]);
    expect(said(speaking([one, old]), speaking([one]))).toEqual([
      `breaking ${place}: 0.3, 1.0 are now 1.0`,
    ]);
    expect(said(speaking([one, old]), speaking([old, one]))).toEqual([
      "safe the card is written in another way, and means the same",
    ]);
  });

  test("an added entry for another tenant is a new interface", () => {
    expect(said(speaking([one]), speaking([one, { ...one, tenant: "acme" }]))).toEqual([
      "safe interfaces/JSONRPC https://a.example/rpc (tenant acme): it is new, and speaks 1.0",
      expect.stringContaining("safe preference"),
    ]);
  });

  test("adding a wider version range is safe, removing the range is breaking", () => {
    const top = { minProtocolVersion: "1.0", maxProtocolVersion: "1.2" };
    expect(said(speaking([one]), speaking([one], top))).toEqual([
      `safe ${place}: 1.0 is now 1.0 to 1.2`,
      'safe range: "1.0 to 1.2" is new',
    ]);
    expect(said(speaking([one], top), speaking([one]))).toEqual([
      `breaking ${place}: 1.0 to 1.2 is now 1.0`,
      'safe range: "1.0 to 1.2" is gone',
    ]);
  });

  test("adding a range equal to the interface's version is safe", () => {
    const top = { minProtocolVersion: "1.0", maxProtocolVersion: "1.0" };
    const changes = said(speaking([one]), speaking([one], top));
    expect(changes).toEqual(['safe range: "1.0" is new']);
  });

  test("a change of 4,096 versions is one change, found within two seconds", () => {
    const versions = (from: number) => Array.from({ length: 64 }, (_, at) => `1.${from + at}`);
    const many = (from: number) =>
      Array.from({ length: 64 }, (_, at) => ({
        url,
        protocolBinding: "JSONRPC",
        protocolVersions: versions(from + 64 * at),
      }));
    const spent = cpuTime();
    expect(said(speaking(many(0)), speaking(many(1)))).toEqual([
      expect.stringMatching(/^breaking interfaces/),
    ]);
    expect(spent()).toBeLessThan(2000);
  });
});

describe("compareCards describes a change between values that look alike", () => {
  const top = (name: string, value: Json) => card({ top: { [name]: value } });

  test.each<[about: string, before: Json, after: Json, expected: string]>([
    ["both arrays if they are short", ["a", "b"], ["a"], '["a","b"] is now ["a"]'],
    [
      "the first differing item of long arrays",
      Array.from({ length: 40 }, (_, at) => `item ${at}`),
      Array.from({ length: 40 }, (_, at) => (at === 7 ? "other" : `item ${at}`)),
      'at 7, "item 7" is now "other"',
    ],
    [
      "the differing object in arrays of objects",
      Array.from({ length: 9 }, (_, at) => ({ name: `skill ${at}`, price: at })),
      Array.from({ length: 9 }, (_, at) => ({ name: `skill ${at}`, price: at < 8 ? at : 0 })),
      'at 8, {"name":"skill 8","price":8} is now {"name":"skill 8","price":0}',
    ],
    [
      "the differing part of strings that begin alike",
      `${"https://cdn.example/".padEnd(80, "a")}/schemas/one/of/many/v1.json`,
      `${"https://cdn.example/".padEnd(80, "a")}/schemas/one/of/many/v2.json`,
      'aaa/schemas/one/of/many/v1.json" is now ..."aaaaaaaa/schemas/one/of/many/v2.json"',
    ],
    ["both values if an array became an object", [], {}, "[] is now {}"],
  ])("by showing %s", (_, before, after, expected) => {
    const [change] = said(top("x-vendor", before), top("x-vendor", after));
    expect(change).toContain(expected);
    expect(change).not.toMatch(/(an array is now an array|an object is now an object)/);
  });
});

test("compareCards lists only the added version between a card of A2A 0.3 and an equivalent card of 1.0", () => {
  const { supportedInterfaces: _, ...others } = Object(card());
  const scheme = { scheme: "bearer", bearerFormat: "JWT" };
  const old = {
    ...others,
    url: "https://a.example/rpc",
    protocolVersion: "0.3.0",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: "https://a.example/rpc", transport: "JSONRPC" }],
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: { bearer: { type: "http", ...scheme } },
    security: [{ bearer: [] }],
  };
  const next = card({
    interfaces: [
      { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: { extendedAgentCard: true },
    top: {
      securitySchemes: { bearer: { httpAuthSecurityScheme: scheme } },
      securityRequirements: [{ schemes: { bearer: {} } }],
    },
  });
  expect(said(old, next)).toEqual([
    "safe interfaces/JSONRPC https://a.example/rpc/versions: 0.3 is now 0.3, 1.0",
  ]);
});
