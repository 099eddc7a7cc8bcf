import { decodeBase64 } from "../bytes/base64.js";
import { hasServiceMark, readServiceKeyId } from "../capability/key-id.js";
import { RootKey } from "../macaroon/root-key.js";
import { FeedKey } from "./derived-keys.js";
import { HandleKey } from "./handle.js";
import { type RootJwk, SECRET_LENGTH } from "./root-jwk.js";
import { TextKey } from "./sealed-text.js";

/** A root key or a service's key, with the keys derived from its secret. */
export interface KeyInUse {
  readonly kid: string;
  readonly root: RootKey;
  /** Seals resource numbers, with the same secret. */
  readonly handles: HandleKey;
  /** Seals strings, with the same secret. */
  readonly texts: TextKey;
  /** Authenticates the revocation feed of a service, with the same secret. */
  readonly feed: FeedKey;
}

/** @throws TypeError if the secret has the wrong length; the message does not show the secret. */
export function keyInUse({ kid, k }: RootJwk): KeyInUse {
  const secret = decodeBase64(k);
  if (secret.length !== SECRET_LENGTH) {
    throw new TypeError(`the secret of key ${kid} must have ${SECRET_LENGTH} bytes`);
  }
  return {
    kid,
    root: new RootKey(secret),
    handles: new HandleKey(secret),
    texts: new TextKey(secret),
    feed: new FeedKey(secret),
  };
}

/**
 * Returns the service to which the keys belong; `undefined` for root keys. Refuses a mixture of root keys and a
 * service's keys: the service's key could be taken for a key derived from one of the root keys.
 *
 * @throws TypeError that names the first key of another kind, or of another service.
 */
export function serviceOf(kids: readonly string[]): string | undefined {
  const services = kids.map((kid) => {
    const service = readServiceKeyId(kid)?.service;
    if (service !== undefined || !hasServiceMark(kid)) return service;
    throw new TypeError(`key ${kid}: "@" stands only in the id of a service's key, KID@SERVICE`);
  });
  const [service] = services;
  const other = services.findIndex((one) => one !== service);
  if (other === -1) return service;
  throw new TypeError(
    `key ${kids[other]}: a keyring has root keys, or the keys of one service, and not both`,
  );
}
