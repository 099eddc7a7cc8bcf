import type { RevocationSource } from "../../revocation/source.js";
import type { Approvals } from "../approvals/approvals.js";
import type { Policy } from "../policy.js";
import type { RevokingStore } from "./revoking-store.js";
import type { SettledSettings } from "./settings.js";
import type { CapabilityTerms } from "./terms.js";

export interface RegistryContext {
  readonly store: RevokingStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  readonly terms: CapabilityTerms | undefined;
  readonly policy: Policy | undefined;
  readonly revocations: RevocationSource;
  readonly settings: SettledSettings;
  readonly approvals: Approvals;
}
