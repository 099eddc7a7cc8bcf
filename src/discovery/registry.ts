/** What a card must say of a capability before it is relied on. */
type CapabilityTier =
  /** Every agent has it; no card declares it. */
  | "implicit"
  /** An agent has it if its card declares it. */
  | "declared"
  /** As `declared`; it works, and something else supersedes it. */
  | "deprecated";

/** One capability, in one version of the registry. */
export interface RegisteredCapability {
  readonly name: string;
  readonly tier: CapabilityTier;
  /** What an agent with it does. */
  readonly description: string;
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
}

/** The capabilities of one protocol version. */
export interface CapabilityRegistry {
  /** The protocol version that this registry describes. */
  readonly version: string;
  readonly capabilities: readonly RegisteredCapability[];
}

const introduced = "1.0";

/** The capabilities that protocol version 1.0 knows (docs/spec.md, "Capability declaration and discovery"). */
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
      tier: "deprecated",
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

/** Whether a name is a vendor's, such as `urn:acme:voice:1` or `com.acme.voice`: no registry has those. */
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

/** Whether an agent has a capability only if every agent that it delegates to has it too. */
export function propagates(name: string): boolean {
  return registeredCapability(name, CAPABILITY_REGISTRY)?.propagates === true;
}
