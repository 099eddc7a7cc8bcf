import { encodeUtf8, isWellFormed } from "../bytes/utf8.js";
import { notA } from "../checks/kinds.js";

/** A caveat that the verifier of the macaroon judges. */
export interface FirstPartyCaveat {
  readonly kind: "first-party";
  /** The caveat's bytes: its predicate. */
  readonly identifier: Uint8Array;
}

/** A caveat that needs a discharge macaroon from another party. */
export interface ThirdPartyCaveat {
  readonly kind: "third-party";
  /** Tells the third party what to check; also the identifier of the discharge. */
  readonly identifier: Uint8Array;
  /** A 24-byte nonce and the sealed caveat key, 72 bytes together. */
  readonly verificationId: Uint8Array;
  /** The address from which to get the discharge. Only a hint, since locations are not signed. */
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
 * A macaroon (Birgisson et al., "Macaroons: Cookies with Contextual Caveats for Decentralized Authorization in the
 * Cloud", NDSS 2014). A macaroon is immutable. Nothing in it has been verified: anyone can make a macaroon with any
 * contents.
 *
 * Made by `createMacaroon` or `parseMacaroon`. Caveats and signature together *are* the bearer token, so printing or
 * JSON-encoding a macaroon leaves the signature out.
 */
export class Macaroon {
  readonly #parts: MacaroonParts;

  /** @internal Keeps the parts without copying them. */
  constructor(parts: MacaroonParts) {
    this.#parts = parts;
  }

  /** @internal Use {@link partsOf}. */
  static partsOf(macaroon: Macaroon): MacaroonParts {
    return macaroon.#parts;
  }

  /** The service where the macaroon is used. Only a hint, since locations are not signed. */
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

  /** A copy of the 32-byte signature. Whoever has the signature can use and extend the macaroon. */
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
 * Returns the parts themselves, not copies. This function is only for this package, which never writes to the parts.
 * The public getters of {@link Macaroon} return copies.
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
 * Returns a string or bytes as a new, plain `Uint8Array`. Also copies a Node `Buffer`, since its `slice` would share
 * memory.
 *
 * @throws TypeError if the value is neither a string nor bytes, or is a string that cannot be encoded as UTF-8.
 */
export function toBytes(value: string | Uint8Array, what: string): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== "string") throw notA(what, "a string or a Uint8Array", value);
  if (!isWellFormed(value)) throw new TypeError(`${what} has a lone surrogate, so no UTF-8 form`);
  return encodeUtf8(value);
}
