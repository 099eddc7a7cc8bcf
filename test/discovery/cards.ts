import type { Json, JsonObject } from "../../src/bytes/json.js";
import { type CardReading, readCard } from "../../src/discovery/index.js";

/** The parts of a card that a test sets. {@link card} has a default for each other part. */
export interface CardParts {
  readonly name?: string;
  /** Top-level properties to add or replace. */
  readonly top?: JsonObject;
  /** Properties of `capabilities`. */
  readonly capabilities?: JsonObject;
  /** The params of the discovery contract. Unless given, the card does not list the contract. */
  readonly params?: JsonObject;
  readonly grants?: readonly JsonObject[];
  readonly interfaces?: readonly Json[];
  readonly extensions?: readonly Json[];
}

export const URL_OF_AGENT = "https://agent.example/a2a";

/** Returns the smallest card of A2A 1.0 that its schema allows. */
export function card(parts: CardParts = {}): JsonObject {
  const { params, grants } = parts;
  return {
    name: parts.name ?? "agent",
    description: "does things",
    version: "1.0.0",
    supportedInterfaces: parts.interfaces ?? [
      { url: URL_OF_AGENT, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    capabilities: {
      streaming: true,
      ...parts.capabilities,
      extensions: [
        ...(params === undefined ? [] : [{ uri: "urn:proviso:a2a:discovery:1", params }]),
        ...(grants === undefined
          ? []
          : [{ uri: "urn:proviso:a2a:capabilities:1", params: { capabilityGrants: grants } }]),
        ...(parts.extensions ?? []),
      ],
    },
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
    skills: [{ id: "s", name: "S", description: "a skill", tags: ["t"] }],
    ...parts.top,
  };
}

export function read(parts: CardParts = {}): CardReading {
  return readCard(card(parts));
}
