import { encodeUtf8, isWellFormed } from "../bytes/utf8.js";
import { notA } from "../checks/kinds.js";

/** A caveat that the verifier of the macaroon judges. */
export interface FirstPartyCaveat {
  readonly kind: "first-party";
  /** The caveat's own bytes: its predicate. */
  readonly identifier: Uint8Array;
}

/** A caveat that needs a discharge macaroon from another party. */
export interface ThirdPartyCaveat {
  readonly kind: "third-party";
  /** Tells the third party what to check; also the identifier of the discharge. */
  readonly identifier: Uint8Array;
  /** 24-byte nonce and sealed caveat key: always 72 bytes. */
  readonly verificationId: Uint8Array;
  /** The place to ask for the discharge. A hint: it is not signed. */
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
 * A macaroon (Birgisson et al., "Macaroons: Cookies with Contextual Caveats for Decentralized
 * Authorization in the Cloud", NDSS 2014): an immutable value. Nothing has been verified about it:
 * anyone can make one with any content.
 *
 * Make one with `createMacaroon` or `parseMacaroon`. The caveats together with the signature *are*
 * the bearer token, so printing or JSON-encoding a macaroon withholds the signature.
 */
export class Macaroon {
  readonly #parts: MacaroonParts;

  /** @internal The parts are taken over, not copied. */
  constructor(parts: MacaroonParts) {
    this.#parts = parts;
  }

  /** @internal Use {@link partsOf}. */
  static partsOf(macaroon: Macaroon): MacaroonParts {
    return macaroon.#parts;
  }

  /** The place where the macaroon is used. A hint: it is not signed. */
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

/** @throws TypeError that names the argument that is not a {@link Macaroon}. */
export function assertMacaroon(value: unknown, where: string): asserts value is Macaroon {
  if (value instanceof Macaroon) return;
  throw notA(where, "a Macaroon, as createMacaroon() or parseMacaroon() gives it", value);
}

/**
 * Returns the parts themselves, not copies. Only modules of this package use it, and they never write
 * to the parts; the public getters of {@link Macaroon} copy.
 */
export function partsOf(macaroon: Macaroon): MacaroonParts {
  return Macaroon.partsOf(macaroon);
}

function copyCaveat(caveat: Caveat): Caveat {
  const identifier = caveat.identifier.slice();
  if (caveat.kind === "first-party") return { kind: caveat.kind, identifier };
  return { ...caveat, identifier, verificationId: caveat.verificationId.slice() };
}

/**
 * Copies a caller's string or bytes into a plain `Uint8Array`; a Node `Buffer` too, whose `slice`
 * would share memory.
 *
 * @throws TypeError if the value is neither, or is a string without a UTF-8 form.
 */
export function toBytes(value: string | Uint8Array, what: string): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== "string") throw notA(what, "a string or a Uint8Array", value);
  if (!isWellFormed(value)) throw new TypeError(`${what} has a lone surrogate, so no UTF-8 form`);
  return encodeUtf8(value);
}
