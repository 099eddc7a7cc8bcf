import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import {
  type CapabilityRegistry,
  type Discovery,
  type DiscoveryRequirements,
  judgeCard,
  readCard,
} from "../../src/discovery/index.js";
import { type CardParts, card, read, URL_OF_AGENT } from "./cards.js";

const READ = {
  id: "documents:read",
  description: "read",
  operations: ["retrieve", "search"],
  attenuable: true,
};
const FULL = { id: "all", description: "all", operations: ["*"], attenuable: false, legacy: true };

/** Returns the codes and rules of denials or warnings. */
function said(discovery: Discovery): readonly string[] {
  const reasons = discovery.ok ? discovery.warnings : discovery.denials;
  return reasons.map(({ code, rule }) => `${code}/${rule}`);
}

function judged(parts: CardParts, requirements: DiscoveryRequirements): readonly string[] {
  const discovery = judgeCard(read(parts), requirements);
  return [discovery.ok ? "usable" : "refused", ...said(discovery)];
}

test("judgeCard accepts a suitable agent and returns the interface to use", () => {
  const grants = [READ];
  const discovery = judgeCard(read({ grants, params: { capabilities: { context_reuse: true } } }), {
    capabilities: ["context_reuse", "send_message"],
    grants: [{ grant: "documents:read", operations: ["search"], attenuable: true }],
  });
  expect(discovery).toMatchObject({
    ok: true,
    version: "1.0",
    // The card does not list its delegates, which must have context_reuse, too.
    warnings: [{ code: "chain_unknown" }],
    interface: { url: URL_OF_AGENT, binding: "JSONRPC" },
  });
});

describe.each<[about: string, CardParts, DiscoveryRequirements, readonly string[]]>([
  [
    "an undeclared capability",
    {},
    { capabilities: ["pause_resume"] },
    ["refused", "capability_undeclared/capabilities"],
  ],
  [
    "a denied capability",
    { params: { capabilities: { pause_resume: false } } },
    { capabilities: ["pause_resume"] },
    ["refused", "capability_undeclared/capabilities"],
  ],
  [
    "a capability declared at the top level",
    { capabilities: { pause_resume: true } },
    { capabilities: ["pause_resume"] },
    ["usable"],
  ],
  [
    "a capability in camelCase",
    { capabilities: { pauseResume: true } },
    { capabilities: ["pause_resume"] },
    ["usable"],
  ],
  [
    "A2A's own push notifications",
    { capabilities: { pushNotifications: true } },
    { capabilities: ["push_notifications"] },
    ["usable"],
  ],
  [
    "streaming alone",
    {},
    { capabilities: ["streaming_message"] },
    ["refused", "capability_undeclared/capabilities"],
  ],
  [
    "streaming with message streaming",
    { params: { capabilities: { streaming_message: true } } },
    { capabilities: ["streaming_message"] },
    ["usable"],
  ],
  [
    "message streaming at the top",
    { capabilities: { streaming_message: true } },
    { capabilities: ["streaming_message"] },
    ["usable"],
  ],
  [
    "message streaming without streaming",
    { capabilities: { streaming: null, streaming_message: true } },
    { capabilities: ["streaming_message"] },
    ["refused", "capability_undeclared/streaming"],
  ],
  [
    "message streaming with streaming denied",
    { capabilities: { streaming: false, streaming_message: true } },
    {},
    ["refused", "card_malformed/contradiction"],
  ],
  [
    "a deprecated capability",
    { capabilities: { artifact_streaming: true } },
    { capabilities: ["artifact_streaming"] },
    ["usable", "capability_deprecated/capabilities"],
  ],
  [
    "a deprecated capability, not allowed",
    { capabilities: { artifact_streaming: true } },
    { capabilities: ["artifact_streaming"], allowDeprecated: false },
    ["refused", "capability_deprecated/capabilities"],
  ],
  [
    "a vendor's extension",
    { extensions: [{ uri: "urn:acme:voice:1" }] },
    { capabilities: ["urn:acme:voice:1"] },
    ["usable"],
  ],
  [
    "a vendor's capability",
    { params: { capabilities: { "com.acme.voice": true } } },
    { capabilities: ["com.acme.voice"] },
    ["usable"],
  ],
  [
    "a vendor's capability that is missing",
    {},
    { capabilities: ["com.acme.voice"] },
    ["refused", "capability_undeclared/capabilities"],
  ],
  [
    "a capability that implies itself, denied",
    { capabilities: { get_task: false } },
    {},
    ["refused", "card_malformed/contradiction"],
  ],
  [
    "a grant that is missing",
    { grants: [] },
    { grants: [{ grant: "documents:read" }] },
    ["refused", "grant_missing/grants"],
  ],
  [
    "no grants at all",
    {},
    { grants: [{ grant: "documents:read" }] },
    ["refused", "grant_missing/grants"],
  ],
  [
    "an operation that the grant lacks",
    { grants: [READ] },
    { grants: [{ grant: "documents:read", operations: ["delete"] }] },
    ["refused", "grant_operation_missing/grants"],
  ],
  [
    "a grant that may not be attenuated",
    { grants: [{ ...READ, attenuable: false }] },
    { grants: [{ grant: "documents:read", attenuable: true }] },
    ["refused", "grant_not_attenuable/grants"],
  ],
  [
    "a legacy grant",
    { grants: [{ ...READ, legacy: true }] },
    { grants: [{ grant: "documents:read" }] },
    ["refused", "legacy_only/grants"],
  ],
  [
    "a legacy grant, allowed",
    { grants: [{ ...READ, legacy: true }] },
    { grants: [{ grant: "documents:read" }], allowLegacy: true },
    ["usable", "legacy_grant/grants"],
  ],
  [
    "only a legacy grant over everything",
    { grants: [FULL] },
    { grants: [{ grant: "documents:read" }] },
    ["refused", "legacy_only/grants"],
  ],
  [
    "a legacy grant over everything, allowed",
    { grants: [FULL] },
    { grants: [{ grant: "documents:read", operations: ["x"] }], allowLegacy: true },
    ["usable", "legacy_grant/grants"],
  ],
  ["another binding", {}, { binding: "GRPC" }, ["refused", "interface_unsupported/binding"]],
  [
    "another version",
    {},
    { protocolVersion: "1.1" },
    ["refused", "version_incompatible/interfaces"],
  ],
  ["a patch of the version", {}, { protocolVersion: "1.0.7" }, ["usable"]],
  [
    "a version below the card's range",
    { top: { min_protocol_version: "1.0" } },
    { protocolVersion: "0.3" },
    ["refused", "version_incompatible/range"],
  ],
  [
    "a signature that nothing verified",
    {},
    { requireSignature: true },
    ["refused", "signature_missing/signatures"],
  ],
])("judgeCard, given %s,", (_, parts, requirements, expected) => {
  test(`returns ${expected.join(" with ")}`, () =>
    expect(judged(parts, requirements)).toEqual(expected));
});

test("judgeCard lists every reason for a refusal", () => {
  const discovery = judgeCard(read(), {
    protocolVersion: "2.0",
    capabilities: ["pause_resume"],
    requireSignature: true,
    grants: [{ grant: "documents:read" }],
  });
  expect(said(discovery)).toEqual([
    "signature_missing/signatures",
    "version_incompatible/interfaces",
    "capability_undeclared/capabilities",
    "grant_missing/grants",
  ]);
});

test("judgeCard says in the denial that the card names no binding if no interface has protocolBinding", () => {
  const interfaces = [{ url: URL_OF_AGENT, transport: "JSONRPC", protocolVersion: "1.0" }];
  const discovery = judgeCard(read({ interfaces }));
  expect(discovery.ok ? "" : discovery.denials[0]?.message).toMatch(/the card names no binding$/);
});

test("judgeCard suggests the most similar grant of the card if the card lacks a required grant", () => {
  const discovery = judgeCard(read({ grants: [READ] }), { grants: [{ grant: "document:read" }] });
  expect(discovery).toMatchObject({ denials: [{ nearest: "documents:read" }] });
});

describe("the protocol versions of a card", () => {
  const at = (interfaces: CardParts["interfaces"], top = {}, params?: CardParts["params"]) =>
    read({ top, ...(interfaces && { interfaces }), ...(params && { params }) });
  const one = { url: URL_OF_AGENT, protocolBinding: "JSONRPC" };

  test("are the card's own range for each interface that names no version", () => {
    expect(judgeCard(at([one], { minProtocolVersion: "0.3" })).ok).toBe(true);
    expect(judgeCard(at([one])).ok).toBe(false);
  });

  test("are compared as numbers", () => {
    const reading = at([one], { minProtocolVersion: "1.2", maxProtocolVersion: "1.10" });
    expect(reading.faults).toEqual([]);
    expect(judgeCard(reading, { protocolVersion: "1.9" }).ok).toBe(true);
    expect(judgeCard(reading, { protocolVersion: "1.11" }).ok).toBe(false);
  });

  test("select the first interface that has the required version and binding", () => {
    const reading = at([
      { url: "https://agent.example/old", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      { url: "https://agent.example/own", protocolBinding: "urn:x:own", protocolVersion: "1.0" },
      {
        url: "https://agent.example/rest",
        protocolBinding: "HTTP+JSON",
        protocol_versions: ["1.0", "1.1"],
        tenant: "t",
      },
      { ...one, protocolVersion: "1.1" },
    ]);
    const rest = { url: "https://agent.example/rest", binding: "HTTP+JSON", tenant: "t" };
    expect(judgeCard(reading)).toMatchObject({ interface: rest });
    expect(judgeCard(reading, { protocolVersion: "1.1", binding: "JSONRPC" })).toMatchObject({
      interface: { url: URL_OF_AGENT },
    });
  });

  test("include the versions in the params of the discovery extension", () => {
    const params = { interfaces: [{ url: URL_OF_AGENT, protocolVersions: ["1.0", "1.1"] }] };
    const reading = at([{ ...one, protocolVersion: "1.0" }], {}, params);
    expect(judgeCard(reading, { protocolVersion: "1.1" }).ok).toBe(true);
  });

  test("are also read from a card of A2A before 1.0", () => {
    const old = {
      name: "old",
      url: URL_OF_AGENT,
      protocolVersion: "0.3.0",
      capabilities: {},
      skills: [],
    };
    expect(said(judgeCard(readCard(old)))).toEqual(["version_incompatible/interfaces"]);
    expect(judgeCard(readCard(old), { protocolVersion: "0.3" }).ok).toBe(true);
  });
});

describe("judgeCard throws a TypeError for requirements", () => {
  const grant = "documents:read";
  test.each<[about: string, object, RegExp]>([
    [
      "an unknown property",
      { capability: [] },
      /requirements\.capability: unknown property; did you mean "capabilities"/,
    ],
    [
      "an unknown capability",
      { capabilities: ["pause_resum"] },
      /capabilities\[0\].*did you mean "pause_resume"/,
    ],
    ["a capability that is not a string", { endToEnd: [1] }, /endToEnd\[0\]: expected a string/],
    ["an unknown binding", { binding: "JSON-RPC" }, /binding.*did you mean "JSONRPC"/],
    [
      "a version that cannot be read",
      { protocolVersion: "latest" },
      /protocolVersion: expected a version/,
    ],
    ["a grant that is a string", { grants: ["documents:read"] }, /grants\[0\]: expected an object/],
    [
      "an unknown property of a grant",
      { grants: [{ grant, operation: "x" }] },
      /grants\[0\]\.operation: unknown/,
    ],
    ["a flag that is not a boolean", { allowLegacy: "yes" }, /allowLegacy: expected true or false/],
  ])("with %s", (_, requirements, message) => {
    expect(() => judgeCard(read(), requirements)).toThrow(TypeError);
    expect(() => judgeCard(read(), requirements)).toThrow(message);
  });
});

test("judgeCard accepts requirements from the registry that it is given, in camelCase or snake_case", () => {
  const registry: CapabilityRegistry = {
    version: "1.1",
    capabilities: [
      { name: "voice_call", tier: "declared", introduced: "1.1", propagates: true },
      { name: "hold", tier: "implicit", introduced: "1.1" },
    ],
  };
  const requirements = { capabilities: ["voiceCall", "hold"] };
  const flags: JsonObject[] = [{ voice_call: true }, { voiceCall: true }];
  for (const capabilities of flags) {
    const found = judgeCard(readCard(card({ capabilities }), registry), requirements, registry);
    expect(found).toMatchObject({ ok: true, warnings: [{ code: "chain_unknown" }] });
  }
  const silent = judgeCard(readCard(card(), registry), requirements, registry);
  expect(silent).toMatchObject({ ok: false, denials: [{ expected: "voice_call" }] });
  const denying = readCard(card({ capabilities: { hold: false } }), registry);
  expect(denying.faults).toMatchObject([{ rule: "contradiction", path: "/capabilities/hold" }]);
  expect(() => judgeCard(read(), { capabilities: ["voice_cal"] }, registry)).toThrow(
    /did you mean "voice_call"/,
  );
  expect(() => judgeCard(read(), { capabilities: ["pause_resume"] }, registry)).toThrow(
    /no capability is called "pause_resume"/,
  );
});

test("readCard finds no fault in a sound card, and one fault in null", () => {
  expect(readCard(card()).faults).toEqual([]);
  expect(readCard(null).faults).toMatchObject([{ code: "card_malformed", rule: "kind" }]);
});
