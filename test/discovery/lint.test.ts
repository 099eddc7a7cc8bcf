import { beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { suggestions } from "../../src/checks/nearest.js";
import { CAPABILITIES_URI } from "../../src/discovery/card.js";
import { cardRemarks } from "../../src/discovery/card-remarks.js";
import { DISCOVERY_URI, lintCard, readCard } from "../../src/discovery/index.js";
import { startDocumentsAgent } from "../support/documents-agent.js";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { discoveryVectors } from "../vectors/support.js";
import { type CardParts, card, URL_OF_AGENT } from "./cards.js";
import { changed } from "./changed.js";

// Params of the discovery contract, which the documents agent itself does not declare.
const PARAMS = {
  minProtocolVersion: "1.0",
  maxProtocolVersion: "1.0",
  delegates: [],
  capabilities: { streaming_message: false, multi_tenant: false },
};

let clean: Json;
/** Pointers to the params of the two extensions. */
let [contract, capability] = ["", ""];

beforeAll(async () => {
  const agent = await startDocumentsAgent(temporaryFolder());
  try {
    const response = await fetch(`${agent.url}/.well-known/agent-card.json`);
    clean = JSON.parse(await response.text());
  } finally {
    await agent.close();
  }
  const entry = { uri: DISCOVERY_URI, params: PARAMS };
  if (extension(DISCOVERY_URI) < 0) clean = changed(clean, "/capabilities/extensions/-", entry);
  contract = `/capabilities/extensions/${extension(DISCOVERY_URI)}/params`;
  capability = `/capabilities/extensions/${extension(CAPABILITIES_URI)}/params`;
});

function extension(uri: string): number {
  const capabilities = isJsonObject(clean) ? clean["capabilities"] : undefined;
  const all = isJsonObject(capabilities ?? null) ? Object(capabilities).extensions : [];
  return all.findIndex((one: { readonly uri: string }) => one.uri === uri);
}

/** Replaces `{contract}` and `{capability}` in a pointer by the pointers to those params. */
function place(path: string): string {
  return path.replace("{contract}", contract).replace("{capability}", capability);
}

async function linted(value: Json): Promise<readonly string[]> {
  const found = await lintCard(JSON.stringify(value, null, 2));
  return found.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

test("lint finds nothing in the card of the documents agent", async () => {
  expect(await linted(clean)).toEqual([]);
});

const INTERFACE = { url: "https://a.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" };
const FLOW = { authorizationCode: { authorizationUrl: "https://a.example/", scopes: {} } };
const SKILL = { id: "retrieve_document", name: "n", description: "d", tags: [] };

/** Single faults: the pointer, the new value (`undefined` removes the property), and the code of the finding. */
const BREAKAGES: readonly (readonly [path: string, to: Json | undefined, code: string])[] = [
  ...["name", "description", "version", "supportedInterfaces", "capabilities", "skills"].map(
    (name) => [`/${name}`, undefined, "schema"] as const,
  ),
  ...["defaultInputModes", "defaultOutputModes"].map(
    (n) => [`/${n}`, undefined, "schema"] as const,
  ),
  ["/name", "", "schema"],
  ["/name", 7, "schema"],
  ["/version", 1, "schema"],
  ["/supportedInterfaces", [], "schema"],
  ["/supportedInterfaces", {}, "schema"],
  ["/supportedInterfaces/0/url", undefined, "schema"],
  ["/supportedInterfaces/0/url", "agent.example:8080", "contract"],
  ["/supportedInterfaces/0/protocolBinding", undefined, "schema"],
  ["/supportedInterfaces/0/protocolVersion", undefined, "schema"],
  ["/supportedInterfaces/0/protocolVersion", "latest", "contract"],
  ["/supportedInterfaces/0/protocolVersion", "0.3", "contract"],
  ["/supportedInterfaces/0/protocolVersions", ["1.0"], "member_unknown"],
  ["/supportedInterfaces/0/transport", "JSONRPC", "member_unknown"],
  ["/supportedInterfaces/-", { ...INTERFACE, url: "http://agent.example/" }, "address_insecure"],
  ["/supportedInterfaces/-", { ...INTERFACE, protocol_version: "1.0" }, "member_unknown"],
  ["/provider", { organization: "ACME" }, "schema"],
  ["/documentationUrl", "docs", "schema"],
  ["/protocolVersion", "0.3.0", "member_unknown"],
  ["/capabilityGrants", [], "member_unknown"],
  ["/min_protocol_version", "1.0", "member_unknown"],
  ["/minProtocolVersion", "1.0", "member_unknown"],
  ["/capabilities/streaming", "yes", "schema"],
  ["/capabilities/streaming_message", true, "member_unknown"],
  ["/capabilities/stateTransitionHistory", true, "member_unknown"],
  ["/capabilities/extensions/-", { params: {} }, "schema"],
  ["/capabilities/extensions/-", { uri: DISCOVERY_URI }, "contract"],
  ["{contract}", [], "schema"],
  ["{contract}/minProtocolVersion", "1.1", "contract"],
  ["{contract}/minProtocolVersion", "one", "schema"],
  ["{contract}/maxProtocolVersion", "01.0", "schema"],
  ["{contract}/min_protocol_version", "1.0", "schema"],
  ["{contract}/capabilities", ["pause_resume"], "schema"],
  ["{contract}/capabilities/pause_resume", "yes", "schema"],
  ["{contract}/capabilities/pause_resum", true, "schema"],
  ["{contract}/capabilities/get_task", false, "schema"],
  ["{contract}/capabilities/artifact_streaming", true, "capability_deprecated"],
  [
    "{contract}/interfaces",
    [{ url: "https://else.example/", protocolVersions: ["1.0"] }],
    "contract",
  ],
  ["{contract}/delegates", [{ url: "nowhere" }], "schema"],
  ["{contract}/delegates", [{}], "schema"],
  ["{contract}/delegates", { url: "https://b.example" }, "schema"],
  ["{capability}/capabilityGrants", {}, "contract"],
  ["{capability}/capabilityGrants/0/id", 1, "contract"],
  ["{capability}/capabilityGrants/0/operations", [], "contract"],
  ["{capability}/capabilityGrants/0/operations", "retrieve", "contract"],
  ["{capability}/capabilityGrants/0/attenuable", "yes", "contract"],
  ["{capability}/capabilityGrants/0/requires", ["documents:raed"], "reference"],
  ["{capability}/capabilityGrants/0/attenuable", undefined, "contract"],
  ["{capability}/mode", "requre", "contract"],
  ["{capability}/undeclaredAmbient", "maybe", "contract"],
  ["{capability}/tokenFormat", "proviso/2", "contract"],
  ["{capability}/maxLifetimeSeconds", -1, "contract"],
  ["{capability}/capabilitiesRequired", "yes", "contract"],
  ["{capability}/skills/list_documents/operation", "lst", "reference"],
  ["/skills/0/id", "a_skill_of_no_grant", "reference"],
  ["/capabilities/extensions/0/uri", "urn:proviso:a2a:dicovery:1", "reference"],
  ["/supportedInterfaces/0/protocolBinding", "jsonrpc", "reference"],
  ["/supportedInterfaces/0/protocolVersion", "1", "contract"],
  ["/signatures", [{ protected: "e30", signature: "AAAA" }], "contract"],
  ["/securitySchemes", undefined, "reference"],
  ["/securitySchemes/bearer", {}, "schema"],
  ["/securitySchemes/bearer/mtlsSecurityScheme", {}, "schema"],
  ["/securitySchemes/other", { type: "http", scheme: "bearer" }, "schema"],
  ["/securitySchemes/other", { oauth2SecurityScheme: { flows: FLOW } }, "schema"],
  ["/securitySchemes/other", { apiKeySecurityScheme: { name: "k", location: "body" } }, "schema"],
  ["/securityRequirements", [{ bearer: [] }], "schema"],
  ["/securityRequirements", [{ schemes: { bearr: { list: [] } } }], "reference"],
  ["/defaultInputModes", [], "schema"],
  ["/defaultInputModes", ["text"], "media_type"],
  ["/skills/0/id", undefined, "schema"],
  ["/skills/0/tags", undefined, "schema"],
  ["/skills/0/outputModes", ["json"], "media_type"],
  ["/skills/-", SKILL, "reference"],
  ["/signatures", [{ protected: "e30" }], "schema"],
  ["/signatures", [{ protected: "e30=", signature: "AAAA" }], "schema"],
];

test("the table of faulty cards has at least 40 rows", () =>
  expect(BREAKAGES.length).toBeGreaterThanOrEqual(40));

describe("lint finds the fault in the card of the documents agent", () => {
  test.each(BREAKAGES)("if %s is set to %j, with the code %s", async (path, to, code) => {
    const found = await linted(changed(clean, place(path), to));
    expect(found.join("\n")).toContain(` ${code} /`.replace(/\/$/, ""));
    const parent = place(path).replace(/\/[^/]*$/, "");
    const near = found.some((one) => {
      const at = one.split(" ")[2] ?? "";
      return at.startsWith(parent) || parent.startsWith(at);
    });
    expect(near || code === "reference", found.join("\n")).toBe(true);
  });
});

describe("the place of a finding", () => {
  const text = '{\n  "name": "a",\n  "skills": [\n    { "id": 1 }\n  ],\n  "name": "b"\n}\n';

  test("is a line and a column of the text", async () => {
    const found = await lintCard(text);
    const at = (code: string, path: string) =>
      found
        .filter((one) => one.code === code && one.path === path)
        .map(({ line, column }) => `${line}:${column}`);
    expect(at("name_repeated", "/name")).toEqual(["6:3"]);
    expect(at("schema", "/skills/0/id")).toEqual(["4:7"]);
    expect(at("schema", "/skills/0")).toEqual(["4:5", "4:5", "4:5"]);
    expect(found.map(({ line }) => line)).toEqual(found.map(({ line }) => line).toSorted());
  });

  test("is the position at which the text stops being JSON", async () => {
    expect(await lintCard('{\n  "name": "a",\n}')).toMatchObject([{ code: "not_json", line: 3 }]);
    expect(await lintCard("")).toMatchObject([{ code: "not_json", line: 1, column: 1 }]);
    expect((await lintCard(" \n"))[0]?.message).toBe("this is empty");
    const marked = await lintCard(`\ufeff${JSON.stringify(clean)}`);
    expect(marked.map(({ message }) => message)).toEqual([
      "this is not JSON: it begins with a byte order mark",
    ]);
    expect((await lintCard("[]")).map(({ code }) => code)).toEqual(["schema"]);
  });
});

describe("lint of a hostile text", () => {
  test.each<[about: string, text: () => string, code: string]>([
    ["10 MB", () => JSON.stringify({ name: "x".repeat(10 * 1024 * 1024) }), "too_large"],
    ["a depth of 10,000", () => `${"[".repeat(10_000)}${"]".repeat(10_000)}`, "too_deep"],
    ["a depth of 10,000, unclosed", () => '{"a":'.repeat(10_000), "too_deep"],
  ])("makes a single finding: %s", async (_, text, code) => {
    expect(await lintCard(text())).toMatchObject([{ code, line: 1, column: 1 }]);
  });

  const LONG: readonly [about: string, value: () => Json][] = [
    [
      "a thousand extensions",
      () =>
        changed(
          clean,
          "/capabilities/extensions",
          Array.from({ length: 1000 }, (_, at) => ({ uri: `urn:x:${at}` })),
        ),
    ],
    [
      "a thousand faulty extensions",
      () => changed(clean, "/capabilities/extensions", Array(1000).fill(1)),
    ],
    [
      "many unknown properties",
      () => Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at])),
    ],
    ["many skills with one id", () => changed(clean, "/skills", Array(4_000).fill(SKILL))],
    [
      "many operations",
      () =>
        changed(clean, `${capability}/capabilityGrants/0/operations`, Array(100_000).fill("op")),
    ],
  ];
  test.each(FULL ? LONG : LONG.slice(0, 1))(
    "lists at most 200 findings, and the number of omitted ones: %s",
    async (_, value) => {
      const found = await lintCard(JSON.stringify(value()));
      expect(found.length).toBeGreaterThan(0);
      expect(found.length).toBeLessThanOrEqual(201);
      const isCut = found.length === 201;
      expect(found.filter(({ code }) => code === "more").length).toBe(isCut ? 1 : 0);
      if (isCut) expect(found.at(-1)?.message).toMatch(/^there are \d+ more findings$/);
    },
  );
});

test("lint lists errors before remarks if it omits findings", async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x-vendor-${at}`, at]));
  const found = await lintCard(JSON.stringify({ ...many, ...Object(clean), version: 1 }));
  expect(found.filter(({ severity }) => severity === "error")).toMatchObject([
    { code: "schema", path: "/version" },
  ]);
  expect(found.at(-1)).toMatchObject({ code: "more", severity: "remark" });
  expect(found.at(-1)?.message).toBe("there are 801 more findings");
});

test("lint ends with a finding of severity error if it omits errors", async () => {
  const skills = Array.from({ length: 201 }, () => 1);
  const found = await lintCard(JSON.stringify(card({ top: { skills } })));
  expect(found.length).toBe(201);
  expect(found.at(-1)).toMatchObject({
    code: "more",
    severity: "error",
    message: expect.stringMatching(/^there (is|are) \d+ more findings?$/),
  });
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
  "lint treats a property with the name of an inherited property as a vendor's property: %s",
  async (name) => {
    const text = JSON.stringify(card({ params: {} })).replace("{", `{"${name}":{"a":1},`);
    expect(await lintCard(text)).toMatchObject([
      {
        severity: "remark",
        code: "member_unknown",
        path: `/${name}`,
        message: `/${name}: not a property of A2A; readers pass it over`,
      },
    ]);
  },
);

test("lint shortens a property name in its message and replaces the control characters", async () => {
  const name = `\u001b[31m${"x".repeat(100_000)}`;
  const found = await lintCard(JSON.stringify({ [name]: { a: 1 } }));
  const first = found.find(({ code }) => code === "member_unknown");
  expect(first).toMatchObject({ severity: "remark", path: "" });
  expect(first?.message.length).toBeLessThan(400);
  expect(first?.message).not.toMatch(/\p{Cc}/u);
});

test("lint stops suggesting names after a limit, however many names are wrong", async () => {
  const name = (at: number): string => `q${at}`.padEnd(60, "abcdefghij"[at % 10]);
  const known = Array.from({ length: 64 }, (_, at) => [`k${at}`.padEnd(60, "z"), {}]);
  const wrong = Array.from({ length: 2000 }, (_, at) => [name(at), {}]);
  const first = ["k0".padEnd(59, "z"), {}];
  const document = {
    ...Object(clean),
    securitySchemes: Object.fromEntries(known),
    securityRequirements: [{ schemes: Object.fromEntries([first, ...wrong, first]) }],
    skills: [{ securityRequirements: [{ schemes: Object.fromEntries([first]) }] }],
  };
  const messages = cardRemarks(readCard(document), "1.0", suggestions(2 ** 19))
    .map(({ message }) => message)
    .filter((message) => message.includes("no security scheme"));
  expect(messages.length).toBe(2002);
  expect(messages[0]).toContain("did you mean");
  expect(messages.at(-1)).not.toContain("did you mean");
  expect((await lintCard(JSON.stringify(document))).length).toBe(201);
});

describe("lint and discovery agree on whether a card is malformed", () => {
  const WHOLE = {
    description: "d",
    version: "1",
    skills: [],
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
  };
  const asked = discoveryVectors.flatMap(({ op, test: one }) => {
    const card: unknown = Reflect.get(one, "card");
    if (op !== "discover" || typeof card !== "object" || card === null) return [];
    const codes = (one.denials ?? []).map(({ code }) => code);
    return [{ name: `${one.tcId} ${one.comment}`, card, codes }];
  });

  test.each(asked.map((one) => [one.name, one] as const))(
    "in the vector %s",
    async (_, { card, codes }) => {
      const text = JSON.stringify(Array.isArray(card) ? card : { ...WHOLE, ...card });
      const found = await lintCard(text);
      const errors = found.filter(({ severity }) => severity === "error");
      if (codes.includes("card_malformed")) expect(errors).not.toEqual([]);
      else expect(errors.filter(({ code }) => code === "contract")).toEqual([]);
    },
  );
});

describe("lint checks the contract's fields among A2A's own properties", () => {
  const lines = async (value: Json): Promise<readonly string[]> =>
    (await lintCard(JSON.stringify(value))).map(
      ({ severity, message }) => `${severity} ${message}`,
    );

  test("a reversed version range is an error", async () => {
    const top = { min_protocol_version: "1.2", max_protocol_version: "0.3.0" };
    expect(await lines(card({ top }))).toContain(
      "error /max_protocol_version: 0.3 comes before 1.2, the minimum",
    );
  });

  test("a denial of an implicit capability is an error", async () => {
    expect(await lines(card({ capabilities: { send_message: false } }))).toContain(
      "error /capabilities/send_message: denies send_message, which every agent has",
    );
  });

  test("each capability among A2A's flags gets a remark, and no error", async () => {
    const names = ["pause_resume", "streaming_message", "com.acme.voice"];
    const more = ["context_reuse", "multi_tenant", "message_history_injection"];
    const capabilities = Object.fromEntries([...names, ...more].map((name) => [name, true]));
    const found = await lintCard(JSON.stringify(card({ capabilities })));
    expect(found.map(({ code }) => code)).not.toContain("contract_absent");
    expect(found.filter(({ severity }) => severity === "error")).toEqual([]);
    const remarks = found.filter(({ code }) => code === "member_unknown");
    expect(remarks.map(({ severity }) => severity)).toEqual(Array(6).fill("remark"));
    expect(remarks[0]?.message).toContain("its place is in the params of urn:proviso");
  });
});

describe("lint reports properties of other A2A versions and of vendors", () => {
  const saying = async (value: Json, options = {}): Promise<readonly string[]> =>
    (await lintCard(JSON.stringify(value), options))
      .filter(({ code }) => code === "member_unknown")
      .map(({ severity, message }) => `${severity} ${message}`);
  const FOR = "for its readers; those of A2A 1.0 read";
  const LOOK = "readers of A2A 1.0 look for";

  test.each<[about: string, parts: CardParts, expected: readonly string[]]>([
    [
      "a vendor's own property",
      { top: { interfaces: { mcp: "https://a.example/mcp" }, "x-acme": { tier: 1 } } },
      [
        "remark /interfaces: not a property of A2A; readers pass it over",
        "remark /x-acme: not a property of A2A; readers pass it over",
      ],
    ],
    [
      "a misspelt property",
      { top: { documentationURL: "https://a.example" } },
      ['warning /documentationURL: not a property of A2A; did you mean "documentationUrl"?'],
    ],
    [
      "A2A's own flag in snake_case",
      { capabilities: { push_notifications: true } },
      [
        'warning /capabilities/push_notifications: not a property of A2A; did you mean "pushNotifications"?',
      ],
    ],
    [
      "a property that 1.0 dropped",
      { capabilities: { stateTransitionHistory: false } },
      [
        "remark /capabilities/stateTransitionHistory: a property of A2A 0.1, 0.2, 0.3; A2A 1.0 has none for it",
      ],
    ],
    [
      "security as before 1.0, which readers of 1.0 ignore",
      { top: { security: [] } },
      [`warning /security: a property of A2A 0.2, 0.3; ${LOOK} /securityRequirements`],
    ],
    [
      "security in both forms",
      { top: { security: [], securityRequirements: [] } },
      [`remark /security: a property of A2A 0.2, 0.3, ${FOR} /securityRequirements`],
    ],
    [
      "an address for clients of 0.3",
      { top: { url: URL_OF_AGENT, protocolVersion: "0.3.0" } },
      [
        `remark /url: a property of A2A 0.1, 0.2, 0.3, ${FOR} /supportedInterfaces`,
        `remark /protocolVersion: a property of A2A 0.2, 0.3, ${FOR} /supportedInterfaces`,
      ],
    ],
    [
      "an extended card for clients of 0.3 only",
      { top: { supportsAuthenticatedExtendedCard: true } },
      [
        `warning /supportsAuthenticatedExtendedCard: a property of A2A 0.2, 0.3; ${LOOK} /capabilities/extendedAgentCard`,
      ],
    ],
  ])("with the expected severity and message: %s", async (_, parts, expected) =>
    expect(await saying(card(parts))).toEqual(expected),
  );

  test("an interface that names its binding as in A2A 0.3 gets a warning", async () => {
    const interfaces = [{ url: URL_OF_AGENT, transport: "JSONRPC", protocolVersion: "1.0" }];
    const at = "/supportedInterfaces/0";
    expect(await saying(card({ interfaces }))).toEqual([
      `warning ${at}/transport: not a property of A2A; ${LOOK} ${at}/protocolBinding`,
    ]);
  });

  test("a card of 0.3 with properties of 1.0 gets a warning for each", async () => {
    const { supportedInterfaces: _, ...others } = Object(card());
    const old = { ...others, url: URL_OF_AGENT, protocolVersion: "0.3.0" };
    const capabilities = { extendedAgentCard: true };
    expect(await saying({ ...old, capabilities, securityRequirements: [] })).toEqual([
      "warning /capabilities/extendedAgentCard: a property of A2A 1.0; readers of A2A 0.3 look for /supportsAuthenticatedExtendedCard",
      "warning /securityRequirements: a property of A2A 1.0; readers of A2A 0.3 look for /security",
    ]);
    expect(await saying(old)).toEqual([]);
    expect(await saying({ ...old, signatures: [] }, { protocolVersion: "0.2" })).toEqual([
      "remark /signatures: a property of A2A 0.3, 1.0; A2A 0.2 has none for it",
    ]);
  });

  test("stateTransitionHistory in a card of 0.2 is reported only if the card is checked against 1.0", async () => {
    const { supportedInterfaces: _, ...others } = Object(
      card({ capabilities: { stateTransitionHistory: true } }),
    );
    const old = JSON.stringify({ ...others, url: URL_OF_AGENT, protocolVersion: "0.2.6" });
    const about = async (options = {}) =>
      (await lintCard(old, options)).filter(({ message }) => message.includes("stateTransition"));
    expect((await about()).length).toBe(0);
    expect((await about({ protocolVersion: "1.0" })).length).toBe(1);
  });
});

test("lintCard throws a TypeError for an A2A version that it does not know", async () => {
  for (const protocolVersion of ["0.4", "2.0", "latest", "", 1]) {
    const options = Object({ protocolVersion });
    await expect(lintCard("{}", options)).rejects.toThrow(/options\.protocolVersion: expected/);
  }
  await expect(lintCard("{}", Object({ protocol: "0.3" }))).rejects.toThrow(
    /options\.protocol: unknown property/,
  );
});

test("lint treats a property that is null as absent", async () => {
  const top = { provider: null, iconUrl: null, securitySchemes: null };
  const found = await lintCard(JSON.stringify(card({ params: {}, top })));
  expect(found).toEqual([]);
  const missing = await lintCard(JSON.stringify(card({ params: {}, top: { version: null } })));
  expect(missing.map(({ message }) => message)).toEqual(['the card: "version" is missing']);
});

test("lint warns if a card declares a propagating capability and has no list of delegates", async () => {
  const params = { capabilities: { context_reuse: true } };
  const [found, ...others] = await lintCard(JSON.stringify(card({ params })));
  expect(others).toEqual([]);
  expect(found).toMatchObject({ severity: "warning", code: "delegates_absent" });
  expect(found?.message).toContain('say it in "delegates" of the contract\'s params');
  expect(await lintCard(JSON.stringify(card({ params: { ...params, delegates: [] } })))).toEqual(
    [],
  );
});

describe("lint of two interfaces with one URL", () => {
  const one = { url: URL_OF_AGENT, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
  test.each<[about: string, second: Json, findings: readonly string[]]>([
    ["two versions", { ...one, protocolVersion: "0.3" }, []],
    ["two bindings", { ...one, protocolBinding: "HTTP+JSON" }, []],
    ["two tenants", { ...one, tenant: "acme" }, []],
    ["equal interfaces", one, ["warning reference /supportedInterfaces/1"]],
  ])("warns only if the interfaces are equal: %s", async (_, second, findings) => {
    expect(await linted(card({ params: {}, interfaces: [one, second] }))).toEqual(findings);
  });
});

test("a security scheme in the form before A2A 1.0 is an error in a card of 1.0", async () => {
  const securitySchemes = { bearer: { type: "http", scheme: "bearer" } };
  expect(await linted(card({ params: {}, top: { securitySchemes } }))).toEqual([
    "error schema /securitySchemes/bearer",
    "remark member_unknown /securitySchemes/bearer/type",
    "remark member_unknown /securitySchemes/bearer/scheme",
  ]);
});
