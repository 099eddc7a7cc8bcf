import { card, ENDPOINT, ONE, speaking } from "./discovery-parts.js";
import {
  type Card,
  type DiscoverySubject,
  type Members,
  malformed,
  refused,
  usable,
} from "./discovery-test.js";

const INCOMPATIBLE = "version_incompatible";

/** Returns a card with a range of versions. Its interface names no version of its own. */
function ranging(min: string | undefined, max: string | undefined): Card {
  return card({
    top: {
      ...(min === undefined ? {} : { minProtocolVersion: min }),
      ...(max === undefined ? {} : { maxProtocolVersion: max }),
    },
    interfaces: [speaking({})],
  });
}

function wanting(protocolVersion: string): { protocolVersion: string } {
  return { protocolVersion };
}

export const versions: DiscoverySubject = {
  type: "discover",
  subject: "versions and ranges",
  comment: "Section 14.4: major and minor are numbers, both bounds are in the range",
  tests: [
    usable("a range of one version", ["Normal", "VersionRange"], ranging("1.0", "1.0")),
    usable("at the upper bound", "VersionRange", ranging("0.3", "1.0")),
    refused("above the upper bound", "VersionRange", ranging("0.2", "0.3"), {}, INCOMPATIBLE),
    refused("below the lower bound", "VersionRange", ranging("1.1", "1.2"), {}, INCOMPATIBLE),
    refused("another major version", "VersionRange", ranging("2.0", "2.1"), {}, INCOMPATIBLE),
    usable("no upper bound", "VersionRange", ranging("0.9", undefined), wanting("7.0"), {
      version: "7.0",
    }),
    usable("no lower bound", "VersionRange", ranging(undefined, "1.2"), wanting("0.1"), {
      version: "0.1",
    }),
    refused("above the only bound", "VersionRange", ranging(undefined, "0.9"), {}, INCOMPATIBLE),
    refused("below the only bound", "VersionRange", ranging("1.1", undefined), {}, INCOMPATIBLE),
    usable("1.10 follows 1.9", "VersionRange", ranging("1.9", "1.10"), wanting("1.10"), {
      version: "1.10",
    }),
    refused(
      "1.10 is not before 1.9",
      "VersionRange",
      ranging("1.0", "1.9"),
      wanting("1.10"),
      INCOMPATIBLE,
    ),
    refused(
      "10.0 is not before 2.0",
      "VersionRange",
      ranging("1.0", "2.0"),
      wanting("10.0"),
      INCOMPATIBLE,
    ),
    usable("a major version alone is its first", "VersionRange", ranging("1", "1"), wanting("1")),
    refused(
      "a major version alone is not all of it",
      "VersionRange",
      ranging("1", "1"),
      wanting("1.1"),
      INCOMPATIBLE,
    ),
    usable(
      "the card's patch part is ignored",
      "VersionRange",
      card({ top: { maxProtocolVersion: "1.0.0" }, interfaces: [speaking(ONE)] }),
      wanting("1.0.9"),
    ),
    usable(
      "a range that a patch part alone turns round is one version",
      "VersionRange",
      ranging("1.0.2", "1.0.1"),
    ),
    usable(
      "the longest parts",
      ["VersionRange", "Limit"],
      ranging("999999.999999", "999999.999999.999999"),
      wanting("999999.999999"),
      { version: "999999.999999" },
    ),
    malformed("a longer part", ["VersionRange", "Limit"], ranging("0.1000000", undefined)),
    ...[
      ["a letter before it", "v1.0"],
      ["a pre-release", "1.0-rc"],
      ["a leading zero", "01.0"],
      ["a leading zero of the minor part", "0.03"],
      ["no minor part after the dot", "0."],
      ["no major part", ".3"],
      ["four parts", "0.3.0.0"],
      ["a space before it", " 0.3"],
      ["a newline behind it", "0.3\n"],
      ["a sign", "+0.3"],
      ["a wildcard", "*"],
      ["digits beyond ASCII", "\u0660.\u0663"],
    ].map(([comment = "", version = ""]) =>
      malformed(comment, "MalformedVersion", ranging(version, undefined)),
    ),
    malformed(
      "a number is no version",
      ["MalformedVersion", "TypeConfusion"],
      card({ top: { minProtocolVersion: 1 } }),
    ),
    malformed(
      "an interface's version cannot be read",
      "MalformedVersion",
      card({ interfaces: [speaking(ONE), speaking({ protocolVersion: "latest" })] }),
    ),
    malformed(
      "one of an interface's versions cannot be read",
      "MalformedVersion",
      card({ interfaces: [speaking({ protocolVersions: ["1.0", "1.x"] })] }),
    ),
    malformed(
      "an interface's versions are text",
      ["MalformedVersion", "TypeConfusion"],
      card({ interfaces: [speaking({ ...ONE, protocolVersions: "1.0" })] }),
    ),
  ],
};

const GRPC = speaking(ONE, "GRPC");
const REST = speaking(ONE, "HTTP+JSON");
const OLD: Members = { protocolVersion: "0.3" };

/** Returns a card with one interface. By default, the range of versions is that of the proposal's example. */
function within(members: Members, top: Members = EXAMPLE): Card {
  return card({ top, interfaces: [speaking(members)] });
}

const EXAMPLE: Members = { min_protocol_version: "0.3.0", max_protocol_version: "1.2" };

export const widening: DiscoverySubject = {
  type: "discover",
  subject: "a range beside an interface's version",
  comment:
    "Section 14.4: the card's range widens an interface that lists no versions, within its major version",
  tests: [
    usable(
      "a later version of the range",
      ["Normal", "VersionRange", "SpecExample"],
      within(ONE),
      wanting("1.1"),
      { version: "1.1" },
    ),
    usable("the last version of the range", "VersionRange", within(ONE), wanting("1.2"), {
      version: "1.2",
    }),
    usable("the interface's own version", "VersionRange", within(ONE)),
    usable(
      "an earlier version of the range",
      "VersionRange",
      within({ protocolVersion: "1.2" }),
      wanting("1.0"),
    ),
    refused("after the range", "VersionRange", within(ONE), wanting("1.3"), INCOMPATIBLE),
    refused(
      "in the range, of another major version",
      "VersionRange",
      within(ONE),
      wanting("0.3"),
      INCOMPATIBLE,
    ),
    refused(
      "an interface that lists its versions speaks no other",
      "VersionRange",
      within({ ...ONE, protocolVersions: ["1.0", "1.2"] }),
      wanting("1.1"),
      INCOMPATIBLE,
    ),
    refused(
      "an interface whose versions are listed in params speaks no other",
      ["VersionRange", "Places"],
      card({
        params: {
          minProtocolVersion: "1.0",
          interfaces: [{ url: ENDPOINT, protocolVersions: ["1.0"] }],
        },
      }),
      wanting("1.1"),
      INCOMPATIBLE,
    ),
    usable(
      "an interface whose list is empty is widened",
      "VersionRange",
      within({ ...ONE, protocolVersions: [] }),
      wanting("1.1"),
      { version: "1.1" },
    ),
    usable(
      "no upper bound is the rest of the major version",
      "VersionRange",
      within(ONE, { minProtocolVersion: "1.0" }),
      wanting("1.999999"),
      { version: "1.999999" },
    ),
    refused(
      "no upper bound is not the next major version",
      "VersionRange",
      within(ONE, { minProtocolVersion: "1.0" }),
      wanting("2.0"),
      INCOMPATIBLE,
    ),
    usable(
      "no lower bound is the beginning of the major version",
      "VersionRange",
      within({ protocolVersion: "1.4" }, { maxProtocolVersion: "1.4" }),
      wanting("1.0"),
    ),
    refused(
      "no lower bound is not the major version before",
      "VersionRange",
      within(ONE, { maxProtocolVersion: "1.4" }),
      wanting("0.9"),
      INCOMPATIBLE,
    ),
    usable(
      "each interface within its own major version",
      ["VersionRange", "Interface"],
      card({ top: EXAMPLE, interfaces: [speaking(OLD), speaking(ONE)] }),
      wanting("1.1"),
      { version: "1.1", interface: 1 },
    ),
    refused(
      "without a range, an interface speaks its version alone",
      "VersionRange",
      card(),
      wanting("1.1"),
      INCOMPATIBLE,
    ),
  ],
};

export const interfaces: DiscoverySubject = {
  type: "discover",
  subject: "the interface that is chosen",
  comment: "Sections 14.4 and 14.5: the first, in the card's order, with binding and version",
  tests: [
    usable(
      "the first of several",
      ["Normal", "Interface"],
      card({ interfaces: [REST, speaking(ONE), GRPC] }),
    ),
    usable(
      "the first with the version",
      "Interface",
      card({ interfaces: [speaking(OLD), speaking({ protocolVersion: "2.0" }), REST] }),
      {},
      { interface: 2 },
    ),
    usable(
      "the first with the binding",
      "Interface",
      card({ interfaces: [speaking(ONE), REST, GRPC] }),
      { binding: "GRPC" },
      { interface: 2 },
    ),
    usable(
      "the first with binding and version",
      "Interface",
      card({ interfaces: [speaking(OLD), REST, speaking(ONE), speaking(ONE)] }),
      { binding: "JSONRPC" },
      { interface: 2 },
    ),
    usable(
      "the first with a binding that is known",
      "Interface",
      card({ interfaces: [speaking(ONE, "WAMP"), speaking(ONE, "urn:acme:ws"), GRPC] }),
      {},
      { interface: 2 },
    ),
    usable(
      "an interface whose versions are empty speaks its own",
      "Interface",
      card({ interfaces: [speaking({ ...ONE, protocolVersions: [] })] }),
    ),
    refused(
      "no interface has the binding",
      "Interface",
      card({ interfaces: [speaking(ONE), REST] }),
      { binding: "GRPC" },
      "interface_unsupported",
    ),
    refused(
      "no interface has a binding that is known",
      "Interface",
      card({ interfaces: [speaking(ONE, "WAMP")] }),
      {},
      "interface_unsupported",
    ),
    refused(
      "the binding in another case",
      ["Interface", "SetMembership"],
      card({ interfaces: [speaking(ONE, "jsonrpc")] }),
      { binding: "JSONRPC" },
      "interface_unsupported",
    ),
    refused("no interface", "Interface", card({ interfaces: [] }), {}, "interface_unsupported"),
    usable(
      "two interfaces of one binding at one URL, each with its version",
      ["Interface", "SpecExample"],
      card({
        interfaces: [speaking(OLD, "JSONRPC", ENDPOINT), speaking(ONE, "JSONRPC", ENDPOINT)],
      }),
      {},
      { interface: 1 },
    ),
    usable(
      "a custom binding's address, which is no http URL",
      ["Interface", "SpecExample"],
      card({
        interfaces: [
          speaking(ONE, "https://acme.example/bindings/websocket/v1", "wss://agent.example/ws"),
          speaking(ONE),
        ],
      }),
      {},
      { interface: 1 },
    ),
    malformed(
      "an address of JSON-RPC that is no http URL, whatever the case of the binding",
      "MalformedCard",
      card({ interfaces: [speaking(ONE), speaking(ONE, "JsonRpc", "wss://agent.example/ws")] }),
    ),
    refused(
      "the version is spoken in another binding only",
      "Interface",
      card({ interfaces: [speaking(OLD), REST] }),
      { binding: "JSONRPC" },
      INCOMPATIBLE,
    ),
    refused(
      "no interface speaks the version, which is in the card's range",
      "Interface",
      card({
        top: { minProtocolVersion: "0.3", maxProtocolVersion: "1.1" },
        interfaces: [speaking(OLD), speaking({ protocolVersions: ["1.1"] })],
      }),
      {},
      INCOMPATIBLE,
    ),
    refused(
      "versions between those that an interface names",
      "Interface",
      card({ interfaces: [speaking({ protocolVersions: ["0.3", "1.1"] })] }),
      {},
      INCOMPATIBLE,
    ),
    refused(
      "an interface without version, and a card without range",
      "Interface",
      card({ interfaces: [speaking({})] }),
      {},
      INCOMPATIBLE,
    ),
    refused(
      "an interface whose version is an empty text, and a card without range",
      "Interface",
      card({ interfaces: [speaking({ protocolVersion: "" })] }),
      {},
      INCOMPATIBLE,
    ),
    usable(
      "an interface without version speaks the card's range",
      "Interface",
      card({ top: { minProtocolVersion: "1.0" }, interfaces: [speaking({}), REST] }),
    ),
    usable(
      "an interface with a version speaks no other major version of the card's range",
      "Interface",
      card({
        top: { minProtocolVersion: "0.3", maxProtocolVersion: "1.0" },
        interfaces: [speaking(OLD), speaking({})],
      }),
      {},
      { interface: 1 },
    ),
    refused(
      "neither the binding nor the version",
      ["Interface", "AllReported"],
      card({ top: { minProtocolVersion: "2.0" }, interfaces: [speaking({}, "WAMP")] }),
      {},
      ...(["interface_unsupported", INCOMPATIBLE] as const),
    ),
  ],
};
