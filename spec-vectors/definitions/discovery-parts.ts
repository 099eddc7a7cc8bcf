import type { JsonValue } from "./check-test.js";
import type { Card, Members } from "./discovery-test.js";

export const DISCOVERY = "urn:proviso:a2a:discovery:1";
const GRANTS = "urn:proviso:a2a:capabilities:1";

/** The parts of a test's card besides its name. */
export interface CardParts {
  /** Properties at the top. */
  readonly top?: Members;
  /** Properties of `capabilities`, except its extensions. */
  readonly flags?: Members;
  /** `params` of the contract's extension. */
  readonly params?: JsonValue;
  /** `capabilityGrants` in `params` of the capability extension. */
  readonly grants?: JsonValue;
  readonly extensions?: readonly JsonValue[];
  /** Interfaces; unless given, one JSON-RPC interface with version 1.0. */
  readonly interfaces?: readonly Members[];
}

/** The address of a card's first interface; the others end in a number. */
export const ENDPOINT = "https://agent.example/a2a";

/** An interface with these properties; `card` adds its URL unless the test does. */
export function speaking(members: Members, binding = "JSONRPC", url?: string): Members {
  return { ...(url === undefined ? {} : { url }), protocolBinding: binding, ...members };
}

export const ONE: Members = { protocolVersion: "1.0" };

/** A card that a caller without requirements can use, except for the test's changes. */
export function card(parts: CardParts = {}): Card {
  const {
    top = {},
    flags = {},
    params,
    grants,
    extensions = [],
    interfaces = [speaking(ONE)],
  } = parts;
  const all = [
    ...(params === undefined ? [] : [{ uri: DISCOVERY, params }]),
    ...(grants === undefined ? [] : [{ uri: GRANTS, params: { capabilityGrants: grants } }]),
    ...extensions,
  ];
  return {
    card: {
      name: "agent",
      supportedInterfaces: interfaces.map((one, at) => ({
        url: at === 0 ? ENDPOINT : `${ENDPOINT}/${at}`,
        ...one,
      })),
      capabilities: { ...flags, ...(all.length === 0 ? {} : { extensions: all }) },
      ...top,
    },
  };
}

/** A card of A2A 0.3, with the test's changes. */
export function olderCard(members: Members = {}): Card {
  return {
    card: {
      name: "agent",
      url: ENDPOINT,
      protocolVersion: "0.3.0",
      capabilities: {},
      skills: [],
      ...members,
    },
  };
}

/** The text of a card that a definition has built itself. */
export function cardText(parts: CardParts): Card {
  const made = card(parts);
  return "card" in made ? { cardText: JSON.stringify(made.card) } : made;
}
