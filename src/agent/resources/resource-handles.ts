import { encodeUtf8 } from "../../bytes/utf8.js";
import type { HandleScope } from "../../issuer/handle.js";
import type { Issuer } from "../../issuer/issuer.js";
import { MAX_RESOURCE_NAME_BYTES } from "./filter.js";
import type { ResourceNumbers } from "./resource-numbers.js";

/** Converts resource names to handles and back. A handle is the number of a name, sealed by the issuer. */
export class ResourceHandles {
  readonly #issuer: Pick<Issuer, "openHandles" | "sealHandles">;
  readonly #numbers: ResourceNumbers;

  constructor(issuer: Pick<Issuer, "openHandles" | "sealHandles">, numbers: ResourceNumbers) {
    this.#issuer = issuer;
    this.#numbers = numbers;
  }

  /**
   * Returns the number of each name, for a capability that is about to be issued.
   *
   * @throws TypeError for a name that does not have 1 to 512 bytes of UTF-8.
   * @throws StorageError if a number cannot be stored.
   */
  async numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    for (const name of names) {
      const bytes = encodeUtf8(name).length;
      if (bytes >= 1 && bytes <= MAX_RESOURCE_NAME_BYTES) continue;
      throw new TypeError(
        `a resource's name must have 1 to ${MAX_RESOURCE_NAME_BYTES} bytes of UTF-8, not ${bytes}`,
      );
    }
    return this.#numbers.numbersOf(names);
  }

  /** Returns the name of each handle in a scope; omits handles of other scopes. */
  async open(scope: HandleScope, handles: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const numbers = this.#issuer.openHandles(scope, handles);
    const names = await this.#numbers.namesOf([...numbers.values()]);
    return composed(numbers, names);
  }

  /**
   * Returns the handle of each name in a scope; an empty map if the scope's key no longer exists.
   * @throws As {@link ResourceHandles.numbersOf} does.
   */
  async seal(scope: HandleScope, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const numbers = await this.numbersOf(names);
    return composed(numbers, this.#issuer.sealHandles(scope, [...numbers.values()]));
  }
}

/** Maps each key of `numbers` to the value that `others` has for its number; omits keys without such a value. */
export function composed(
  numbers: ReadonlyMap<string, number>,
  others: ReadonlyMap<number, string>,
): ReadonlyMap<string, string> {
  const both = new Map<string, string>();
  for (const [from, number] of numbers) {
    const to = others.get(number);
    if (to !== undefined) both.set(from, to);
  }
  return both;
}
