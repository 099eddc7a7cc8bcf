import { card, DISCOVERY, ENDPOINT, ONE, speaking } from "./discovery-parts.js";
import { type DiscoverySubject, malformed, refused, usable } from "./discovery-test.js";

const PAUSES = { capabilities: ["pause_resume"] };
const STREAMS = { capabilities: ["streaming_message"] };
const PUSHES = { capabilities: ["push_notifications"] };
const UNDECLARED = "capability_undeclared";
const IN_1_1 = { protocolVersion: "1.1" };
const NOTHING = speaking({});
/** Flags that A2A itself defines: the registry's name for each, and A2A's name. */
const OWN = [
  ["streaming", "streaming"],
  ["push_notifications", "pushNotifications"],
  ["extended_agent_card", "extendedAgentCard"],
] as const;

export const places: DiscoverySubject = {
  type: "discover",
  subject: "where a card declares",
  comment: "Section 14.3: at the top or in the extension, in either spelling, saying one thing",
  tests: [
    usable(
      "the range at the top, in snake_case",
      ["Normal", "Places"],
      card({
        top: { min_protocol_version: "1.0", max_protocol_version: "1.2" },
        interfaces: [NOTHING],
      }),
    ),
    usable(
      "the range at the top, in camelCase",
      "Places",
      card({ top: { minProtocolVersion: "1.0" }, interfaces: [NOTHING] }),
    ),
    usable(
      "the range in params",
      ["Normal", "Places"],
      card({ params: { minProtocolVersion: "1.0" }, interfaces: [NOTHING] }),
    ),
    usable(
      "the range in params, in snake_case",
      "Places",
      card({ params: { min_protocol_version: "1.0" }, interfaces: [NOTHING] }),
    ),
    usable(
      "a flag in params",
      ["Normal", "Places"],
      card({ params: { capabilities: { pause_resume: true } } }),
      PAUSES,
    ),
    usable("a flag in camelCase", "Places", card({ flags: { pauseResume: true } }), PAUSES),
    usable(
      "a flag in camelCase in params",
      "Places",
      card({ params: { capabilities: { pauseResume: true } } }),
      PAUSES,
    ),
    usable(
      "a flag in both places",
      "Places",
      card({ flags: { pause_resume: true }, params: { capabilities: { pauseResume: true } } }),
      PAUSES,
    ),
    usable(
      "a flag that is null in one place",
      "Places",
      card({ flags: { pause_resume: true }, params: { capabilities: { pause_resume: null } } }),
      PAUSES,
    ),
    refused(
      "a flag in params of another extension",
      "Places",
      card({
        extensions: [
          { uri: "urn:proviso:a2a:discovery:2", params: { capabilities: { pause_resume: true } } },
        ],
      }),
      PAUSES,
      UNDECLARED,
    ),
    refused(
      "a flag at the top of the card",
      "Places",
      card({ top: { pause_resume: true } }),
      PAUSES,
      UNDECLARED,
    ),
    usable(
      "a bound that is an empty text",
      "Places",
      card({ top: { minProtocolVersion: "", maxProtocolVersion: null } }),
    ),
    usable(
      "a bound in both places, one with a patch part",
      "Places",
      card({ top: { minProtocolVersion: "1.0" }, params: { minProtocolVersion: "1.0.3" } }),
    ),
    usable(
      "delegates at the top say nothing, in whatever form",
      "Places",
      card({ top: { delegates: "everyone" } }),
    ),
    usable(
      "a vendor's interfaces at the top say nothing, in whatever form",
      "Places",
      card({ top: { interfaces: { mcp: "https://agent.example/mcp" } } }),
    ),
    usable(
      "a vendor's interfaces at the top are no interfaces of the card",
      "Places",
      card({ top: { interfaces: [{ url: "javascript:alert(1)", protocolBinding: "JSONRPC" }] } }),
    ),
    usable(
      "versions of an interface at the interface",
      ["Normal", "Places"],
      card({ interfaces: [speaking({ ...ONE, protocolVersions: ["1.0", "1.1"] })] }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "versions of an interface in snake_case",
      "Places",
      card({ interfaces: [speaking({ ...ONE, protocol_versions: ["1.0", "1.1"] })] }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "versions of an interface in params",
      "Places",
      card({ params: { interfaces: [{ url: ENDPOINT, protocolVersions: ["1.0", "1.1"] }] } }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "versions of an interface in both places, in another order",
      "Places",
      card({
        params: { interfaces: [{ url: ENDPOINT, protocol_versions: ["1.1", "1.0"] }] },
        interfaces: [speaking({ ...ONE, protocolVersions: ["1.0", "1.1"] })],
      }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "interfaces in snake_case",
      "Places",
      card({
        top: {
          supportedInterfaces: null,
          supported_interfaces: [
            { url: ENDPOINT, protocol_binding: "JSONRPC", protocol_version: "1.0" },
          ],
        },
      }),
    ),
    usable(
      "versions in params, of an interface whose binding is in snake_case",
      "Places",
      card({
        params: {
          interfaces: [
            { url: ENDPOINT, protocol_binding: "JSONRPC", protocol_versions: ["1.0", "1.1"] },
          ],
        },
      }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "versions in params, with a binding that is an empty text",
      "Places",
      card({
        params: {
          interfaces: [{ url: ENDPOINT, protocolBinding: "", protocolVersions: ["1.0", "1.1"] }],
        },
      }),
      IN_1_1,
      { version: "1.1" },
    ),
    usable(
      "a single version in params, of an interface, says nothing",
      "Places",
      card({
        params: {
          interfaces: [{ url: ENDPOINT, protocolVersions: ["1.0"], protocolVersion: "2.0" }],
        },
      }),
    ),
    usable(
      "params of another extension say nothing, in whatever form",
      "Places",
      card({ extensions: [{ uri: "urn:acme:voice", params: "loud" }] }),
    ),
    usable(
      "flags that are neither A2A's nor a vendor's say nothing, in whatever form",
      "Places",
      card({
        flags: { memory: true, longMemory: true, long_memory: false },
        params: { capabilities: { memory: false, recall: "all" } },
      }),
    ),
    refused(
      "versions in params are those of the interface with that binding",
      "Places",
      card({
        params: {
          interfaces: [
            { url: ENDPOINT, protocolBinding: "WAMP", protocolVersions: ["1.0", "1.1"] },
          ],
        },
        interfaces: [speaking(ONE), speaking(ONE, "WAMP", ENDPOINT)],
      }),
      IN_1_1,
      "version_incompatible",
    ),
    refused(
      "versions in params are those of the interface with that URL",
      "Places",
      card({
        params: { interfaces: [{ url: `${ENDPOINT}/1`, protocolVersions: ["1.0", "1.1"] }] },
        interfaces: [speaking(ONE), speaking(ONE, "WAMP")],
      }),
      IN_1_1,
      "version_incompatible",
    ),
  ],
};

export const contradictions: DiscoverySubject = {
  type: "discover",
  subject: "cards that contradict themselves",
  comment: "Section 14.3: a card that says two things is malformed",
  tests: [
    malformed(
      "a flag that the other place denies",
      "Contradiction",
      card({ flags: { pause_resume: true }, params: { capabilities: { pause_resume: false } } }),
    ),
    malformed(
      "a flag that the other spelling denies",
      "Contradiction",
      card({ flags: { pause_resume: true, pauseResume: false } }),
    ),
    malformed(
      "a vendor's flag that the other place denies",
      "Contradiction",
      card({ flags: { "com.acme.v": false }, params: { capabilities: { "com.acme.v": true } } }),
    ),
    malformed(
      "a vendor's flag that the other spelling denies",
      "Contradiction",
      card({ flags: { "com.acme.voiceChat": true, "com.acme.voice_chat": false } }),
    ),
    usable(
      "URIs in what would be two spellings are two flags",
      "Normal",
      card({ flags: { "https://acme.example/aB": true, "https://acme.example/a_b": false } }),
    ),
    malformed(
      "two earliest versions in two places",
      "Contradiction",
      card({ top: { minProtocolVersion: "0.9" }, params: { minProtocolVersion: "1.0" } }),
    ),
    malformed(
      "two latest versions in two spellings",
      "Contradiction",
      card({ top: { maxProtocolVersion: "1.2", max_protocol_version: "1.3" } }),
    ),
    malformed(
      "an interface's versions in two places",
      "Contradiction",
      card({
        params: { interfaces: [{ url: ENDPOINT, protocolVersions: ["1.0", "1.1"] }] },
        interfaces: [speaking({ protocolVersions: ["1.0"] })],
      }),
    ),
    malformed(
      "versions in params, of an interface that the card does not have",
      "Contradiction",
      card({ params: { interfaces: [{ url: `${ENDPOINT}/1`, protocolVersions: ["1.0"] }] } }),
    ),
    malformed(
      "versions in params, of a binding that the interface does not have",
      "Contradiction",
      card({
        params: {
          interfaces: [{ url: ENDPOINT, protocolBinding: "GRPC", protocolVersions: ["1.0"] }],
        },
      }),
    ),
    malformed(
      "interfaces in two spellings",
      "Contradiction",
      card({
        top: {
          supported_interfaces: [
            { url: ENDPOINT, protocol_binding: "JSONRPC", protocol_version: "1.0" },
          ],
        },
      }),
    ),
    malformed(
      "an interface's binding in two spellings",
      "Contradiction",
      card({ interfaces: [speaking({ ...ONE, protocol_binding: "GRPC" })] }),
    ),
    malformed(
      "versions without the interface's own",
      "Contradiction",
      card({ interfaces: [speaking({ ...ONE, protocolVersions: ["1.1", "1.2"] })] }),
    ),
    malformed(
      "an interface before the card's range",
      "Contradiction",
      card({
        top: { minProtocolVersion: "1.0" },
        interfaces: [speaking(ONE), speaking({ protocolVersion: "0.3" })],
      }),
    ),
    malformed(
      "an interface after the card's range, among its versions",
      "Contradiction",
      card({
        params: { maxProtocolVersion: "1.1" },
        interfaces: [speaking({ protocolVersions: ["1.0", "1.2"] })],
      }),
    ),
    malformed(
      "a range turned round",
      "Contradiction",
      card({
        top: { minProtocolVersion: "1.2", maxProtocolVersion: "1.0" },
        interfaces: [NOTHING],
      }),
    ),
    malformed(
      "a range turned round by two places",
      "Contradiction",
      card({
        top: { minProtocolVersion: "1.2" },
        params: { maxProtocolVersion: "1.1" },
        interfaces: [NOTHING],
      }),
    ),
    malformed(
      "grants that differ in two places",
      "Contradiction",
      card({
        top: { capabilityGrants: [{ id: "clock:read", operations: ["now", "zone"] }] },
        grants: [{ id: "clock:read", operations: ["now"] }],
      }),
    ),
    malformed(
      "grants that differ in a member of a vendor's",
      "Contradiction",
      card({
        top: { capabilityGrants: [{ id: "clock:read", operations: ["now"], region: "eu" }] },
        grants: [{ id: "clock:read", operations: ["now"] }],
      }),
    ),
    malformed(
      "a grant that one place leaves out",
      "Contradiction",
      card({
        top: { capabilityGrants: [] },
        grants: [{ id: "clock:read", operations: ["now"] }],
      }),
    ),
  ],
};

export const ownFlags: DiscoverySubject = {
  type: "discover",
  subject: "A2A's own flags",
  comment: "Section 14.3: pushNotifications is push_notifications, streaming is no declaration",
  tests: [
    usable(
      "pushNotifications declares push_notifications",
      ["Normal", "Declaration"],
      card({ flags: { pushNotifications: true } }),
      PUSHES,
    ),
    malformed(
      "pushNotifications denies push_notifications",
      "Contradiction",
      card({ flags: { pushNotifications: false, push_notifications: true } }),
    ),
    malformed(
      "params deny pushNotifications",
      "Contradiction",
      card({
        flags: { pushNotifications: true },
        params: { capabilities: { push_notifications: false } },
      }),
    ),
    refused(
      "streaming is not sufficient for streaming_message",
      "Declaration",
      card({ flags: { streaming: true } }),
      STREAMS,
      UNDECLARED,
    ),
    refused(
      "streaming is necessary for streaming_message",
      "Declaration",
      card({ flags: { streaming_message: true } }),
      STREAMS,
      UNDECLARED,
    ),
    refused(
      "streaming in params is not A2A's own",
      "Declaration",
      card({ params: { capabilities: { streaming: true, streaming_message: true } } }),
      STREAMS,
      UNDECLARED,
    ),
    usable(
      "streaming, and streaming_message in params",
      ["Normal", "Declaration"],
      card({
        flags: { streaming: true },
        params: { capabilities: { streaming_message: true } },
      }),
      STREAMS,
    ),
    malformed(
      "streaming_message without streaming",
      "Contradiction",
      card({ flags: { streaming: false, streaming_message: true } }),
    ),
    usable(
      "streaming without streaming_message is no contradiction",
      "Declaration",
      card({ flags: { streaming: true, streaming_message: false } }),
    ),
    usable(
      "artifact_streaming needs no streaming",
      "Declaration",
      card({ params: { capabilities: { artifact_streaming: true } } }),
      { capabilities: ["artifact_streaming"] },
      { warnings: ["capability_deprecated"] },
    ),
    ...OWN.flatMap(([name, member]) => [
      usable(
        `${member} may be required by A2A's own name`,
        ["Normal", "Declaration"],
        card({ flags: { [member]: true } }),
        { capabilities: [member] },
      ),
      usable(`${name} is the same`, "Declaration", card({ flags: { [member]: true } }), {
        capabilities: [name],
      }),
      usable(`${member} in snake_case`, "Declaration", card({ flags: { [name]: true } }), {
        capabilities: [member],
      }),
      refused(
        `${member} that is false`,
        "Declaration",
        card({ flags: { [member]: false } }),
        { capabilities: [member] },
        UNDECLARED,
      ),
      refused(`${member}, silence`, "Declaration", card(), { capabilities: [member] }, UNDECLARED),
      malformed(
        `${member} is neither true nor false`,
        "TypeConfusion",
        card({ flags: { [member]: "yes" } }),
      ),
    ]),
    ...["streaming", "extendedAgentCard"].map((member) =>
      refused(
        `${member} in params is not A2A's own, and cannot be required`,
        ["Declaration", "Places"],
        card({ params: { capabilities: { [member]: true } } }),
        { capabilities: [member] },
        UNDECLARED,
      ),
    ),
    usable(
      "what is required may be in camelCase",
      "Declaration",
      card({ flags: { pause_resume: true } }),
      { capabilities: ["pauseResume"] },
    ),
    usable(
      "the extension itself without params",
      "Declaration",
      card({ extensions: [{ uri: DISCOVERY }] }),
    ),
  ],
};
