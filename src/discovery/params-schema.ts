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
    minProtocolVersion: {
      ...version,
      description: "The earliest A2A version that the agent speaks.",
    },
    maxProtocolVersion: {
      ...version,
      description: "The latest A2A version that the agent speaks.",
    },
    capabilities: {
      type: "object",
      description:
        "Capabilities that the agent has or lacks. A capability that is absent is not declared.",
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
        "[.:]": {
          type: "boolean",
          description: "A vendor's capability, by its URI or its dotted name.",
        },
      },
      additionalProperties: false,
    },
    interfaces: {
      type: "array",
      maxItems: 64,
      description: "Further A2A versions of the card's interfaces.",
      items: closed(
        {
          url: { type: "string", minLength: 1, description: "The interface's URL in the card." },
          protocolBinding: {
            type: "string",
            description: "The interface's binding, needed if two interfaces have the same URL.",
          },
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
          url: { ...url, description: "The URL of that agent's card." },
          capabilities: {
            type: "array",
            items: { type: "string" },
            description: "Capabilities that this agent requires of that agent.",
          },
        },
        ["url"],
      ),
    },
  },
};
