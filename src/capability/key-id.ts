// Key ids. A root key has its own id; the key derived from it for a service has the id KID@SERVICE
// (docs/spec.md, section 3).

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

/** Returns the id of the key derived from the root key `kid` for a service. */
export function serviceKeyId(kid: string, service: string): string {
  return kid + MARK + service;
}

/** The parts of a service's key id. */
export interface ServiceKeyId {
  /** The id of the root key from which the service's key is derived. */
  readonly root: string;
  /** The only service that accepts tokens made with the key. */
  readonly service: string;
}

/** Returns whether a key id contains `@`, which marks a service's key. The id of a root key never contains `@`. */
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
 * Returns the key ids whose revocation revokes a token made with `kid`: `kid` itself and, for a service's key, the id
 * of the root key from which it is derived.
 */
export function revocableKeyIds(kid: string): readonly string[] {
  const derived = readServiceKeyId(kid);
  return derived === undefined ? [kid] : [kid, derived.root];
}
