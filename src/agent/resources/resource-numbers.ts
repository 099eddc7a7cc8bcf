import { randomBytes } from "../../bytes/random.js";

/** A name gets its number once and for good, in all capabilities. A handle is this number, sealed. */
export interface ResourceNumbers {
  /** A new name's number is kept safely before this is fulfilled, so that a capability may name it. */
  numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The name of each number; a number that no name has is left out. */
  namesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** Gives so many cryptographically random bytes. */
export type RandomSource = (length: number) => Uint8Array;

/**
 * 53 random bits. In turn, a restored store would give lost names' numbers to others, in old capabilities
 * too.
 */
export function newResourceNumber(random: RandomSource): number {
  const bits = new DataView(Uint8Array.from(random(8)).buffer);
  return (bits.getUint32(0) >>> 11) * 2 ** 32 + bits.getUint32(4);
}

/** Numbers that are kept in memory, and end with the process: after it, all handles are noise. */
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
