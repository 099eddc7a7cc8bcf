import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { readCard } from "../../src/discovery/index.js";
import { type CardParts, card, read, URL_OF_AGENT } from "./cards.js";

function faults(parts: CardParts): readonly string[] {
  return read(parts).faults.map(({ rule, path }) => `${rule} ${path}`);
}

const ONE = { url: URL_OF_AGENT, protocolBinding: "JSONRPC" };
const PARAMS = "/capabilities/extensions/0/params";
const GRANT = { id: "g", description: "", operations: ["a"], attenuable: true };

describe("readCard reads the contract's fields alike in every place and spelling", () => {
  const places: readonly CardParts[] = [
    {
      top: { min_protocol_version: "0.3", max_protocol_version: "1.2" },
      capabilities: { context_reuse: true },
    },
    {
      top: { minProtocolVersion: "0.3", maxProtocolVersion: "1.2" },
      capabilities: { contextReuse: true },
    },
    {
      params: {
        minProtocolVersion: "0.3.0",
        maxProtocolVersion: "1.2",
        capabilities: { context_reuse: true },
      },
    },
    {
      params: {
        min_protocol_version: "0.3",
        max_protocol_version: "1.2.9",
        capabilities: { contextReuse: true },
      },
    },
    {
      top: { min_protocol_version: "0.3" },
      params: {
        minProtocolVersion: "0.3",
        maxProtocolVersion: "1.2",
        capabilities: { context_reuse: true },
      },
    },
  ];

  test.each(places.map((parts, at) => [at, parts] as const))(
    "for version range and capabilities: case %i",
    (_, parts) => {
      const { range, capabilities, faults: found } = read(parts);
      expect(found).toEqual([]);
      expect(range).toEqual({ min: { major: 0, minor: 3 }, max: { major: 1, minor: 2 } });
      expect(Object.fromEntries(capabilities)).toEqual({ context_reuse: true, streaming: true });
    },
  );

  test("for grants at the top level and in the capability extension's params", () => {
    const [top, params] = [read({ top: { capabilityGrants: [GRANT] } }), read({ grants: [GRANT] })];
    expect(top.grants).toMatchObject([{ id: "g", path: "/capabilityGrants/0" }]);
    expect(params.grants).toMatchObject([{ id: "g" }]);
    expect(read({ top: { capabilityGrants: [GRANT] }, grants: [GRANT] }).faults).toEqual([]);
  });
});

describe("readCard reports a fault", () => {
  test.each<[about: string, CardParts, readonly string[]]>([
    [
      "a reversed range",
      { top: { minProtocolVersion: "1.10", maxProtocolVersion: "1.9" } },
      [
        "range_reversed /maxProtocolVersion",
        "contradiction /supportedInterfaces/0/protocolVersion",
      ].slice(0, 1),
    ],
    [
      "a bound in two places",
      { top: { min_protocol_version: "0.3" }, params: { minProtocolVersion: "1.0" } },
      [`contradiction ${PARAMS}/minProtocolVersion`],
    ],
    [
      "a bound in two spellings",
      { top: { min_protocol_version: "0.3", minProtocolVersion: "1.0" } },
      ["contradiction /min_protocol_version"],
    ],
    [
      "a bound that is not a version",
      { top: { max_protocol_version: "1.x" } },
      ["version_unreadable /max_protocol_version"],
    ],
    [
      "an interface outside the range",
      { top: { maxProtocolVersion: "0.9" } },
      ["contradiction /supportedInterfaces/0/protocolVersion"],
    ],
    [
      "an interface with two versions",
      { interfaces: [{ ...ONE, protocolVersion: "1.0", protocolVersions: ["1.1"] }] },
      ["contradiction /supportedInterfaces/0/protocolVersions"],
    ],
    [
      "an interface with two lists of versions",
      { interfaces: [{ ...ONE, protocolVersions: ["1.0"], protocol_versions: ["1.1"] }] },
      ["contradiction /supportedInterfaces/0/protocol_versions"],
    ],
    [
      "versions of an interface that the card lacks",
      { params: { interfaces: [{ url: "https://x.example", protocolVersions: ["1.0"] }] } },
      [`contradiction ${PARAMS}/interfaces/0`],
    ],
    [
      "an interface without a URL",
      { interfaces: [{ protocolBinding: "JSONRPC" }] },
      ["url /supportedInterfaces/0/url"],
    ],
    [
      "two lists of interfaces",
      { top: { supported_interfaces: [] } },
      ["contradiction /supported_interfaces"],
    ],
    [
      "a capability in two places",
      { capabilities: { pause_resume: true }, params: { capabilities: { pause_resume: false } } },
      [`contradiction ${PARAMS}/capabilities/pause_resume`],
    ],
    [
      "push notifications in two places",
      {
        capabilities: { pushNotifications: true },
        params: { capabilities: { push_notifications: false } },
      },
      [`contradiction ${PARAMS}/capabilities/push_notifications`],
    ],
    [
      "a capability that is not a boolean",
      { params: { capabilities: { pause_resume: "yes" } } },
      [`kind ${PARAMS}/capabilities/pause_resume`],
    ],
    [
      "a vendor's capability in two places",
      { capabilities: { "a.b": true }, params: { capabilities: { "a.b": false } } },
      [`contradiction ${PARAMS}/capabilities/a.b`],
    ],
    [
      "an extension that is listed twice",
      { extensions: [{ uri: "urn:x" }, { uri: "urn:x" }] },
      ["contradiction /capabilities/extensions/1"],
    ],
    [
      "grants in two places",
      { top: { capabilityGrants: [] }, grants: [GRANT] },
      ["contradiction /capabilityGrants"],
    ],
    [
      "a grant that is listed twice",
      { grants: [GRANT, GRANT] },
      [`contradiction ${PARAMS}/capabilityGrants/1`],
    ],
    [
      "a grant without an id",
      { grants: [{ operations: [] }] },
      [`kind ${PARAMS}/capabilityGrants/0/id`],
    ],
    [
      "a delegate without a URL",
      { params: { delegates: [{ url: "b" }] } },
      [`url ${PARAMS}/delegates/0/url`],
    ],
    [
      "too many extensions",
      { extensions: Array.from({ length: 129 }, (_, at) => ({ uri: `urn:${at}` })) },
      ["too_many /capabilities/extensions"],
    ],
  ])("for %s", (_, parts, expected) => expect(faults(parts)).toEqual(expected));

  test("with a message that names both places of a contradiction", () => {
    const [fault] = read({
      top: { min_protocol_version: "0.3" },
      params: { minProtocolVersion: "1.0" },
    }).faults;
    expect(fault?.message).toBe(
      `${PARAMS}/minProtocolVersion: says 1.0, and /min_protocol_version says 0.3`,
    );
  });
});

describe("the faults that readCard reports", () => {
  const deep: Json = JSON.parse(`{"name":${"[".repeat(9999)}${"]".repeat(9999)}}`);
  test.each<[about: string, Json, string]>([
    ["null", null, "kind"],
    ["an array", [], "kind"],
    ["an object without a name", {}, "kind"],
    ["a card nested too deep", deep, "too_deep"],
    [
      "a card whose extensions are not an array",
      { name: "a", capabilities: { extensions: {} } },
      "kind",
    ],
  ])("are one fault for %s", (_, document, rule) =>
    expect(readCard(document).faults).toMatchObject([{ rule }]),
  );

  test("are at most 100", () => {
    const grants = Array.from({ length: 500 }, () => ({ id: 1 }));
    expect(read({ grants }).faults.length).toBe(100);
  });
});

test("readCard treats an empty or null property as absent", () => {
  const { min, max } = read({ top: { minProtocolVersion: "", maxProtocolVersion: null } }).range;
  expect([min, max]).toEqual([undefined, undefined]);
  const { grants, delegates, signatures } = readCard(card());
  expect({ grants, delegates, signatures }).toEqual({ signatures: 0 });
});

describe("the URL of an interface", () => {
  const BAD = [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "agent.example",
    "https://good.example@evil.example/",
    "https://:password@evil.example/",
  ];
  test.each(BAD)("is a fault if it is %s", (url) => {
    expect(faults({ interfaces: [{ ...ONE, url, protocolVersion: "1.0" }] })).toEqual([
      "url /supportedInterfaces/0/url",
    ]);
    const older = { name: "x", url, protocolVersion: "1.0" };
    expect(readCard(older).faults.map(({ path }) => path)).toEqual(["/url"]);
    const additionalInterfaces = [{ url, transport: "HTTP+JSON" }];
    const second = readCard({ ...older, url: URL_OF_AGENT, additionalInterfaces });
    expect(second.faults.map(({ path }) => path)).toEqual(["/additionalInterfaces/0/url"]);
  });

  test("in the contract's params must be the URL of an interface of the card, also before A2A 1.0", () => {
    const about = (url: string): Json => ({
      name: "x",
      url: URL_OF_AGENT,
      protocolVersion: "1.0",
      capabilities: {
        extensions: [
          {
            uri: "urn:proviso:a2a:discovery:1",
            params: { interfaces: [{ url, protocolVersions: ["1.0"] }] },
          },
        ],
      },
    });
    expect(readCard(about(URL_OF_AGENT)).faults).toEqual([]);
    expect(readCard(about("https://other.example")).faults).toMatchObject([
      { code: "card_malformed", rule: "contradiction", path: `${PARAMS}/interfaces/0` },
    ]);
  });
});

test("readCard reports an unreadable version once if it is claimed for several interfaces", () => {
  const interfaces = Array.from({ length: 3 }, () => ({ ...ONE, protocolVersion: "1.0" }));
  const claim = { url: URL_OF_AGENT, protocolVersions: ["1.0", "one"] };
  expect(faults({ interfaces, params: { interfaces: [claim] } })).toEqual([
    `version_unreadable ${PARAMS}/interfaces/0/protocolVersions/1`,
  ]);
});

describe("a vendor's flag in both spellings is the same flag, unless its name is a URI", () => {
  test.each([
    ["com.acme.voiceChat", "com.acme.voice_chat", 1],
    ["https://acme.example/aB", "https://acme.example/a_b", 0],
  ])("%s and %s", (camel, snake, count) => {
    expect(faults({ capabilities: { [camel]: true, [snake]: true } })).toEqual([]);
    expect(faults({ capabilities: { [camel]: true, [snake]: false } }).length).toBe(count);
    expect(
      faults({ capabilities: { [camel]: true }, params: { capabilities: { [snake]: false } } })
        .length,
    ).toBe(count);
  });
});
