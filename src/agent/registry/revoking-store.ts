import { formatTime } from "../../caveats/time.js";
import { latestExpiry } from "../../issuer/token-revocation.js";
import type { RevocationSink } from "../../revocation/source.js";
import type { AgentGrant } from "./records.js";
import type {
  RegistryDraft,
  RegistryStore,
  RegistryView,
  SingleUse,
  UseOutcome,
} from "./registry-store.js";

/** Thrown out of a change: its revocations must be made before the change is recorded. */
class RevokeFirst extends Error {
  override readonly name = "RevokeFirst";
  readonly grants: readonly AgentGrant[];

  constructor(grants: readonly AgentGrant[]) {
    super("the capabilities of these grants are to be revoked first");
    this.grants = grants;
  }
}

/** Number of times that a change may find more to revoke. */
const MAX_RUNS = 16;

/** Ends no grant before its capability is revoked: a crash in between leaves dead tokens, never live ones. */
export class RevokingStore implements RegistryStore {
  readonly #store: RegistryStore;
  readonly #revocations: RevocationSink;
  readonly #clock: () => number;
  readonly #ending = new WeakMap<RegistryDraft, AgentGrant[]>();

  constructor(store: RegistryStore, revocations: RevocationSink, clock: () => number) {
    this.#store = store;
    this.#revocations = revocations;
    this.#clock = clock;
  }

  read<T>(look: (view: RegistryView) => Promise<T>): Promise<T> {
    return this.#store.read(look);
  }

  async change<T>(change: (draft: RegistryDraft) => Promise<T>): Promise<T> {
    const revoked = new Set<string>();
    for (let run = 1; ; run++) {
      try {
        return await this.#store.change(async (draft) => {
          const ending: AgentGrant[] = [];
          this.#ending.set(draft, ending);
          const result = await change(draft);
          const alive = ending.filter(({ capabilityId }) => !revoked.has(capabilityId));
          if (alive.length > 0) throw new RevokeFirst(alive);
          return result;
        });
      } catch (error) {
        if (!(error instanceof RevokeFirst) || run === MAX_RUNS) throw error;
        for (const grant of error.grants) {
          await this.#revoke(grant);
          revoked.add(grant.capabilityId);
        }
      }
    }
  }

  /** Says that the change ends a grant: its capability is revoked first. */
  ends(draft: RegistryDraft, grant: AgentGrant): void {
    if (grant.status === "active") this.#ending.get(draft)?.push(grant);
  }

  /** Revokes all that was issued for a principal up to now, whatever it was. */
  async revokePrincipal(id: string): Promise<void> {
    const now = this.#clock();
    const times = { at: formatTime(now), until: latestExpiry(now) };
    // Tokens carry whole seconds: the next second is after every token issued so far.
    const before = formatTime(now + 1000);
    await this.#revocations.add({ kind: "principal", id, before, ...times });
  }

  useOnce(use: SingleUse, now: number): Promise<UseOutcome> {
    return this.#store.useOnce(use, now);
  }

  prune(now: number): Promise<number> {
    return this.#store.prune(now);
  }

  async #revoke({ capabilityId: id, expires }: AgentGrant): Promise<void> {
    const at = formatTime(this.#clock());
    // No token of it outlives the grant.
    const until = expires === undefined ? {} : { until: formatTime(expires + 1000) };
    await this.#revocations.add({ kind: "capability", id, at, ...until });
  }
}
