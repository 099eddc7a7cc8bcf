// The ids of keys: a root key's own, or, for the key that is derived from it for one service,
// KID@SERVICE (docs/spec.md, section 3).

const SERVICE = /^[!-?A-~]{1,255}$/;
const MARK = "@";

const WANTED =
  'must be 1 to 255 printable ASCII characters without spaces and "@", as the service stands in audience';

function isServiceName(text: unknown): text is string {
  return typeof text === "string" && SERVICE.test(text);
}

/** @throws TypeError if the value is not a valid service name. */
export function assertServiceName(value: unknown): asserts value is string {
  if (!isServiceName(value)) throw new TypeError(`service ${WANTED}`);
}

/** The id of the key that is derived from the root key `kid` for a service. */
export function serviceKeyId(kid: string, service: string): string {
  return kid + MARK + service;
}

/** A service's key id in its parts. */
export interface ServiceKeyId {
  /** The root key that it is derived from. */
  readonly root: string;
  /** The one service that accepts tokens made under the key. */
  readonly service: string;
}

/** Returns whether a key id has the mark of a service, `@`, which no root key's has. */
export function hasServiceMark(kid: string): boolean {
  return kid.includes(MARK);
}

/** Splits a service's key id; `undefined` for any other id. */
export function readServiceKeyId(kid: string): ServiceKeyId | undefined {
  const at = kid.indexOf(MARK);
  if (at < 1) return undefined;
  const service = kid.slice(at + MARK.length);
  return isServiceName(service) ? { root: kid.slice(0, at), service } : undefined;
}

/**
 * Returns the key ids whose revocation revokes a token made under `kid`: `kid` itself and the root
 * key it is derived from.
 */
export function revocableKeyIds(kid: string): readonly string[] {
  const derived = readServiceKeyId(kid);
  return derived === undefined ? [kid] : [kid, derived.root];
}
