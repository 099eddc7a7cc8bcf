// The ids of keys: a root key's own, or, for the key that is derived from it for one service,
// KID@SERVICE (docs/spec.md, section 3).

const SERVICE = /^[!-?A-~]{1,255}$/;
const MARK = "@";

const WANTED =
  'must be 1 to 255 printable ASCII characters without spaces and "@", as the service stands in audience';

function isServiceName(text: unknown): text is string {
  return typeof text === "string" && SERVICE.test(text);
}

/** @throws TypeError unless the value can name a service that has a key of its own. */
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
  /** The one service that accepts what is made under it. */
  readonly service: string;
}

/** Whether a key id cannot be a root key's. */
export function hasServiceMark(kid: string): boolean {
  return kid.includes(MARK);
}

/** The parts of a service's key id; `undefined` for a root key's, and for what is neither. */
export function readServiceKeyId(kid: string): ServiceKeyId | undefined {
  const at = kid.indexOf(MARK);
  if (at < 1) return undefined;
  const service = kid.slice(at + MARK.length);
  return isServiceName(service) ? { root: kid.slice(0, at), service } : undefined;
}

/** The ids by which a revocation of a key concerns what is made under it: its own and its root key's. */
export function revocableKeyIds(kid: string): readonly string[] {
  const derived = readServiceKeyId(kid);
  return derived === undefined ? [kid] : [kid, derived.root];
}
