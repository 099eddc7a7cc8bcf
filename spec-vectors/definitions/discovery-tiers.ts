import { card, speaking } from "./discovery-parts.js";
import {
  byRegistry,
  type DiscoverySubject,
  type Members,
  malformed,
  type Requirements,
  refused,
  usable,
} from "./discovery-test.js";

const VOICE = "com.acme.voice";
const VOICE_URI = "https://acme.example/ext/voice/v1";
const UNDECLARED = "capability_undeclared";
const ARTIFACTS = { capabilities: ["artifact_streaming"] };

/** Every capability of the tier `declared`, with the flags that declare it. */
const DECLARED: readonly (readonly [name: string, flags: Members])[] = [
  ["pause_resume", { pause_resume: true }],
  ["streaming_message", { streaming: true, streaming_message: true }],
  ["push_notifications", { push_notifications: true }],
  ["context_reuse", { context_reuse: true }],
  ["multi_tenant", { multi_tenant: true }],
  ["message_history_injection", { message_history_injection: true }],
];

export const tiers: DiscoverySubject = {
  type: "discover",
  subject: "tiers",
  comment: "Section 14.1: silence is no declaration, and implicit capabilities need none",
  tests: [
    usable("no requirement", ["Normal", "Declaration"], card()),
    usable("implicit capabilities, not declared", ["Normal", "Declaration"], card(), {
      capabilities: ["send_message", "get_task", "list_tasks", "error_handling"],
    }),
    ...DECLARED.map(([name, flags]) =>
      usable(`${name}, declared`, ["Normal", "Declaration"], card({ flags }), {
        capabilities: [name],
      }),
    ),
    ...DECLARED.map(([name]) =>
      refused(`${name}, silence`, "Declaration", card(), { capabilities: [name] }, UNDECLARED),
    ),
    refused(
      "a flag that is false",
      "Declaration",
      card({ flags: { pause_resume: false } }),
      { capabilities: ["pause_resume"] },
      UNDECLARED,
    ),
    refused(
      "a flag that is null",
      "Declaration",
      card({ flags: { pause_resume: null } }),
      { capabilities: ["pause_resume"] },
      UNDECLARED,
    ),
    refused(
      "one of two is declared",
      "Declaration",
      card({ flags: { pause_resume: true } }),
      { capabilities: ["pause_resume", "multi_tenant"] },
      UNDECLARED,
    ),
    malformed(
      "an implicit capability denied",
      "Contradiction",
      card({ flags: { send_message: false } }),
    ),
    malformed(
      "an implicit capability denied in params",
      "Contradiction",
      card({ params: { capabilities: { error_handling: false } } }),
    ),
    usable(
      "a flag of a name that is neither registered nor a vendor's says nothing",
      "Declaration",
      card({ flags: { telepathy: "yes" } }),
    ),
  ],
};

export const vendors: DiscoverySubject = {
  type: "discover",
  subject: "capabilities of vendors",
  comment: "Section 14.1: a dotted name or a URI, declared by a flag or an extension",
  tests: [
    usable("a dotted name", ["Normal", "Declaration"], card({ flags: { [VOICE]: true } }), {
      capabilities: [VOICE],
    }),
    usable(
      "a dotted name in params",
      "Declaration",
      card({ params: { capabilities: { [VOICE]: true } } }),
      { capabilities: [VOICE] },
    ),
    usable("a URI as a flag", "Declaration", card({ flags: { [VOICE_URI]: true } }), {
      capabilities: [VOICE_URI],
    }),
    usable(
      "a URI as an extension",
      ["Normal", "Declaration"],
      card({ extensions: [{ uri: VOICE_URI }] }),
      { capabilities: [VOICE_URI] },
    ),
    usable(
      "a URN as an extension",
      "Declaration",
      card({ extensions: [{ uri: "urn:acme:voice" }] }),
      { capabilities: ["urn:acme:voice"] },
    ),
    refused("silence", "Declaration", card(), { capabilities: [VOICE] }, UNDECLARED),
    refused(
      "a flag that is false",
      "Declaration",
      card({ flags: { [VOICE]: false } }),
      { capabilities: [VOICE] },
      UNDECLARED,
    ),
    refused(
      "the beginning of a declared name",
      "SetMembership",
      card({ flags: { [VOICE]: true } }),
      { capabilities: ["com.acme"] },
      UNDECLARED,
    ),
    refused(
      "another version of a declared URI",
      "SetMembership",
      card({ extensions: [{ uri: VOICE_URI }] }),
      { capabilities: ["https://acme.example/ext/voice/v2"] },
      UNDECLARED,
    ),
    refused(
      "a declared URI in another case",
      "SetMembership",
      card({ extensions: [{ uri: VOICE_URI }] }),
      { capabilities: ["https://acme.example/ext/Voice/v1"] },
      UNDECLARED,
    ),
    refused(
      "an extension whose parameters name it",
      "Declaration",
      card({ extensions: [{ uri: "urn:acme:other", params: { [VOICE]: true } }] }),
      { capabilities: [VOICE] },
      UNDECLARED,
    ),
    refused(
      "an extension that a flag denies",
      "Declaration",
      card({ flags: { [VOICE_URI]: false }, extensions: [{ uri: VOICE_URI }] }),
      { capabilities: [VOICE_URI] },
      UNDECLARED,
    ),
    malformed(
      "a flag that is neither true nor false",
      "TypeConfusion",
      card({ flags: { [VOICE]: "yes" } }),
    ),
  ],
};

const DEPRECATED = { warnings: ["capability_deprecated"] };
const LIFE = {
  version: "3.0",
  capabilities: [
    { name: "multi_tenant", tier: "declared", introduced: "1.0" },
    {
      name: "pause_resume",
      tier: "declared",
      introduced: "1.0",
      deprecated: "2.0",
      removed: "3.0",
      supersededBy: "multi_tenant",
    },
    { name: "list_tasks", tier: "implicit", introduced: "1.0", deprecated: "2.0", removed: "3.0" },
  ],
};
const PAUSING = card({
  flags: { pause_resume: true },
  interfaces: [speaking({ protocolVersions: ["1.0", "1.9", "2.0", "2.7", "3.0", "4.1"] })],
});

function pausingIn(protocolVersion: string): Requirements {
  return { protocolVersion, capabilities: ["pause_resume"] };
}

export const deprecation: DiscoverySubject = {
  type: "discover",
  subject: "deprecated and removed capabilities",
  comment: "Sections 14.1, 14.2 and 14.5: usable with a warning, until it is removed",
  tests: [
    usable(
      "a deprecated one, with a warning",
      ["Normal", "Deprecation"],
      card({ flags: { artifact_streaming: true } }),
      ARTIFACTS,
      DEPRECATED,
    ),
    usable(
      "a deprecated one that the caller allows",
      "Deprecation",
      card({ flags: { artifact_streaming: true } }),
      { ...ARTIFACTS, allowDeprecated: true },
      DEPRECATED,
    ),
    refused(
      "a deprecated one that the caller refuses",
      "Deprecation",
      card({ flags: { artifact_streaming: true } }),
      { ...ARTIFACTS, allowDeprecated: false },
      "capability_deprecated",
    ),
    usable(
      "a deprecated one that is declared and not required",
      "Deprecation",
      card({ flags: { artifact_streaming: true } }),
      { allowDeprecated: false },
    ),
    refused("a deprecated one, silence", "Declaration", card(), ARTIFACTS, UNDECLARED),
    refused(
      "the successor does not declare it",
      "Deprecation",
      card({ flags: { streaming: true, streaming_message: true } }),
      ARTIFACTS,
      UNDECLARED,
    ),
    refused(
      "it does not declare its successor",
      "Deprecation",
      card({ flags: { streaming: true, artifact_streaming: true } }),
      { capabilities: ["streaming_message"] },
      UNDECLARED,
    ),
    byRegistry(
      LIFE,
      usable("before the version that deprecates it", "Deprecation", PAUSING, pausingIn("1.9"), {
        version: "1.9",
      }),
    ),
    byRegistry(
      LIFE,
      usable("at the version that deprecates it", "Deprecation", PAUSING, pausingIn("2.0"), {
        version: "2.0",
        ...DEPRECATED,
      }),
    ),
    byRegistry(
      LIFE,
      usable(
        "an implicit one at the version that deprecates it",
        "Deprecation",
        PAUSING,
        { protocolVersion: "2.0", capabilities: ["list_tasks"] },
        { version: "2.0", ...DEPRECATED },
      ),
    ),
    byRegistry(
      LIFE,
      usable("before the version that removes it", "Deprecation", PAUSING, pausingIn("2.7"), {
        version: "2.7",
        ...DEPRECATED,
      }),
    ),
    byRegistry(
      LIFE,
      refused(
        "at the version that removes it, by a card that does not declare it",
        "Deprecation",
        card({ interfaces: [speaking({ protocolVersions: ["1.0", "3.0"] })] }),
        pausingIn("3.0"),
        "capability_removed",
      ),
    ),
    byRegistry(
      LIFE,
      refused(
        "at the version that removes it",
        "Deprecation",
        PAUSING,
        pausingIn("3.0"),
        "capability_removed",
      ),
    ),
    byRegistry(
      LIFE,
      refused(
        "after the version that removes it",
        "Deprecation",
        PAUSING,
        pausingIn("4.1"),
        "capability_removed",
      ),
    ),
  ],
};
