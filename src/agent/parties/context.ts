// State and options that the functions of this folder share.

import { encodeBase64url } from "../../bytes/base64.js";
import type { RevocationSource } from "../../revocation/source.js";
import type { Policy } from "../policy.js";
import type { Approvals } from "./approvals.js";
import type { SettledSettings } from "./settings.js";
import type { RevokingStore } from "./store.js";
import type { CapabilityTerms } from "./terms.js";

export interface PartiesContext {
  readonly store: RevokingStore;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  readonly terms: CapabilityTerms | undefined;
  readonly policy: Policy | undefined;
  readonly revocations: RevocationSource;
  readonly settings: SettledSettings;
  readonly approvals: Approvals;
}

/** Returns a new record's id, with 128 random bits. */
export function newId(kind: string, { random }: Pick<PartiesContext, "random">): string {
  return `${kind}_${encodeBase64url(random(16))}`;
}
