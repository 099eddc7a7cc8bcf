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
