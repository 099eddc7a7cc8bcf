import { decodeBase64 } from "../bytes/base64.js";
import { hasServiceMark, readServiceKeyId } from "../capability/key-id.js";
import { RootKey } from "../macaroon/root-key.js";
import { FeedKey } from "./feed-key.js";
import { HandleKey } from "./handle.js";
import { type RootJwk, SECRET_LENGTH } from "./root-jwk.js";
import { TextKey } from "./sealed-text.js";

/** One root key, for what is made under it. */
export interface KeyInUse {
  readonly kid: string;
  readonly root: RootKey;
  /** Derived from the same secret; seals numbers of resources. */
  readonly handles: HandleKey;
  /** Of the same secret; seals texts. */
  readonly texts: TextKey;
  /** Of the same secret; for the revocation feed of a service. */
  readonly feed: FeedKey;
}

/** @throws TypeError if the secret has another length; never showing it. */
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
 * The service whose keys these all are. Mixed with others, one could pass for what a root key derives.
 *
 * @throws TypeError naming the key that does not belong.
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
