import type { JsonValue } from "./check-test.js";
import type { Card, Members } from "./discovery-test.js";

export const DISCOVERY = "urn:proviso:a2a:discovery:1";
const GRANTS = "urn:proviso:a2a:capabilities:1";

/** The parts of a card that a test sets. */
export interface CardParts {
  /** Properties at the top of the card. */
  readonly top?: Members;
  /** Properties of `capabilities`, except `extensions`. */
  readonly flags?: Members;
  /** `params` of the card contract's extension. */
  readonly params?: JsonValue;
  /** `capabilityGrants` in `params` of the capability extension. */
  readonly grants?: JsonValue;
  readonly extensions?: readonly JsonValue[];
  /** The interfaces; by default, one JSON-RPC interface with version 1.0. */
  readonly interfaces?: readonly Members[];
}

/** The URL of a card's first interface. The URLs of further interfaces end in a number. */
export const ENDPOINT = "https://agent.example/a2a";

/** Returns an interface with the given properties. Without a `url`, `card` adds one. */
export function speaking(members: Members, binding = "JSONRPC", url?: string): Members {
  return { ...(url === undefined ? {} : { url }), protocolBinding: binding, ...members };
}

export const ONE: Members = { protocolVersion: "1.0" };

/** Returns a card that a caller without requirements can use. The test's parts are added to the card. */
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

/** Returns a card of A2A 0.3 with the test's properties. */
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

/** Returns a card as JSON text. */
export function cardText(parts: CardParts): Card {
  const made = card(parts);
  return "card" in made ? { cardText: JSON.stringify(made.card) } : made;
}
