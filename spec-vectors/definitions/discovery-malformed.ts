import type { JsonValue } from "./check-test.js";
import { card, cardText, ONE, olderCard, speaking } from "./discovery-parts.js";
import { type Card, type DiscoverySubject, malformed, usable } from "./discovery-test.js";

const START =
  '{"name":"agent","supportedInterfaces":[{"url":"https://agent.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":';

/** Returns nested arrays. */
function nested(depth: number): JsonValue {
  let value: JsonValue = [];
  for (let inner = 1; inner < depth; inner++) value = [value];
  return value;
}

function extensions(count: number): JsonValue[] {
  return Array.from({ length: count }, (_, at) => ({ uri: `urn:acme:${at}` }));
}

/** Returns a card with the given grants. */
function granting(...grants: readonly JsonValue[]): Card {
  return card({ grants });
}

function delegating(delegates: JsonValue): Card {
  return card({ params: { delegates } });
}

export const cards: DiscoverySubject = {
  type: "discover",
  subject: "what is a card",
  comment: "Section 14.3: JSON, an object, within limits",
  tests: [
    ...[
      ["null", null],
      ["an array", []],
      ["text", "card"],
      ["a number", 1],
      ["true", true],
    ].map(([comment, value]) =>
      malformed(String(comment), "MalformedCard", { card: value as JsonValue }),
    ),
    malformed("no text at all", "MalformedCard", { cardText: "" }),
    malformed("a text cut short", "MalformedCard", { cardText: START }),
    malformed("a comma too many", "MalformedCard", { cardText: `${START}{},}` }),
    malformed("text behind the card", "MalformedCard", { cardText: `${START}{}}{}` }),
    malformed("a constant that JSON lacks", "MalformedCard", { cardText: `${START}{},"x":NaN}` }),
    malformed("two members of one name", ["MalformedCard", "Contradiction"], {
      cardText: `${START}{},"name":"agent"}`,
    }),
    malformed(
      "two flags of one name, the first of which denies",
      ["MalformedCard", "Contradiction"],
      {
        cardText: `${START}{"pause_resume":false,"pause_resume":true}}`,
      },
    ),
    malformed("two members of one name, one of them escaped", ["MalformedCard", "Contradiction"], {
      cardText: `${START}{"multi_tenant":true,"multi\\u005ftenant":true}}`,
    }),
    usable("64 deep", ["MalformedCard", "Limit"], card({ top: { x: nested(63) } })),
    malformed("65 deep", ["MalformedCard", "Limit"], card({ top: { x: nested(64) } })),
    malformed("five thousand deep", ["MalformedCard", "Limit"], {
      cardText: `${START}{},"x":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    }),
    usable("128 extensions", ["MalformedCard", "Limit"], cardText({ extensions: extensions(128) })),
    malformed(
      "129 extensions",
      ["MalformedCard", "Limit"],
      cardText({ extensions: extensions(129) }),
    ),
    malformed(
      "an extension twice",
      "MalformedCard",
      card({ extensions: [{ uri: "urn:acme:1" }, { uri: "urn:acme:1" }] }),
    ),
    malformed(
      "the contract's extension twice, saying the same",
      "MalformedCard",
      card({ params: {}, extensions: [{ uri: "urn:proviso:a2a:discovery:1", params: {} }] }),
    ),
  ],
};

function interfaceAt(url: string): Card {
  return card({ interfaces: [speaking(ONE, "JSONRPC", url)] });
}

const MISFORMED: readonly (readonly [comment: string, card: Card])[] = [
  ["the name is a number", card({ top: { name: 1 } })],
  ["the name is null", card({ top: { name: null } })],
  ["the signatures are an object", card({ top: { signatures: {} } })],
  ["a flag is text", card({ flags: { pause_resume: "true" } })],
  ["a flag is a number", card({ flags: { multi_tenant: 1 } })],
  ["a flag is an object", card({ params: { capabilities: { context_reuse: {} } } })],
  ["capabilities is an array", card({ top: { capabilities: ["pause_resume"] } })],
  ["capabilities of params is an array", card({ params: { capabilities: ["pause_resume"] } })],
  ["params is an array", card({ params: [] })],
  ["params is text", card({ params: "minProtocolVersion" })],
  ["extensions is an object", card({ top: { capabilities: { extensions: {} } } })],
  ["the interfaces are an object", card({ top: { supportedInterfaces: {} } })],
  [
    "an interface's binding is a number",
    card({ interfaces: [speaking(ONE), { protocolBinding: 1 }] }),
  ],
  ["an interface's tenant is a number", card({ interfaces: [speaking({ ...ONE, tenant: 1 })] })],
  [
    "an interface of another binding without an address",
    card({ interfaces: [speaking(ONE), { ...speaking(ONE, "WAMP"), url: null }] }),
  ],
  [
    "an interface of gRPC with a user's name",
    card({ interfaces: [speaking(ONE), speaking(ONE, "GRPC", "good.example@evil.example:443")] }),
  ],
  ["the binding of an older card is an array", olderCard({ preferredTransport: ["JSONRPC"] })],
  ...[
    "javascript:alert(1)",
    "file:///a2a",
    "agent.example",
    "https://good.example@evil.example/",
  ].map((url) => [`an interface's URL is ${url}`, interfaceAt(url)] as const),
  ["interfaces of params is an object", card({ params: { interfaces: {} } })],
  ["a bound is an array", card({ params: { maxProtocolVersion: ["1.0"] } })],
  ["the delegates are an object", delegating({ url: "https://b.example/" })],
  ["a delegate with a relative address", delegating([{ url: "/archive" }])],
  ["a delegate with an address that is not http's", delegating([{ url: "ftp://b.example/" }])],
  ["a delegate is text", delegating(["https://b.example/"])],
  ["a delegate without a URL", delegating([{ capabilities: [] }])],
  ["a delegate's URL is a number", delegating([{ url: 1 }])],
  [
    "a delegate's capabilities are text",
    delegating([{ url: "https://b.example/", capabilities: "context_reuse" }]),
  ],
  ["the grants are an object", card({ top: { capabilityGrants: {} } })],
  ["a grant is text", granting("documents:read")],
  ["a grant without an id", granting({ operations: ["retrieve"] })],
  ["a grant with an empty id", granting({ id: "", operations: ["retrieve"] })],
  ["a grant's required grants are text", granting({ id: "documents:read", requires: "all" })],
  ["a grant's operations are text", granting({ id: "documents:read", operations: "retrieve" })],
  [
    "attenuable is text",
    granting({ id: "documents:read", operations: ["retrieve"], attenuable: "false" }),
  ],
  ["legacy is a number", granting({ id: "documents:read", operations: ["retrieve"], legacy: 1 })],
  [
    "a grant twice",
    granting(
      { id: "documents:read", operations: ["retrieve"] },
      { id: "documents:read", operations: ["retrieve"] },
    ),
  ],
];

export const misformed: DiscoverySubject = {
  type: "discover",
  subject: "fields of another form",
  comment: "Section 14.3: a field of the contract that has another form makes the card malformed",
  tests: MISFORMED.map(([comment, misformedCard]) =>
    malformed(comment, ["MalformedCard", "TypeConfusion"], misformedCard),
  ),
};
