import { encodeUtf8 } from "../bytes/utf8.js";
import { hmac } from "../macaroon/hmac.js";

const CREDENTIAL: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-feed-v1");
const ANSWER = "proviso-revocation-feed-answer-v1 ";

/**
 * What an issuer and one of its services know each other by when the service reads the revocations: both
 * are derived from the service's secret, and neither shows anything of it.
 */
export class FeedKey {
  readonly #secret: Uint8Array;

  /** @param secret - The service's: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** What the service shows: 32 bytes. */
  credential(): Uint8Array {
    return hmac(this.#secret, CREDENTIAL);
  }

  /** What stands by an answer, so that the service knows it for its issuer's: 32 bytes. */
  mac(answer: string): Uint8Array {
    return hmac(this.#secret, encodeUtf8(ANSWER + answer));
  }
}
