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
  /**
   * The URL of a JWK Set with the public key. A verifier accepts this URL only on an origin that the verifier
   * has named, such as the card's own origin.
   */
  readonly jku?: string;
  /**
   * Called with the reason if the official SDKs cannot verify the signature, because the card is not valid in
   * A2A 1.0. Unless given, `signCard` throws for such a card.
   */
  readonly onUnverifiable?: (why: string) => void;
}

/**
 * Signs each form of a card that verifiers may check (A2A 1.0, section 8.4): the card as it is; the card
 * without properties that are empty or have their default; and the second form reduced to A2A's properties,
 * which the official SDKs verify. Equal forms are signed once.
 *
 * @throws TypeError if an option is invalid, if the card has no canonical form, or if the official SDKs cannot
 *   verify the signature and `onUnverifiable` is not given.
 * @throws Error if the package `jose` is not installed.
 */
export async function signCard(card: JsonObject, options: SignOptions): Promise<JsonObject> {
  plainObject(card, "card");
  assertMembers(options, ["key", "alg", "kid", "jku", "onUnverifiable"], "options");
  const { key, alg, kid, jku, onUnverifiable } = options;
  if (!ALGORITHMS.includes(alg)) {
    throw new TypeError(`options.alg: must be one of ${ALGORITHMS.join(", ")}`);
  }
  if (typeof kid !== "string" || kid === "")
    throw new TypeError("options.kid: must be a non-empty string");
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
