import { encodeUtf8 } from "../bytes/utf8.js";
import { hmac } from "../macaroon/hmac.js";

const LABEL = "proviso-service-key-v1 ";

/**
 * The secret of the key for one service: HMAC-SHA256 of the service's name, after a label, under the
 * root key's secret. It reveals nothing of the root key, nor of the keys for other services.
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
 * Identifies an issuer and one of its services to each other on the revocation feed: both values
 * are derived from the service's secret and reveal nothing of it.
 */
export class FeedKey {
  readonly #secret: Uint8Array;

  /** @param secret - The service's secret: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** The credential that the service presents: 32 bytes. */
  credential(): Uint8Array {
    return hmac(this.#secret, CREDENTIAL);
  }

  /** The MAC of an answer, which proves to the service that its issuer sent it: 32 bytes. */
  mac(answer: string): Uint8Array {
    return hmac(this.#secret, encodeUtf8(ANSWER + answer));
  }
}
