import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { type AllowedOrigins, addressRefused, isNamed, specialKind } from "./address-rules.js";
import { ClientError } from "./client-error.js";

/** An IP address as returned by the system's resolver. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Resolves a host name. Throws the system's error if the host has no address. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * Returns every IP address of a URL's host. If the host is an IP address itself, returns that address.
 *
 * @throws The error of the resolver, if it fails.
 */
async function hostAddresses(
  { hostname }: URL,
  resolve: Resolve = resolveBySystem,
): Promise<readonly Address[]> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return family === 0 ? resolve(host) : [{ address: host, family }];
}

/**
 * Resolves the IP addresses for one request. The name is resolved only once, so that the connection goes to the
 * addresses that were checked.
 *
 * @throws ClientError `address_refused` if the host has only non-public addresses, and the calling code did not name
 *   the host.
 * @throws The error of the resolver, if it fails.
 */
export async function pinnedAddresses(
  url: URL,
  origins: AllowedOrigins,
  resolve?: Resolve,
): Promise<readonly Address[]> {
  const found = await hostAddresses(url, resolve);
  const wellFormed = found.filter(({ address }) => isIP(address) !== 0);
  if (isNamed(url, origins)) return wellFormed;
  const allowed = wellFormed.filter(({ address }) => specialKind(address) === undefined);
  const [first] = found;
  if (allowed.length > 0 || first === undefined) return allowed;
  throw addressRefused(url, specialKind(first.address) ?? "an unreadable");
}

/** Returns a substitute for the system's resolver in `node:net`, which returns only the checked addresses. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (hostname, options, callback) => {
    const wanted = typeof options.family === "number" ? options.family : 0;
    const fitting = addresses.filter(({ family }) => wanted === 0 || family === wanted);
    const [first] = fitting;
    if (first === undefined) {
      const error: NodeJS.ErrnoException = new Error(`no address of ${hostname} may be asked`);
      error.code = "ENOTFOUND";
      callback(error, "", 0);
    } else if (options.all === true) callback(null, [...fitting]);
    else callback(null, first.address, first.family);
  };
}

/**
 * Checks a URL to which another HTTP client will connect by itself. All addresses of its host must be public, unless
 * the calling code named the host.
 *
 * @param timeout - Milliseconds for resolving the name.
 * @throws ClientError `address_refused`, `unreachable` or `timed_out`
 */
export async function assertReachable(
  url: URL,
  origins: AllowedOrigins,
  timeout: number,
  resolve?: Resolve,
): Promise<void> {
  const found = await within(timeout, url, hostAddresses(url, resolve));
  if (found.length === 0) throw notFound(url);
  if (isNamed(url, origins)) return;
  const [kind] = found.flatMap(({ address }) => specialKind(address) ?? []);
  if (kind !== undefined) throw addressRefused(url, kind);
}

/**
 * Rejects if the addresses are not found in time. The system's resolver cannot be stopped, so a late result is
 * ignored.
 */
function within(
  timeout: number,
  url: URL,
  found: Promise<readonly Address[]>,
): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      const message = `the host of ${url.origin} was not found in time`;
      reject(new ClientError("timed_out", message, url.origin));
    };
    const timer = setTimeout(late, timeout);
    found.then(resolve, () => reject(notFound(url))).finally(() => clearTimeout(timer));
  });
}

function notFound({ origin }: URL): ClientError {
  return new ClientError("unreachable", `the host of ${origin} is not found`, origin);
}
