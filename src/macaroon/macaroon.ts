import { encodeUtf8, isWellFormed } from "../bytes/utf8.js";
import { notA } from "../checks/kinds.js";

/** A caveat that the party who checks the macaroon judges itself. */
export interface FirstPartyCaveat {
  readonly kind: "first-party";
  /** The caveat's own bytes: its predicate. */
  readonly identifier: Uint8Array;
}

/** A caveat that needs a discharge macaroon from another party. */
export interface ThirdPartyCaveat {
  readonly kind: "third-party";
  /** What the third party needs to know to make the discharge; also the discharge's identifier. */
  readonly identifier: Uint8Array;
  /** 24-byte nonce and sealed caveat key: always 72 bytes. */
  readonly verificationId: Uint8Array;
  /** Where to ask for the discharge. A hint: it is not signed. */
  readonly location?: string;
}

export type Caveat = FirstPartyCaveat | ThirdPartyCaveat;

export interface MacaroonParts {
  readonly location: string | undefined;
  readonly identifier: Uint8Array;
  readonly caveats: readonly Caveat[];
  readonly signature: Uint8Array;
}

/**
 * The parts themselves, not copies. For this package's own modules, which never write to them; the
 * public getters of {@link Macaroon} copy.
 */
export let partsOf: (macaroon: Macaroon) => MacaroonParts;

/**
 * A macaroon (Birgisson et al., "Macaroons: Cookies with Contextual Caveats for Decentralized
 * Authorization in the Cloud", NDSS 2014): an immutable value. Nothing has been verified about it:
 * anyone can make one with any content.
 *
 * Make one with `createMacaroon` or `parseMacaroon`. The caveats together with the signature *are*
 * the bearer token, so printing or JSON-encoding a macaroon withholds the signature.
 */
export class Macaroon {
  readonly #parts: MacaroonParts;

  static {
    partsOf = (macaroon) => macaroon.#parts;
  }

  /** @internal The parts are taken over, not copied. */
  constructor(parts: MacaroonParts) {
    this.#parts = parts;
  }

  /** Where the macaroon is to be used. A hint: it is not signed. */
  get location(): string | undefined {
    return this.#parts.location;
  }

  /** A copy of the identifier's bytes. */
  get identifier(): Uint8Array {
    return this.#parts.identifier.slice();
  }

  /** Copies of the caveats, in the order of the chain. */
  get caveats(): Caveat[] {
    return this.#parts.caveats.map(copyCaveat);
  }

  /** A copy of the 32-byte signature. Any holder of it can use and extend the macaroon. */
  get signature(): Uint8Array {
    return this.#parts.signature.slice();
  }

  toString(): string {
    return "[macaroon, signature withheld]";
  }

  toJSON(): string {
    return this.toString();
  }
}

/** @throws TypeError naming the argument that is no {@link Macaroon}. */
export function assertMacaroon(value: unknown, where: string): asserts value is Macaroon {
  if (value instanceof Macaroon) return;
  throw notA(where, "a Macaroon, as createMacaroon() or parseMacaroon() gives it", value);
}

function copyCaveat(caveat: Caveat): Caveat {
  const identifier = caveat.identifier.slice();
  if (caveat.kind === "first-party") return { kind: caveat.kind, identifier };
  return { ...caveat, identifier, verificationId: caveat.verificationId.slice() };
}

/**
 * A caller's text or bytes as bytes of our own; a plain Uint8Array also for a Node Buffer, whose
 * `slice` would share memory.
 *
 * @throws TypeError if it is neither, or text without a UTF-8 form.
 */
export function toBytes(value: string | Uint8Array, what: string): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== "string") throw notA(what, "a string or a Uint8Array", value);
  if (!isWellFormed(value)) throw new TypeError(`${what} has a lone surrogate, so no UTF-8 form`);
  return encodeUtf8(value);
}
