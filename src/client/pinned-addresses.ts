import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { type AllowedOrigins, addressRefused, isNamed, specialKind } from "./address-rules.js";

/** An IP address, as the system's resolver gives it. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Looks a host's name up; throws the system's error if the name has no address. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/** Every address of a URL's host, that host itself if it is one. @throws The resolver's error. */
export async function hostAddresses(
  { hostname }: URL,
  resolve: Resolve = resolveBySystem,
): Promise<readonly Address[]> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return family === 0 ? resolve(host) : [{ address: host, family }];
}

/**
 * The addresses of one request. The name is looked up once: what is judged is what it connects to.
 *
 * @throws ClientError `address_refused` if none is of the public network and the place is not named.
 * @throws The resolver's error.
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

/** What `node:net` asks in the place of the system's resolver: it knows these addresses alone. */
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
