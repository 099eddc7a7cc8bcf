import type { Effects, Harm } from "./judge.js";

/** The classes of attacks. Each is tried in several scenarios. */
export const KINDS = [
  "other handles",
  "other capabilities' handles",
  "wider operations",
  "arguments out of bounds",
  "later times",
  "replay after revocation",
  "a parent rebuilt from a child",
  "swapped principals",
  "calls hidden in text",
  "another agent's token",
  "an id without its token",
  "a bound token, handed on",
  "legacy fall-back",
  "asking for more",
  "task spawning",
  "others' tasks",
  "revoking others' capabilities",
] as const;

export type Kind = (typeof KINDS)[number];

/** The number of attempts, and of those that did harm. */
export interface Count {
  tried: number;
  succeeded: number;
}

/** The outcome of one scenario in one mode. */
export interface Outcome {
  readonly tried: number;
  readonly succeeded: number;
  /** Number of calls whose effects the task needs anyway. */
  readonly within: number;
  readonly steps: number;
  readonly stepsDone: number;
  readonly kinds: { readonly [kind: string]: Readonly<Count> };
  /** Number of calls refused for a single reason, by reason. */
  readonly reasons: { readonly [code: string]: number };
  /** Every harm that occurred, without duplicates, in order. */
  readonly harms: readonly Harm[];
  /** Failed steps, with the reason. */
  readonly failedSteps: readonly string[];
  /** Answers that report rate limits or server errors. */
  readonly strange: readonly string[];
}

/** Counts attempts, their effects and the task's steps. */
export class Tally {
  readonly #kinds = new Map<Kind, Count>();
  readonly #harms = new Set<Harm>();
  readonly #failed: string[] = [];
  readonly #strange = new Set<string>();
  readonly #reasons = new Map<string, number>();
  readonly #touched: () => void;
  #within = 0;
  #steps = 0;

  /** @param touched - Called whenever a step of the legitimate work may have changed something. */
  constructor(touched: () => void) {
    this.#touched = touched;
  }

  /** Counts one call of an attacker. */
  attempted(kind: Kind, { harms, within }: Effects): void {
    const count = this.#kinds.get(kind) ?? { tried: 0, succeeded: 0 };
    count.tried += 1;
    if (harms.length > 0) count.succeeded += 1;
    else if (within.length > 0) this.#within += 1;
    this.#kinds.set(kind, count);
    for (const harm of harms) this.#harms.add(harm);
  }

  /**
   * Counts a refusal if it had a single reason. Only such a refusal shows that the check protects without help from
   * others.
   */
  refused(codes: readonly string[]): void {
    const [code] = codes;
    if (code === undefined || codes.length > 1) return;
    this.#reasons.set(code, (this.#reasons.get(code) ?? 0) + 1);
  }

  /** Records an answer that is neither a result nor a proper refusal. */
  strange(answer: string): void {
    this.#strange.add(answer);
  }

  /** Runs a step of the legitimate work, and counts whether it succeeds. A failure does not stop the work. */
  async step<T>(name: string, action: () => Promise<T>): Promise<T | undefined> {
    this.#steps += 1;
    try {
      return await action();
    } catch (error) {
      this.#failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    } finally {
      this.#touched();
    }
  }

  outcome(): Outcome {
    const counts = [...this.#kinds.values()];
    return {
      tried: counts.reduce((sum, { tried }) => sum + tried, 0),
      succeeded: counts.reduce((sum, { succeeded }) => sum + succeeded, 0),
      within: this.#within,
      steps: this.#steps,
      stepsDone: this.#steps - this.#failed.length,
      kinds: Object.fromEntries(
        KINDS.flatMap((kind) => {
          const count = this.#kinds.get(kind);
          return count === undefined ? [] : [[kind, count]];
        }),
      ),
      reasons: Object.fromEntries([...this.#reasons].sort()),
      harms: [...this.#harms],
      failedSteps: this.#failed,
      strange: [...this.#strange],
    };
  }
}
