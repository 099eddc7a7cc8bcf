import { isObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import { camelCase, snakeCase } from "./fields.js";
import { compareVersions, type ProtocolVersion, parseVersion } from "./versions.js";

/** The declaration that a capability needs, at one protocol version, before it is relied on. */
export type CapabilityTier =
  /** Every agent has it; no card declares it. */
  | "implicit"
  /** An agent has it if its card declares it. */
  | "declared"
  /** As `declared`; it works, and something else supersedes it. */
  | "deprecated"
  /** The version no longer has it. */
  | "removed";

/** One capability, in one version of the registry. */
export interface RegisteredCapability {
  readonly name: string;
  /** Every agent has it (`implicit`), or those whose card declares it; {@link tierAt} has its later life. */
  readonly tier: "implicit" | "declared";
  /** The behaviour of an agent that has it. */
  readonly description?: string;
  /** The protocol version that it is there from. */
  readonly introduced: string;
  /** The protocol version that marks it as deprecated: the first of a major release. */
  readonly deprecated?: string;
  /** The protocol version that no longer has it: of a later major release than the deprecating one. */
  readonly removed?: string;
  /** The capability to use instead, if it is deprecated. */
  readonly supersededBy?: string;
  /** An agent has it only if every agent that it delegates to has it too. */
  readonly propagates?: true;
  /** A member of A2A's own `capabilities` that has to be true as well, and alone says too little. */
  readonly needs?: string;
  /** A2A's own flag: only that member of a card's `capabilities` declares it, and no extension's params. */
  readonly isOwnFlag?: true;
}

/** The capabilities of one protocol version. */
export interface CapabilityRegistry {
  /** The protocol version that this registry describes. */
  readonly version: string;
  readonly capabilities: readonly RegisteredCapability[];
}

const introduced = "1.0";

/** The capabilities that protocol version 1.0 knows (docs/spec.md, section 14.1). */
export const CAPABILITY_REGISTRY: CapabilityRegistry = {
  version: "1.0",
  capabilities: [
    {
      name: "send_message",
      tier: "implicit",
      description: "takes one message without history (SendMessage)",
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
      description: "answers faults with the protocol's errors",
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
      description:
        "shows callers that authenticate a card with more in it; A2A's own extendedAgentCard",
      introduced: "0.2",
      isOwnFlag: true,
    },
    {
      name: "pause_resume",
      tier: "declared",
      description: "pauses a task and goes on with it",
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
      description: "takes registrations for push notifications; A2A's own pushNotifications",
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
      description: "serves several tenants, each apart from the others",
      introduced,
    },
    {
      name: "message_history_injection",
      tier: "declared",
      description: "takes history that the caller writes into SendMessage",
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

/** A vendor's own capability: an absolute URI, or a name under a domain that is turned round. */
const VENDOR_URI = /^(?:https?:\/\/|urn:)[^\s]{1,500}$/i;
const VENDOR_NAME = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+$/i;

/** Tests for a vendor's name, such as `urn:acme:voice:1` or `com.acme.voice`: no registry has those. */
export function isVendorCapability(name: string): boolean {
  return name.length <= 512 && (VENDOR_URI.test(name) || VENDOR_NAME.test(name));
}

/** The entry of a capability; `undefined` if the registry has none. */
export function registeredCapability(
  name: string,
  { capabilities }: CapabilityRegistry = CAPABILITY_REGISTRY,
): RegisteredCapability | undefined {
  return capabilities.find((one) => one.name === name);
}

/** The tier of a capability at one protocol version: deprecated and removed from the versions that say so. */
export function tierAt(
  { tier, deprecated, removed }: RegisteredCapability,
  version: ProtocolVersion,
): CapabilityTier {
  if (isReached(removed, version)) return "removed";
  return isReached(deprecated, version) ? "deprecated" : tier;
}

/** Tests whether a version is `moment` or follows it; false if `moment` is absent or unreadable. */
function isReached(moment: string | undefined, version: ProtocolVersion): boolean {
  const from = moment === undefined ? undefined : parseVersion(moment);
  return from !== undefined && compareVersions(version, from) >= 0;
}

/** Returns the registry's name for one in camelCase, such as `pushNotifications`; other names as they are. */
export function registeredName(
  name: string,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): string {
  const known = snakeCase(name);
  const isRegistered = registeredCapability(known, registry) !== undefined;
  return isRegistered && camelCase(known) === name ? known : name;
}

/** Tests whether an agent has a capability only if every agent that it delegates to has it too. */
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
 * Throws unless a value has a registry's form, such as one that comes from a file. What its versions and names
 * say is left to the rules of stability.
 *
 * @throws TypeError naming the member.
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
