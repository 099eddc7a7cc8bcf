import { BlockList, isIP } from "node:net";
import { ClientError } from "./client-error.js";

/** Rules for requests to URLs chosen by another party, for example in an agent's card. */
export interface AllowedOrigins {
  /** Origins that the calling code named itself; their hosts may have any IP address. */
  readonly named: readonly string[];
  /** Further allowed hosts, each as `HOST:PORT` even for a default port; they may have any IP address. */
  readonly allowHosts?: readonly string[] | undefined;
}

// From IANA's special-purpose registries: multicast addresses, addresses that are not globally reachable, and
// addresses that embed an IPv4 address. In IPv6, IANA has assigned global addresses only in 2000::/3.
const REFUSED_IPV4: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["0.0.0.0", 8, "an unspecified"],
  ["10.0.0.0", 8, "a private"],
  ["100.64.0.0", 10, "a carrier's inner (CGNAT)"],
  ["127.0.0.0", 8, "a loopback"],
  ["169.254.0.0", 16, "a link-local"],
  ["172.16.0.0", 12, "a private"],
  ["192.0.0.0", 24, "a reserved"],
  ["192.0.2.0", 24, "a documentation"],
  ["192.88.99.0", 24, "a relay's (6to4)"],
  ["192.168.0.0", 16, "a private"],
  ["198.18.0.0", 15, "a benchmark"],
  ["198.51.100.0", 24, "a documentation"],
  ["203.0.113.0", 24, "a documentation"],
  ["224.0.0.0", 4, "a multicast"],
  ["240.0.0.0", 4, "a reserved"],
];

const REFUSED_IPV6: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["::1", 128, "a loopback"],
  ["::", 128, "an unspecified"],
  ["::ffff:0:0", 96, "an IPv4-mapped"],
  ["64:ff9b::", 96, "a translated (NAT64)"],
  ["64:ff9b:1::", 48, "a translated (NAT64)"],
  ["fc00::", 7, "a unique local"],
  ["fe80::", 10, "a link-local"],
  ["ff00::", 8, "a multicast"],
  ["2001::", 23, "a reserved"],
  ["2001:db8::", 32, "a documentation"],
  ["2002::", 16, "a relay's (6to4)"],
  ["3fff::", 20, "a documentation"],
];

const GLOBAL_IPV6 = listOf("2000::", 3, "ipv6");
const LISTS = [
  ...REFUSED_IPV4.map(([net, prefix, what]) => [listOf(net, prefix, "ipv4"), 4, what] as const),
  ...REFUSED_IPV6.map(([net, prefix, what]) => [listOf(net, prefix, "ipv6"), 6, what] as const),
];

function listOf(network: string, prefix: number, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return list;
}

/**
 * Returns the kind of a non-public IP address (without brackets), such as `a loopback`; `undefined` for a public
 * address.
 */
export function specialKind(address: string): string | undefined {
  const [plain = ""] = address.split("%", 1);
  const family = isIP(plain);
  if (family === 0) return "an unreadable";
  const name = family === 4 ? "ipv4" : "ipv6";
  const found = LISTS.find(([list, of]) => of === family && list.check(plain, name));
  if (found !== undefined) return found[2];
  return family === 4 || GLOBAL_IPV6.check(plain, "ipv6") ? undefined : "a reserved";
}

/**
 * Returns whether the calling code named the origin of the URL, or its host and port. If so, any IP address is
 * allowed.
 */
export function isNamed(url: URL, { named, allowHosts = [] }: AllowedOrigins): boolean {
  return named.includes(url.origin) || allowHosts.includes(hostAndPort(url));
}

/** Returns the `HOST:PORT` of a URL as in `allowHosts`, even if the port is the default. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "http:" ? "80" : "443") : port}`;
}

/**
 * Parses a `HOST:PORT`.
 *
 * @throws ClientError `address_invalid` if `text` has another form.
 */
export function readHostAndPort(text: string): string {
  const isShaped = /^(\[[0-9a-f:.]+\]|[^\s/@:?#[\]\\]+):\d{1,5}$/i.test(text);
  const written = `http://${text}`;
  if (isShaped && URL.canParse(written)) return hostAndPort(new URL(written));
  const message = `${JSON.stringify(text.slice(0, 64))} is not HOST:PORT, such as localhost:8080 or [::1]:8080`;
  throw new ClientError("address_invalid", message);
}

/** Returns the error for a URL with a non-public IP address whose host the calling code did not name. */
export function addressRefused(url: URL, kind: string): ClientError {
  const message = `${url.origin} is at ${kind} address, which only its name allows: ${hostAndPort(url)}`;
  return new ClientError("address_refused", message, url.origin);
}
