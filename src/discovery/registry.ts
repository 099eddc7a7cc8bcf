import { isObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import { camelCase, snakeCase } from "./fields.js";
import { compareVersions, type ProtocolVersion, parseVersion } from "./versions.js";

/** The status of a capability in one protocol version, which determines how a card declares it. */
export type CapabilityTier =
  /** Every agent has the capability, without declaring it. */
  | "implicit"
  /** An agent has the capability if its card declares it. */
  | "declared"
  /** Like `declared`. The capability still works, but should no longer be relied on. */
  | "deprecated"
  /** The protocol version no longer has the capability. */
  | "removed";

/** One capability in one version of the registry. */
export interface RegisteredCapability {
  readonly name: string;
  /**
   * `implicit` if every agent has the capability, `declared` if only agents whose card declares the capability
   * have it. {@link tierAt} computes the later tiers.
   */
  readonly tier: "implicit" | "declared";
  /** Completes the sentence "The agent …", for example `lists tasks (ListTasks)`. */
  readonly description?: string;
  /** The first protocol version with the capability. */
  readonly introduced: string;
  /** The protocol version that deprecates the capability: the first of a major release. */
  readonly deprecated?: string;
  /** The first protocol version without the capability, in a later major release than `deprecated`. */
  readonly removed?: string;
  /** The capability to use instead, if this capability is deprecated. */
  readonly supersededBy?: string;
  /** Set for a capability that an agent may declare only if all agents to which it delegates have it, too. */
  readonly propagates?: true;
  /**
   * A property of A2A's own `capabilities` that must also be `true`. That property alone does not declare the
   * capability.
   */
  readonly needs?: string;
  /**
   * Set for A2A's own flags. Only the property of a card's `capabilities` declares such a flag, never an
   * extension's params.
   */
  readonly isOwnFlag?: true;
}

/** The capabilities of one protocol version. */
export interface CapabilityRegistry {
  /** The protocol version that this registry describes. */
  readonly version: string;
  readonly capabilities: readonly RegisteredCapability[];
}

const introduced = "1.0";

/** The capabilities of protocol version 1.0 (docs/spec.md, section 14.1). */
export const CAPABILITY_REGISTRY: CapabilityRegistry = {
  version: "1.0",
  capabilities: [
    {
      name: "send_message",
      tier: "implicit",
      description: "accepts one message without history (SendMessage)",
      introduced,
    },
    {
      name: "get_task",
      tier: "implicit",
      description: "returns a task (GetTask)",
      introduced,
    },
    {
      name: "list_tasks",
      tier: "implicit",
      description: "lists tasks (ListTasks)",
      introduced,
    },
    {
      name: "error_handling",
      tier: "implicit",
      description: "reports errors as the protocol defines them",
      introduced,
    },
    {
      name: "streaming",
      tier: "declared",
      description: "streams the events of a task; A2A's own streaming",
      introduced: "0.1",
      isOwnFlag: true,
    },
    {
      name: "extended_agent_card",
      tier: "declared",
      description: "shows authenticated callers a more detailed card; A2A's own extendedAgentCard",
      introduced: "0.2",
      isOwnFlag: true,
    },
    {
      name: "pause_resume",
      tier: "declared",
      description: "pauses and resumes a task",
      introduced,
    },
    {
      name: "streaming_message",
      tier: "declared",
      description: "streams Message objects with partial: true",
      introduced,
      needs: "streaming",
    },
    {
      name: "push_notifications",
      tier: "declared",
      description: "accepts registrations for push notifications; A2A's own pushNotifications",
      introduced,
    },
    {
      name: "context_reuse",
      tier: "declared",
      description: "shares a context id across separate calls",
      introduced,
      propagates: true,
    },
    {
      name: "multi_tenant",
      tier: "declared",
      description: "serves several tenants, isolated from one another",
      introduced,
    },
    {
      name: "message_history_injection",
      tier: "declared",
      description: "accepts history that the caller writes into SendMessage",
      introduced,
    },
    {
      name: "artifact_streaming",
      tier: "declared",
      description: "streams Artifact objects directly",
      introduced: "0.3",
      deprecated: "1.0",
      supersededBy: "streaming_message",
    },
  ],
};

/** A vendor's capability: an absolute URI, or a name in reverse-domain notation. */
const VENDOR_URI = /^(?:https?:\/\/|urn:)[^\s]{1,500}$/i;
const VENDOR_NAME = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+$/i;

/**
 * Returns whether a name belongs to a vendor's capability, such as `urn:acme:voice:1` or `com.acme.voice`. No
 * registry contains vendors' capabilities.
 */
export function isVendorCapability(name: string): boolean {
  return name.length <= 512 && (VENDOR_URI.test(name) || VENDOR_NAME.test(name));
}

/** Returns the entry of a capability; `undefined` if the registry has none. */
export function registeredCapability(
  name: string,
  { capabilities }: CapabilityRegistry = CAPABILITY_REGISTRY,
): RegisteredCapability | undefined {
  return capabilities.find((one) => one.name === name);
}

/** Returns the tier of a capability in one protocol version, taking deprecation and removal into account. */
export function tierAt(
  { tier, deprecated, removed }: RegisteredCapability,
  version: ProtocolVersion,
): CapabilityTier {
  if (isReached(removed, version)) return "removed";
  return isReached(deprecated, version) ? "deprecated" : tier;
}

/** Tests whether a version is `moment` or later; false if `moment` is absent or cannot be parsed. */
function isReached(moment: string | undefined, version: ProtocolVersion): boolean {
  const from = moment === undefined ? undefined : parseVersion(moment);
  return from !== undefined && compareVersions(version, from) >= 0;
}

/**
 * Converts a name in camelCase, such as `pushNotifications`, to the registry's spelling; returns other names
 * unchanged.
 */
export function registeredName(
  name: string,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): string {
  const known = snakeCase(name);
  const isRegistered = registeredCapability(known, registry) !== undefined;
  return isRegistered && camelCase(known) === name ? known : name;
}

/** Returns whether an agent has a capability only if every agent to which it delegates has it, too. */
export function propagates(name: string, registry?: CapabilityRegistry): boolean {
  return registeredCapability(name, registry)?.propagates === true;
}

const ENTRY: { readonly [Name in keyof RegisteredCapability]-?: "text" | "tier" | "mark" } = {
  name: "text",
  tier: "tier",
  description: "text",
  introduced: "text",
  deprecated: "text",
  removed: "text",
  supersededBy: "text",
  propagates: "mark",
  needs: "text",
  isOwnFlag: "mark",
};
const REQUIRED: readonly (keyof RegisteredCapability)[] = ["name", "tier", "introduced"];
const TIERS = ["implicit", "declared"];

/**
 * Throws unless a value, for example from a file, has the form of a registry. `checkRegistry` checks its
 * versions and names.
 *
 * @throws TypeError naming the property.
 */
export function assertRegistry(
  value: unknown,
  where = "registry",
): asserts value is CapabilityRegistry {
  if (!isObject(value)) throw notA(where, "an object with version and capabilities", value);
  assertMembers(value, ["version", "capabilities"], where);
  if (typeof value["version"] !== "string") {
    throw new TypeError(`${where}.version: expected a version such as "1.0"`);
  }
  const { capabilities } = value;
  if (!Array.isArray(capabilities)) {
    throw new TypeError(`${where}.capabilities: expected an array`);
  }
  for (const [at, entry] of capabilities.entries()) {
    assertEntry(entry, `${where}.capabilities[${at}]`);
  }
}

function assertEntry(entry: unknown, where: string): void {
  if (!isObject(entry)) throw new TypeError(`${where}: expected an object`);
  assertMembers(entry, Object.keys(ENTRY), where);
  const absent = REQUIRED.find((name) => entry[name] === undefined);
  if (absent !== undefined) throw new TypeError(`${where}.${absent}: is missing`);
  for (const [name, form] of Object.entries(ENTRY)) {
    const member = entry[name];
    if (member === undefined) continue;
    if (form === "text" && (typeof member !== "string" || member === "")) {
      throw new TypeError(`${where}.${name}: expected a string that is not empty`);
    }
    if (form === "mark" && member !== true) {
      throw new TypeError(`${where}.${name}: expected true, or nothing`);
    }
    if (form === "tier" && !TIERS.includes(String(member))) {
      const hint = typeof member === "string" ? meant(member, TIERS) : "";
      throw new TypeError(`${where}.${name}: expected "implicit" or "declared"${hint}`);
    }
  }
}
