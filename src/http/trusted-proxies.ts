import { isIP, isIPv6 } from "node:net";
import express, { type Express, type Request } from "express";
import type { Origin } from "../agent/parties/records.js";

/**
 * Makes an app trust the header `X-Forwarded-For` only if one of these proxies has sent it.
 *
 * @param proxies - The proxies: IP addresses, ranges such as `10.0.0.0/8`, or `loopback`, `linklocal` and
 *   `uniquelocal`.
 * @throws TypeError that names `options.trustedProxies`.
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

/** @throws TypeError as {@link trustProxies} does. */
export function checkProxies(proxies: readonly string[] | undefined): void {
  trustProxies(express(), proxies);
}

/**
 * Returns the key under which a client without credentials is counted: its IPv4 address, or the /64 network of
 * its IPv6 address. If a trusted proxy forwards no address, the proxy's own address is used.
 */
export function addressKey(req: Request): string {
  return originOf(req).address;
}

/** Returns the key of {@link addressKey} for a request, and the larger network around the address. */
export function originOf(req: Request): Origin {
  const given = req.ip ?? "";
  const address = isIP(given) === 0 ? (req.socket.remoteAddress ?? "") : given;
  const groups = isIPv6(address) ? groupsOf(address) : undefined;
  if (groups !== undefined) {
    return {
      address: `${groups.slice(0, 4).join(":")}::/64`,
      network: `${groups.slice(0, 3).join(":")}::/48`,
    };
  }
  const plain = unmapped(address);
  return { address: plain, network: `${plain.split(".").slice(0, 3).join(".")}.0/24` };
}

/**
 * Returns the eight groups of an IPv6 address, as written in URLs. Returns `undefined` for an IPv4-mapped address
 * (`::ffff:192.0.2.1`).
 */
function groupsOf(address: string): readonly string[] | undefined {
  const host = canonical(address);
  if (MAPPED.test(host)) return undefined;
  const [head = "", tail] = host.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...Array.from({ length: zeros }, () => "0"), ...last];
}

const MAPPED = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/;

/** Returns the IPv4 address in an IPv6 address of the form `::ffff:a.b.c.d`. Returns any other address unchanged. */
function unmapped(address: string): string {
  const [, high, low] = isIPv6(address) ? (MAPPED.exec(canonical(address)) ?? []) : [];
  return high === undefined || low === undefined ? address : `${dotted(high)}.${dotted(low)}`;
}

/** Returns an IPv6 address as URLs contain it, without its zone. */
function canonical(address: string): string {
  const [plain = ""] = address.split("%");
  return new URL(`http://[${plain}]`).hostname.slice(1, -1);
}

/** Writes a group of an IPv6 address as two numbers of an IPv4 address, such as `127.0`. */
function dotted(group: string): string {
  const bits = Number.parseInt(group, 16);
  return `${bits >> 8}.${bits & 255}`;
}
