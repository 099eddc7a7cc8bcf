import { ALGORITHMS } from "../auth/jwt-options.js";
import type { Json, JsonObject } from "../bytes/json.js";
import { assertMembers } from "../checks/members.js";
import { plainObject } from "../checks/plain.js";
import { a2aMembers } from "./a2a-members.js";
import { isSameJson } from "./fields.js";
import { loadJose, signedForms } from "./signature.js";
import type { SigningKey } from "./trusted-keys.js";

/** Options of {@link signCard}. */
export interface SignOptions {
  /** The private key. */
  readonly key: SigningKey;
  /** The algorithm, such as `ES256` or `EdDSA`. */
  readonly alg: string;
  /** The id by which verifiers find the public key. */
  readonly kid: string;
  /** The URL of a JWK Set with the public key. Verifiers only accept one on the card's own origin. */
  readonly jku?: string;
  /**
   * Called with the reason if the official SDKs cannot verify the signature, because the card is not valid in
   * A2A 1.0. Unless given, such a card is not signed.
   */
  readonly onUnverifiable?: (why: string) => void;
}

/**
 * Adds signatures (A2A 1.0, section 8.4): one of the card as it is, one without properties that have their
 * default, and one of A2A's properties alone, which the official SDKs verify. Identical forms are signed once.
 *
 * @throws TypeError if an option is invalid, the card has no canonical form, or the official SDKs could not
 *   verify it and `onUnverifiable` is not given.
 * @throws Error if the package `jose` is not installed.
 */
export async function signCard(card: JsonObject, options: SignOptions): Promise<JsonObject> {
  plainObject(card, "card");
  assertMembers(options, ["key", "alg", "kid", "jku", "onUnverifiable"], "options");
  const { key, alg, kid, jku, onUnverifiable } = options;
  if (!ALGORITHMS.includes(alg)) {
    throw new TypeError(`options.alg: must be one of ${ALGORITHMS.join(", ")}`);
  }
  if (typeof kid !== "string" || kid === "") throw new TypeError("options.kid: must be a text");
  const { problem } = a2aMembers(card);
  if (problem !== undefined) {
    if (onUnverifiable === undefined) {
      throw new TypeError(`card: the official SDKs cannot verify its signature: ${problem}`);
    }
    onUnverifiable(problem);
  }
  const jose = await loadJose();
  const header = { alg, kid, typ: "JOSE", jku };
  const made: Json[] = [];
  for (const { payload } of signedForms(card)) {
    const signing = new jose.FlattenedSign(payload).setProtectedHeader(header);
    const { protected: head, signature } = await signing.sign(key);
    made.push({ protected: head ?? "", signature });
  }
  const { signatures } = card;
  const before: readonly Json[] = Array.isArray(signatures) ? signatures : [];
  // A deterministic algorithm may make a signature that exists already.
  const fresh = made.filter((one) => !before.some((other) => isSameJson(one, other)));
  return { ...card, signatures: [...before, ...fresh] };
}
