import type { JsonObject } from "../bytes/json.js";
import { DISCOVERY_URI } from "./card.js";
import { CAPABILITY_REGISTRY } from "./registry.js";
import { closed } from "./security-schema.js";

const version = {
  type: "string",
  pattern: "^(0|[1-9][0-9]{0,5})(\\.(0|[1-9][0-9]{0,5})){0,2}$",
};
const url = { type: "string", format: "url" };

/**
 * JSON Schema (2020-12) of the params of the discovery contract. Published for editors as
 * `schemas/discovery-params.schema.json`.
 */
export const DISCOVERY_PARAMS_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:proviso:discovery-params:1",
  title: `The params of the extension ${DISCOVERY_URI}`,
  type: "object",
  additionalProperties: false,
  properties: {
    minProtocolVersion: { ...version, description: "The earliest A2A version that it speaks." },
    maxProtocolVersion: { ...version, description: "The latest A2A version that it speaks." },
    capabilities: {
      type: "object",
      description: "Which capabilities the agent has. What is absent is not declared.",
      properties: Object.fromEntries(
        CAPABILITY_REGISTRY.capabilities.flatMap((entry) => {
          if (entry.isOwnFlag === true) return [];
          const { name, description, tier, deprecated } = entry;
          const said: JsonObject = tier === "implicit" ? { const: true } : { type: "boolean" };
          const mark: JsonObject = deprecated === undefined ? {} : { deprecated: true };
          return [[name, { ...said, ...mark, description: `The agent ${description}.` }]];
        }),
      ),
      patternProperties: {
        "[.:]": { type: "boolean", description: "A vendor's, by its URI or its dotted name." },
      },
      additionalProperties: false,
    },
    interfaces: {
      type: "array",
      maxItems: 64,
      description: "More versions of the card's interfaces.",
      items: closed(
        {
          url: { type: "string", minLength: 1, description: "As the card has it." },
          protocolBinding: { type: "string", description: "If two interfaces have one URL." },
          protocolVersions: { type: "array", minItems: 1, maxItems: 64, items: version },
        },
        ["url", "protocolVersions"],
      ),
    },
    delegates: {
      type: "array",
      maxItems: 64,
      description: "Every agent that this one delegates to; empty if it delegates to none.",
      items: closed(
        {
          url: { ...url, description: "Where that agent's card is found." },
          capabilities: {
            type: "array",
            items: { type: "string" },
            description: "What this agent relies on that one to have.",
          },
        },
        ["url"],
      ),
    },
  },
};
