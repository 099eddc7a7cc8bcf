import type { JsonObject } from "../../bytes/json.js";
import { meant } from "../../checks/members.js";
import type { SessionAuthority } from "./authority.js";
import type { Dialect } from "./dialect.js";
import {
  CAPABILITY_NAMES,
  type CapabilityName,
  isCapabilityName,
  reservedReason,
} from "./plugin.js";
import type { PluginMetadata, Registry } from "./registry.js";

/** One entry of `accepted_caps`. */
export interface AcceptedCapability {
  /** The requested name. */
  readonly capability: string;
  readonly enabled: boolean;
  /**
   * The metadata of the capability's first plugin if the capability is enabled; otherwise a stable code and the reason.
   */
  readonly metadata: PluginMetadata | { readonly code: string; readonly reason: string };
}

const MAX_SHOWN = 64;

/** Decides for each requested capability whether it is enabled. The entries are in the order of the request. */
export function negotiate(
  asked: readonly string[],
  registry: Registry,
  authority: SessionAuthority,
): readonly AcceptedCapability[] {
  return asked.map((name) => {
    if (!isCapabilityName(name)) {
      const reason = `A2E has no such capability${meant(name, CAPABILITY_NAMES)}`;
      return refused(name.slice(0, MAX_SHOWN), "capability_unknown", reason);
    }
    const reserved = reservedReason(name);
    if (reserved !== undefined) return refused(name, "reserved", reserved);
    const metadata = registry.metadata(name);
    if (metadata === undefined) return refused(name, "plugin_missing", "no plugin loaded");
    const verdict = authority.verdict(name, registry.operationsOf(name));
    if (!verdict.enabled) return refused(name, verdict.code, verdict.reason);
    return { capability: name, enabled: true, metadata };
  });
}

/** Returns the names of the enabled capabilities. */
export function enabledIn(accepted: readonly AcceptedCapability[]): ReadonlySet<CapabilityName> {
  return new Set(
    accepted.flatMap(({ capability, enabled }) =>
      enabled && isCapabilityName(capability) ? [capability] : [],
    ),
  );
}

/**
 * Converts entries to the `accepted_caps` of a message.
 *
 * @param omit - True to leave out capabilities that are not enabled.
 * @param dialect - For `sdk`, entries with unknown names are left out, because the SDK's client rejects an answer that
 *   contains an unknown name.
 */
export function writtenCapabilities(
  accepted: readonly AcceptedCapability[],
  omit: boolean,
  dialect: Dialect,
): readonly JsonObject[] {
  return accepted
    .filter(({ enabled }) => enabled || !omit)
    .filter(({ capability }) => dialect === "own" || isCapabilityName(capability))
    .map(({ capability, enabled, metadata }) => ({
      capability,
      enabled,
      metadata: { ...metadata },
    }));
}

function refused(capability: string, code: string, reason: string): AcceptedCapability {
  return { capability, enabled: false, metadata: { code, reason } };
}
