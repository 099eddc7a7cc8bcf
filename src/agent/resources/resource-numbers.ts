import { randomBytes } from "../../bytes/random.js";

/** Assigns each resource name a permanent number, the same in all capabilities. A handle is the sealed number. */
export interface ResourceNumbers {
  /** Returns the number of each name. Fulfilled once new numbers are durable, so that a capability may use them. */
  numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns the name of each number; numbers without a name are omitted. */
  namesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** Returns `length` cryptographically random bytes. */
export type RandomSource = (length: number) => Uint8Array;

/**
 * Returns 53 random bits. With consecutive numbers, a store restored from a backup could reuse the number of a
 * lost name for another resource. Handles in old capabilities would then name that other resource.
 */
export function newResourceNumber(random: RandomSource): number {
  const bits = new DataView(Uint8Array.from(random(8)).buffer);
  return (bits.getUint32(0) >>> 11) * 2 ** 32 + bits.getUint32(4);
}

/** Keeps the numbers in memory. When the process ends, all handles become invalid. */
export class ResourceNumbersInMemory implements ResourceNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();
  readonly #random: RandomSource;

  constructor(random: RandomSource = randomBytes) {
    this.#random = random;
  }

  async numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(names.map((name) => [name, this.#numberOf(name)]));
  }

  async namesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    for (const number of numbers) {
      const name = this.#names.get(number);
      if (name !== undefined) found.set(number, name);
    }
    return found;
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    let number = newResourceNumber(this.#random);
    while (this.#names.has(number)) number = newResourceNumber(this.#random);
    this.#numbers.set(name, number);
    this.#names.set(number, name);
    return number;
  }
}
