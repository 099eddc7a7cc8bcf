import { fault, type SessionFault } from "./errors.js";
import type { SessionLimits } from "./limits.js";

/** A peer that takes a slot. */
export interface Guest {
  /** True until the peer's handshake has arrived. */
  readonly isSilent: boolean;
  end(of: SessionFault): Promise<void>;
}

/**
 * The slots of a host for sessions, and further slots for peers whose handshake is not complete. If all handshake slots
 * are taken, a new peer replaces a silent peer.
 */
export class SessionSlots {
  readonly #limits: Pick<SessionLimits, "sessions" | "handshakes" | "perPrincipal">;
  readonly #greeting = new Set<Guest>();
  /** The principals of each session. The session counts towards the limit of each of these principals. */
  readonly #sessions = new Map<Guest, readonly string[]>();
  readonly #byPrincipal = new Map<string, number>();

  constructor(limits: Pick<SessionLimits, "sessions" | "handshakes" | "perPrincipal">) {
    this.#limits = limits;
  }

  /**
   * Makes sure that a handshake slot is free.
   *
   * @returns The reason if no slot can be freed.
   */
  makeRoom(): string | undefined {
    const { sessions, handshakes } = this.#limits;
    if (this.#sessions.size >= sessions) return `${sessions} sessions are open, the maximum`;
    if (this.#greeting.size < handshakes) return undefined;
    for (const guest of this.#greeting) {
      if (!guest.isSilent) continue;
      this.#greeting.delete(guest);
      const text = "no handshake has come, and other peers wait for the place";
      void guest.end(fault("too_many_sessions", text));
      return undefined;
    }
    return `${handshakes} handshakes are under way, the maximum`;
  }

  /** Gives a peer a slot for its handshake. */
  greet(guest: Guest): void {
    this.#greeting.add(guest);
  }

  /**
   * Moves a peer from a handshake slot to a session slot.
   *
   * @param principals - The principals of the peer's tokens, without duplicates.
   * @returns The reason if no slot is free.
   */
  open(guest: Guest, principals: readonly string[]): string | undefined {
    const { sessions, perPrincipal } = this.#limits;
    if (this.#sessions.size >= sessions) return `${sessions} sessions are open, the maximum`;
    if (principals.some((one) => (this.#byPrincipal.get(one) ?? 0) >= perPrincipal)) {
      return `${perPrincipal} sessions are open for this principal, the maximum`;
    }
    this.#greeting.delete(guest);
    this.#sessions.set(guest, principals);
    for (const one of principals) {
      this.#byPrincipal.set(one, (this.#byPrincipal.get(one) ?? 0) + 1);
    }
    return undefined;
  }

  /** Releases a peer's handshake slot, if it has one. */
  giveUp(guest: Guest): void {
    this.#greeting.delete(guest);
  }

  /** Releases a peer's session slot, if it has one. */
  free(guest: Guest): void {
    const principals = this.#sessions.get(guest) ?? [];
    this.#sessions.delete(guest);
    for (const one of principals) {
      const left = (this.#byPrincipal.get(one) ?? 0) - 1;
      if (left > 0) this.#byPrincipal.set(one, left);
      else this.#byPrincipal.delete(one);
    }
  }
}
