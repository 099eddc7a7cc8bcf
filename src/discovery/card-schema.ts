import type { JsonObject } from "../bytes/json.js";
import { closed, SECURITY_DEFINITIONS } from "./security-schema.js";

const text = { type: "string" };
const flag = { type: "boolean" };
const texts = { type: "array", items: text };
const requirements = { type: "array", items: { $ref: "#/$defs/securityRequirement" } };
const url = { type: "string", format: "url" };

/**
 * JSON Schema (2020-12) of an A2A 1.0 card, derived from its Protocol Buffers: camelCase, no unknown
 * properties. Published for editors as `schemas/agent-card.schema.json`.
 */
export const AGENT_CARD_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:proviso:agent-card:1",
  title: "An Agent Card of A2A 1.0",
  type: "object",
  required: [
    "name",
    "description",
    "supportedInterfaces",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
  ],
  additionalProperties: false,
  properties: {
    name: { ...text, minLength: 1, description: "The agent's name, for people." },
    description: { ...text, minLength: 1, description: "The agent's purpose, for people." },
    supportedInterfaces: {
      type: "array",
      minItems: 1,
      items: { $ref: "#/$defs/interface" },
      description: "The agent's interfaces, the preferred one first.",
    },
    provider: { $ref: "#/$defs/provider" },
    version: { ...text, minLength: 1, description: "The agent's own version." },
    documentationUrl: url,
    capabilities: { $ref: "#/$defs/capabilities" },
    securitySchemes: { type: "object", additionalProperties: { $ref: "#/$defs/securityScheme" } },
    securityRequirements: requirements,
    defaultInputModes: { ...texts, minItems: 1, description: "Media types that skills accept." },
    defaultOutputModes: { ...texts, minItems: 1, description: "Media types that skills return." },
    skills: { type: "array", items: { $ref: "#/$defs/skill" } },
    signatures: { type: "array", items: { $ref: "#/$defs/signature" } },
    iconUrl: url,
  },
  $defs: {
    interface: closed(
      {
        url: { ...text, minLength: 1 },
        protocolBinding: {
          ...text,
          minLength: 1,
          description: "The binding: JSONRPC, GRPC, HTTP+JSON, or the URI of another binding.",
        },
        tenant: text,
        protocolVersion: { ...text, minLength: 1, description: "The A2A version, such as 1.0." },
      },
      ["url", "protocolBinding", "protocolVersion"],
    ),
    provider: closed({ url, organization: { ...text, minLength: 1 } }, ["url", "organization"]),
    capabilities: {
      type: "object",
      additionalProperties: false,
      properties: {
        streaming: flag,
        pushNotifications: flag,
        extensions: { type: "array", items: { $ref: "#/$defs/extension" } },
        extendedAgentCard: flag,
      },
    },
    extension: closed(
      {
        uri: { ...text, minLength: 1 },
        description: text,
        required: flag,
        params: { type: "object" },
      },
      ["uri"],
    ),
    skill: closed(
      {
        id: { ...text, minLength: 1 },
        name: { ...text, minLength: 1 },
        description: { ...text, minLength: 1 },
        tags: texts,
        examples: texts,
        inputModes: texts,
        outputModes: texts,
        securityRequirements: requirements,
      },
      ["id", "name", "description", "tags"],
    ),
    signature: closed(
      {
        protected: { ...text, pattern: "^[A-Za-z0-9_-]+$" },
        signature: { ...text, pattern: "^[A-Za-z0-9_-]+$" },
        header: { type: "object" },
      },
      ["protected", "signature"],
    ),
    ...SECURITY_DEFINITIONS,
  },
};
