import type { JsonObject } from "../bytes/json.js";
import { closed } from "./security-schema.js";

// Schemas for cards of A2A before 1.0, from the JSON Schema that A2A published for each version. No schema has
// properties that only a later version has.

/** The versions of A2A before 1.0 that published a schema. */
export type OlderVersion = "0.1" | "0.2" | "0.3";

const text = { type: "string" };
const flag = { type: "boolean" };
const texts = { type: "array", items: text };
const scopes = { type: "object", additionalProperties: text };
const requirements = { type: "array", items: { type: "object", additionalProperties: texts } };

const CARD = {
  name: text,
  description: text,
  url: text,
  provider: { $ref: "#/$defs/provider" },
  version: text,
  documentationUrl: text,
  capabilities: { $ref: "#/$defs/capabilities" },
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: { type: "array", items: { $ref: "#/$defs/skill" } },
};
const CAPABILITIES = { streaming: flag, pushNotifications: flag, stateTransitionHistory: flag };
const SKILL = {
  id: text,
  name: text,
  description: text,
  tags: texts,
  examples: texts,
  inputModes: texts,
  outputModes: texts,
};

const CARD_0_1: JsonObject = {
  ...closed(
    { ...CARD, authentication: closed({ schemes: texts, credentials: text }, ["schemes"]) },
    ["name", "url", "version", "capabilities", "skills"],
  ),
  $defs: {
    provider: closed({ organization: text, url: text }, ["organization"]),
    capabilities: closed(CAPABILITIES),
    skill: closed(SKILL, ["id", "name"]),
  },
};

const REQUIRED = [
  "name",
  "description",
  "url",
  "version",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
];

/**
 * Returns the schema of a version, given the parts in which versions differ. `schemes` has the required
 * properties of a security scheme, by its `type`.
 */
function card(
  {
    top,
    skill,
    schemes,
    oauth,
  }: Readonly<Record<"top" | "skill" | "schemes" | "oauth", JsonObject>>,
  required: readonly string[],
): JsonObject {
  return {
    ...closed(
      {
        ...CARD,
        iconUrl: text,
        preferredTransport: text,
        protocolVersion: text,
        additionalInterfaces: {
          type: "array",
          items: closed({ url: text, transport: text }, ["url", "transport"]),
        },
        securitySchemes: { type: "object", additionalProperties: scheme(schemes, oauth) },
        security: requirements,
        supportsAuthenticatedExtendedCard: flag,
        ...top,
      },
      required,
    ),
    $defs: {
      provider: closed({ organization: text, url: text }, ["organization", "url"]),
      capabilities: closed({
        ...CAPABILITIES,
        extensions: {
          type: "array",
          items: closed(
            { uri: text, description: text, required: flag, params: { type: "object" } },
            ["uri"],
          ),
        },
      }),
      skill: closed({ ...SKILL, ...skill }, ["id", "name", "description", "tags"]),
    },
  };
}

/** Required properties of a security scheme, by its type. */
const SCHEMES: JsonObject = {
  apiKey: ["in", "name"],
  http: ["scheme"],
  oauth2: ["flows"],
  openIdConnect: ["openIdConnectUrl"],
};

function scheme(kinds: JsonObject, oauth: JsonObject): JsonObject {
  return {
    ...closed(
      {
        type: { enum: Object.keys(kinds) },
        description: text,
        in: { enum: ["query", "header", "cookie"] },
        name: text,
        scheme: text,
        bearerFormat: text,
        flows: closed({
          authorizationCode: flow(["authorizationUrl", "tokenUrl", "scopes"]),
          clientCredentials: flow(["tokenUrl", "scopes"]),
          implicit: flow(["authorizationUrl", "scopes"]),
          password: flow(["tokenUrl", "scopes"]),
        }),
        openIdConnectUrl: text,
        ...oauth,
      },
      ["type"],
    ),
    allOf: Object.entries(kinds).map(([kind, required]) => ({
      if: { properties: { type: { const: kind } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required },
    })),
  };
}

function flow(required: readonly string[]): JsonObject {
  const members = { authorizationUrl: text, tokenUrl: text, refreshUrl: text, scopes };
  return closed(members, required);
}

const SIGNATURE = ["protected", "signature"];

/** The schema of each version. In 0.2, `protocolVersion` is optional, because 0.2.5 introduced it. */
export const OLDER_CARD_SCHEMAS: Readonly<Record<OlderVersion, JsonObject>> = {
  "0.1": CARD_0_1,
  "0.2": card({ top: {}, skill: {}, schemes: SCHEMES, oauth: {} }, REQUIRED),
  "0.3": card(
    {
      top: {
        signatures: {
          type: "array",
          items: closed(
            { protected: text, signature: text, header: { type: "object" } },
            SIGNATURE,
          ),
        },
      },
      skill: { security: requirements },
      schemes: { ...SCHEMES, mutualTLS: [] },
      oauth: { oauth2MetadataUrl: text },
    },
    [...REQUIRED, "protocolVersion"],
  ),
};
