import { card, DISCOVERY, ENDPOINT, olderCard } from "./discovery-parts.js";
import { type DiscoverySubject, malformed, refused, usable } from "./discovery-test.js";

const IN_0_3 = { protocolVersion: "0.3" };
const IN_0_2 = { protocolVersion: "0.2" };
const SPOKEN_0_3 = { version: "0.3" };
const INCOMPATIBLE = "version_incompatible";
const REST = { url: `${ENDPOINT}/rest`, transport: "HTTP+JSON" };
const EXTENDED = { capabilities: ["extendedAgentCard"] };

export const olderCards: DiscoverySubject = {
  type: "discover",
  subject: "cards of A2A before 1.0",
  comment: "Section 14.3: one interface at the top, others below it, one version for all",
  tests: [
    usable("its version", ["Normal", "OlderForm"], olderCard(), IN_0_3, SPOKEN_0_3),
    refused("another version", "OlderForm", olderCard(), {}, INCOMPATIBLE),
    usable(
      "the binding at the top",
      ["Normal", "OlderForm"],
      olderCard({ preferredTransport: "GRPC" }),
      { ...IN_0_3, binding: "GRPC" },
      SPOKEN_0_3,
    ),
    refused(
      "JSON-RPC is not the binding where the card names another one",
      "OlderForm",
      olderCard({ preferredTransport: "GRPC" }),
      { ...IN_0_3, binding: "JSONRPC" },
      "interface_unsupported",
    ),
    usable(
      "an additional interface",
      ["Normal", "OlderForm", "Interface"],
      olderCard({ additionalInterfaces: [REST] }),
      { ...IN_0_3, binding: "HTTP+JSON" },
      { ...SPOKEN_0_3, interface: 1 },
    ),
    usable(
      "an additional interface with the binding that another one has",
      ["OlderForm", "Interface"],
      olderCard({ additionalInterfaces: [{ url: ENDPOINT, transport: "JSONRPC" }, REST] }),
      IN_0_3,
      SPOKEN_0_3,
    ),
    malformed(
      "an additional interface without a usable address",
      "OlderForm",
      olderCard({ additionalInterfaces: [{ url: "/rest", transport: "HTTP+JSON" }] }),
    ),
    malformed("no usable address", "OlderForm", olderCard({ url: "agent.example" })),
    malformed(
      "a version that cannot be read",
      "OlderForm",
      olderCard({ protocolVersion: "latest" }),
    ),
    malformed(
      "a range that excludes its version",
      ["OlderForm", "Contradiction"],
      olderCard({ minProtocolVersion: "1.0" }),
    ),
    usable(
      "a range that widens its version",
      ["OlderForm", "VersionRange"],
      olderCard({ minProtocolVersion: "0.2", maxProtocolVersion: "0.3" }),
      IN_0_2,
      { version: "0.2" },
    ),
    usable(
      "versions of its interface in params",
      ["OlderForm", "Places"],
      olderCard({
        capabilities: {
          extensions: [
            {
              uri: DISCOVERY,
              params: { interfaces: [{ url: ENDPOINT, protocolVersions: ["0.3", "1.0"] }] },
            },
          ],
        },
      }),
    ),
    usable(
      "without a version it is one of 0.2",
      ["Normal", "OlderForm"],
      olderCard({ protocolVersion: "" }),
      IN_0_2,
      { version: "0.2" },
    ),
    usable(
      "without a version it is one of 0.1, too",
      "OlderForm",
      olderCard({ protocolVersion: null }),
      { protocolVersion: "0.1" },
      { version: "0.1" },
    ),
    refused(
      "without a version it is not one of 0.3",
      "OlderForm",
      olderCard({ protocolVersion: null }),
      IN_0_3,
      INCOMPATIBLE,
    ),
    usable(
      "without a version, and with a range, it speaks the range",
      ["OlderForm", "VersionRange"],
      olderCard({ protocolVersion: null, minProtocolVersion: "0.3" }),
    ),
    usable(
      "an empty list of interfaces is as none",
      "OlderForm",
      olderCard({ supportedInterfaces: [] }),
      IN_0_3,
      SPOKEN_0_3,
    ),
    refused(
      "what is at the top of a card that lists interfaces is not read",
      ["OlderForm", "Interface"],
      card({ top: { url: `${ENDPOINT}/old`, protocolVersion: "0.3.0" } }),
      IN_0_3,
      INCOMPATIBLE,
    ),
    usable(
      "what is at the top of a card that lists interfaces may have any form",
      ["OlderForm", "Interface"],
      card({ top: { url: 1, additionalInterfaces: {}, protocolVersion: "latest" } }),
    ),
    usable(
      "supportsAuthenticatedExtendedCard",
      ["Normal", "OlderForm", "Declaration"],
      olderCard({ supportsAuthenticatedExtendedCard: true }),
      { ...IN_0_3, ...EXTENDED },
      SPOKEN_0_3,
    ),
    malformed(
      "supportsAuthenticatedExtendedCard, which capabilities deny",
      ["OlderForm", "Contradiction"],
      olderCard({
        supportsAuthenticatedExtendedCard: true,
        capabilities: { extendedAgentCard: false },
      }),
    ),
    refused(
      "supportsAuthenticatedExtendedCard of a card that lists interfaces",
      ["OlderForm", "Declaration"],
      card({ top: { supportsAuthenticatedExtendedCard: true } }),
      EXTENDED,
      "capability_undeclared",
    ),
  ],
};
