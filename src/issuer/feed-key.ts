import { encodeUtf8 } from "../bytes/utf8.js";
import { hmac } from "../macaroon/hmac.js";

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
