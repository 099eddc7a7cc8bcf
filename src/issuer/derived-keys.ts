import { encodeUtf8 } from "../bytes/utf8.js";
import { hmac } from "../macaroon/hmac.js";

const LABEL = "proviso-service-key-v1 ";

/**
 * Returns the secret of the key for one service: HMAC-SHA256 of a label and the service's name, with the root key's
 * secret as the key. The result reveals nothing about the root key, or about the keys of other services.
 *
 * @param secret - The root key's secret, at most 64 bytes.
 * @returns 32 bytes.
 */
export function serviceSecret(secret: Uint8Array, service: string): Uint8Array {
  return hmac(secret, encodeUtf8(LABEL + service));
}

const CREDENTIAL: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-feed-v1");
const ANSWER = "proviso-revocation-feed-answer-v1 ";

/**
 * Authenticates an issuer and one of its services to each other on the revocation feed. Credential and MAC are
 * derived from the service's secret and reveal nothing about that secret.
 */
export class FeedKey {
  readonly #secret: Uint8Array;

  /** @param secret - The service's secret: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** Returns the credential that the service presents, 32 bytes. */
  credential(): Uint8Array {
    return hmac(this.#secret, CREDENTIAL);
  }

  /** Returns the MAC of an answer, 32 bytes, which proves to the service that its issuer sent the answer. */
  mac(answer: string): Uint8Array {
    return hmac(this.#secret, encodeUtf8(ANSWER + answer));
  }
}
