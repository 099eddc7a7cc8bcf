import { isIP, isIPv6 } from "node:net";
import express, { type Express, type Request } from "express";

/**
 * Trusts these proxies' `X-Forwarded-For`, and no other sender's.
 *
 * @param proxies - IP addresses, ranges such as `10.0.0.0/8`, or `loopback`, `linklocal` and `uniquelocal`.
 * @throws TypeError naming `options.trustedProxies`.
 */
export function trustProxies(app: Express, proxies: readonly string[] = []): void {
  if (!Array.isArray(proxies) || !proxies.every((one) => typeof one === "string")) {
    throw new TypeError("options.trustedProxies: must be an array of addresses and ranges");
  }
  try {
    app.set("trust proxy", [...proxies]);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`options.trustedProxies: ${error.message}`);
  }
}

/** @throws TypeError as {@link trustProxies}. */
export function checkProxies(proxies: readonly string[] | undefined): void {
  trustProxies(express(), proxies);
}

/**
 * What counts callers without credentials: an IPv4 address, or one party's IPv6 network of 64 bits. Where a
 * trusted proxy forwards no address, the proxy's own.
 */
export function addressKey(req: Request): string {
  const given = req.ip ?? "";
  const address = isIP(given) === 0 ? (req.socket.remoteAddress ?? "") : given;
  return isIPv6(address) ? keyOfIPv6(address) : address;
}

/** The IPv4 address that is mapped into an IPv6 one, or else its first four groups, as URLs write them. */
function keyOfIPv6(address: string): string {
  const [plain = ""] = address.split("%");
  const { hostname } = new URL(`http://[${plain}]`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (high !== undefined && low !== undefined) return `${dotted(high)}.${dotted(low)}`;
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: zeros }, () => "0"), ...last];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** A group of an IPv6 address as two numbers of an IPv4 one. */
function dotted(group: string): string {
  const bits = Number.parseInt(group, 16);
  return `${bits >> 8}.${bits & 255}`;
}
