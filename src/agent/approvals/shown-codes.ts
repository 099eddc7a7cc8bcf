import type { Approval } from "./approval.js";
import { hashOfUserCode } from "./user-code.js";

const MOST = 10_000;

/** User codes that this process has shown: the store has their hashes alone. */
export class ShownCodes {
  readonly #codes = new Map<string, { readonly code: string; readonly expires: number }>();

  /** @param now - Milliseconds since 1970. */
  show({ id, expires }: Approval, code: string, now: number): void {
    if (this.#codes.size >= MOST) {
      for (const [other, kept] of this.#codes) if (kept.expires <= now) this.#codes.delete(other);
    }
    const [oldest] = this.#codes.keys();
    if (this.#codes.size >= MOST && oldest !== undefined) this.#codes.delete(oldest);
    this.#codes.set(id, { code, expires });
  }

  /** The code of an approval, if it is still the one that counts. */
  of({ id, codeHash }: Approval): string | undefined {
    const code = this.#codes.get(id)?.code;
    return code !== undefined && hashOfUserCode(code) === codeHash ? code : undefined;
  }
}
