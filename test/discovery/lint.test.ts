import { beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { suggestions } from "../../src/checks/nearest.js";
import { cardRemarks } from "../../src/discovery/card-remarks.js";
import { DISCOVERY_URI, lintCard, readCard } from "../../src/discovery/index.js";
import { CAPABILITIES_URI } from "../../src/discovery/uris.js";
import { startDocumentsAgent } from "../support/documents-agent.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { changed } from "./changed.js";

// The contract as the documents agent can declare it, while it does not do so by itself.
const PARAMS = {
  ...{ minProtocolVersion: "1.0", maxProtocolVersion: "1.0", delegates: [] },
  capabilities: { streaming_message: false, multi_tenant: false },
};

let clean: Json;
/** Where the card has the two extensions' params. */
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

/** The pointer with `{contract}` and `{capability}` filled in. */
function place(path: string): string {
  return path.replace("{contract}", contract).replace("{capability}", capability);
}

async function linted(value: Json): Promise<readonly string[]> {
  const found = await lintCard(JSON.stringify(value, null, 2));
  return found.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

test("the documents agent's card is clean", async () => {
  expect(await linted(clean)).toEqual([]);
});

const INTERFACE = { url: "https://a.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" };
const FLOW = { authorizationCode: { authorizationUrl: "https://a.example/", scopes: {} } };
const SKILL = { id: "retrieve_document", name: "n", description: "d", tags: [] };

/** One breakage each: where, what is put there (absent: it is taken out), and the code it gives. */
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
  ["/supportedInterfaces/0/protocolVersions", ["1.0"], "schema"],
  ["/supportedInterfaces/0/transport", "JSONRPC", "schema"],
  ["/supportedInterfaces/-", { ...INTERFACE, url: "http://agent.example/" }, "address_insecure"],
  ["/supportedInterfaces/-", { ...INTERFACE, protocol_version: "1.0" }, "schema"],
  ["/provider", { organization: "ACME" }, "schema"],
  ["/documentationUrl", "docs", "schema"],
  ["/protocolVersion", "0.3.0", "schema"],
  ["/capabilityGrants", [], "schema"],
  ["/min_protocol_version", "1.0", "schema"],
  ["/minProtocolVersion", "1.0", "schema"],
  ["/capabilities/streaming", "yes", "schema"],
  ["/capabilities/streaming_message", true, "schema"],
  ["/capabilities/stateTransitionHistory", true, "schema"],
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

describe("a copy with one thing broken is caught", () => {
  test("there are enough of them", () => expect(BREAKAGES.length).toBeGreaterThanOrEqual(40));

  test.each(BREAKAGES)("%s %j: %s", async (path, to, code) => {
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

describe("the place of the offence", () => {
  const text = '{\n  "name": "a",\n  "skills": [\n    { "id": 1 }\n  ],\n  "name": "b"\n}\n';

  test("is that in the text", async () => {
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

  test("is where a text stops being JSON", async () => {
    expect(await lintCard('{\n  "name": "a",\n}')).toMatchObject([{ code: "not_json", line: 3 }]);
    expect(await lintCard("")).toMatchObject([{ code: "not_json", line: 1, column: 1 }]);
  });
});

describe("a hostile text is bounded", () => {
  test.each<[about: string, text: () => string, code: string]>([
    ["10 MB", () => JSON.stringify({ name: "x".repeat(10 * 1024 * 1024) }), "too_large"],
    ["depth 10,000", () => `${"[".repeat(10_000)}${"]".repeat(10_000)}`, "too_deep"],
    ["depth 10,000, open", () => '{"a":'.repeat(10_000), "too_deep"],
  ])("%s", async (_, text, code) => {
    expect(await lintCard(text())).toMatchObject([{ code, line: 1, column: 1 }]);
  });

  test.each<[about: string, value: () => Json]>([
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
      "many unknown members",
      () => Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at])),
    ],
    ["many skills of one id", () => changed(clean, "/skills", Array(4_000).fill(SKILL))],
    [
      "many operations",
      () =>
        changed(clean, `${capability}/capabilityGrants/0/operations`, Array(100_000).fill("op")),
    ],
  ])("%s", async (_, value) => {
    const found = await lintCard(JSON.stringify(value()));
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(200);
  });
});

test("a name of a card is shortened where it is shown, and its controls are not", async () => {
  const name = `\u001b[31m${"x".repeat(100_000)}`;
  const [first] = await lintCard(JSON.stringify({ [name]: { a: 1 } }));
  expect(first).toMatchObject({ code: "schema", path: "" });
  expect(first?.message.length).toBeLessThan(400);
  expect(first?.message).not.toMatch(/\p{Cc}/u);
});

test("suggestions for one card are bounded, however many names it has wrong", async () => {
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
  const messages = cardRemarks(readCard(document), suggestions(2 ** 19))
    .map(({ message }) => message)
    .filter((message) => message.includes("no security scheme"));
  expect(messages.length).toBe(2002);
  expect(messages[0]).toContain("did you mean");
  expect(messages.at(-1)).not.toContain("did you mean");
  expect((await lintCard(JSON.stringify(document))).length).toBe(200);
});
