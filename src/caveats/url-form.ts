import type { UrlLimit } from "./hop.js";
import { isBelow, isPath } from "./path-form.js";
import { allowsHost, isHost } from "./url-host.js";

/** Schemes of URLs that can be judged, with their default ports. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
};

/** Every scheme of URLs that can be judged. */
export const URL_SCHEMES: readonly string[] = Object.keys(DEFAULT_PORTS);

/** The parts of a URL in the strict form that are judged. */
export interface UrlParts {
  readonly scheme: string;
  /** A name, an IPv4 address, or an IPv6 address in brackets. */
  readonly host: string;
  /** The port in decimal digits; the scheme's default if the URL has none. */
  readonly port: string;
  /** The path, which begins with `/`. Escapes are not decoded, since each path can be written in only one way. */
  readonly path: string;
}

// The authority ends at the first "/", which the strict form always has. Query and fragment may contain any
// visible ASCII character.
const URL_FORM = /^(https?|wss?):\/\/([^/?#]+)(\/[^?#]*)(\?[!-"$-~]*)?(#[!-"$-~]*)?$/;
const AUTHORITY = /^(.+?)(?::([1-9]\d{0,4}))?$/;
const PATH_FORM = /^(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,=@]|%[0-9A-F]{2})+)+\/?$/;
// Escapes that are never allowed. They encode a character that must be written unescaped, or "/", which would end a
// segment, or ";", "?" or "#". Some servers cut a segment at ";", "?" and "#" even if these are escaped.
const NEVER_ESCAPED = /%(?:2[1346-9A-F]|3[0-9BDF]|4[0-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/;
// Code points beyond ASCII whose NFKC form in Unicode 17.0 contains one of ";", "?" and "#".
const CUTTING_LOOKALIKES = /[\u037e\u2047-\u2049\ufe14\ufe16\ufe54\ufe56\ufe5f\uff03\uff1b\uff1f]/;

/**
 * Reads a URL in the strict form (docs/spec.md, section 5.3), which all parsers read in the same way;
 * `undefined` for any other string.
 */
export function readUrl(text: string): UrlParts | undefined {
  const [, scheme = "", authority = "", path = ""] = URL_FORM.exec(text) ?? [];
  const [, host = "", given] = AUTHORITY.exec(authority) ?? [];
  const standard = DEFAULT_PORTS[scheme];
  if (standard === undefined || !isHost(host) || !isUrlPath(path)) return undefined;
  if (given !== undefined && (given === standard || !isPort(given))) return undefined;
  return { scheme, host, port: given ?? standard, path };
}

/** Returns whether a string is a port in decimal digits, from 1 to 65535. */
export function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

/** Returns the default port of a scheme. */
export function defaultPort(scheme: string): string {
  return DEFAULT_PORTS[scheme] ?? "";
}

/** Returns whether a string is the path of a URL in the strict form; it may end in one `/`. */
function isUrlPath(path: string): boolean {
  if (path === "/") return true;
  if (!PATH_FORM.test(path)) return false;
  const text = decoded(withoutFinalSlash(path));
  return text !== undefined && !CUTTING_LOOKALIKES.test(text) && isPath(text);
}

/** Returns whether a string is a folder in a URL: a path that is `/` or does not end in `/`. */
export function isUrlFolder(path: string): boolean {
  return isUrlPath(path) && withoutFinalSlash(path) === path;
}

/** Returns whether a limit allows a URL, judged by scheme, host, port and path, never by query or fragment. */
export function allowsUrl({ schemes, hosts, ports, path }: UrlLimit, text: string): boolean {
  const url = readUrl(text);
  if (url === undefined || !schemes.includes(url.scheme)) return false;
  if (!hosts.some((entry) => allowsHost(entry, url.host))) return false;
  const allowed = ports ?? [defaultPort(url.scheme)];
  if (!allowed.includes(url.port)) return false;
  return path === undefined || isBelow(path, withoutFinalSlash(url.path));
}

function withoutFinalSlash(path: string): string {
  return path.endsWith("/") && path !== "/" ? path.slice(0, -1) : path;
}

/** Decodes the escapes of a path; `undefined` if one of the escapes is not allowed. */
function decoded(path: string): string | undefined {
  if (NEVER_ESCAPED.test(path)) return undefined;
  try {
    // Throws for bytes that are not UTF-8, including overlong forms and surrogates.
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
