import type { UrlLimit } from "./hop.js";
import { segmentsOf } from "./path-form.js";
import { shown } from "./scalar.js";
import { defaultPort, isPort, isUrlFolder, URL_SCHEMES } from "./url-form.js";
import { isHostEntry } from "./url-host.js";

/** The parts of one URL of a limit. */
interface Place {
  readonly scheme: string;
  /** A host, or `.example.com` for every host below `example.com`. */
  readonly host: string;
  /** The port, or the default port of the scheme. */
  readonly port: string;
  /** True if the URL has a port. */
  readonly hasPort: boolean;
  /** The folder that limits the path; `undefined` if every path is allowed. */
  readonly path: string | undefined;
}

/** A mistake in URLs that a person wrote. */
interface UrlMistake {
  readonly problem: string;
  /** The correct spelling. */
  readonly hint: string;
  /** The index of the URL; absent if the mistake concerns several URLs. */
  readonly place?: number;
  /** The URL as it was probably meant, in the form that a limit needs. */
  readonly nearest?: string;
}

/** The limit that URLs describe, or the first mistake in the URLs. */
export type WrittenUrls =
  | { readonly ok: true; readonly limit: UrlLimit }
  | { readonly ok: false; readonly mistake: UrlMistake };

const PLACE = /^([a-z]+):\/\/(\[[^\]]*\]|[^/?#:@]+)(?::(\d+))?(\/[^?#]*)?$/;

/**
 * Reads the URLs of a limit as people write them: `https://api.example.com/v1`, or `https://*.example.com` for every
 * host below `example.com`. A limit allows every combination of its schemes, hosts and ports. Several URLs are
 * therefore accepted only if they include every combination of their schemes, hosts and ports.
 *
 * @param forms - A hint on how to write a URL.
 */
export function readWrittenUrls(texts: readonly string[], forms: string): WrittenUrls {
  const places: Place[] = [];
  for (const [at, text] of texts.entries()) {
    const place = readPlace(text, forms);
    if ("problem" in place) {
      const nearest = nearestUrl(text);
      if (nearest === undefined) return { ok: false, mistake: { ...place, place: at } };
      const hint = `write ${nearest}`;
      return { ok: false, mistake: { ...place, hint, place: at, nearest } };
    }
    places.push(place);
  }
  const [first] = places;
  if (first === undefined) {
    return { ok: false, mistake: { problem: "the URL is missing", hint: forms } };
  }
  const { path } = first;
  if (places.some((place) => place.path !== path)) {
    const hint = "give the folder that all of them are in";
    return { ok: false, mistake: { problem: "the URLs of one limit have one path", hint } };
  }
  const schemes = distinct(places.map(({ scheme }) => scheme));
  const hosts = distinct(places.map(({ host }) => host));
  const hasPorts = places.some(({ hasPort }) => hasPort);
  const ports = hasPorts ? distinct(places.map(({ port }) => port)) : undefined;
  const given = new Set(places.map(originOf));
  for (const scheme of schemes) {
    for (const host of hosts) {
      for (const port of ports ?? [defaultPort(scheme)]) {
        const origin = originOf({ scheme, host, port });
        if (given.has(origin)) continue;
        const problem = `this limit would allow ${origin} too`;
        const hint = `add ${origin}, or give fewer URLs: a limit allows every combination of schemes, hosts and ports`;
        return { ok: false, mistake: { problem, hint } };
      }
    }
  }
  // A hop must not have properties that are undefined.
  const limit = {
    schemes,
    hosts,
    ...(ports === undefined ? {} : { ports }),
    ...(path === undefined ? {} : { path }),
  };
  return { ok: true, limit };
}

function readPlace(text: string, forms: string): Place | UrlMistake {
  const [, scheme = "", named = "", written, given = "/"] = PLACE.exec(text) ?? [];
  if (scheme === "") {
    const problem = /[?#]/.test(text)
      ? `a limit on URLs has no query and no fragment: ${shown(text)}`
      : `${shown(text)} is not a URL`;
    return { problem, hint: forms };
  }
  if (!URL_SCHEMES.includes(scheme)) {
    const hint = `the schemes are ${URL_SCHEMES.join(", ")}`;
    return { problem: `there is no limit on ${scheme} URLs`, hint };
  }
  const host = named.startsWith("*.") ? named.slice(1) : named;
  if (host.includes("*")) {
    const hint = "*. before a host stands for one or more labels; name any other host";
    return { problem: `${shown(named)} is not a host`, hint };
  }
  if (given.includes("*")) {
    const hint = "a path stands for itself and everything below it, so leave out the *";
    return { problem: `${shown(given)} is not a folder`, hint };
  }
  const path = given === "/" ? undefined : given;
  const port = written ?? defaultPort(scheme);
  const place = { scheme, host, port, hasPort: written !== undefined, path };
  const wrong = wrongPart(place);
  return wrong === undefined ? place : { problem: wrong, hint: forms };
}

/** Returns a sentence about the first part that is not in the strict form; `undefined` if there is none. */
function wrongPart({ host, port, path }: Place): string | undefined {
  if (!isHostEntry(host)) return `${shown(withStar(host))} is not a host`;
  if (!isPort(port)) return `${shown(port)} is not a port`;
  if (path === undefined || isUrlFolder(path)) return undefined;
  return `${shown(path)} is not a folder of URLs`;
}

const LOOSE_PLACE = /^([a-z]+):\/\/(\[[^\]]*\]|[^/?#:@]+)(?::0*(\d+))?([^?#]*)/i;

/**
 * Returns a URL as it was probably meant: scheme and host in lower case, without a default port, empty segments, a
 * final `/`, a query and a fragment. Returns `undefined` if a limit cannot have that URL, or if it is equal to `text`.
 */
function nearestUrl(text: string): string | undefined {
  const [, scheme = "", host = "", port = "", path = ""] = LOOSE_PLACE.exec(text) ?? [];
  const lower = scheme.toLowerCase();
  const shownPort = port === "" || port === defaultPort(lower) ? "" : `:${port}`;
  const folder = segmentsOf(path)
    .map((segment) => `/${segment}`)
    .join("");
  const url = `${lower}://${host.toLowerCase().replace(/\.$/, "")}${shownPort}${folder}`;
  return url === text || "problem" in readPlace(url, "") ? undefined : url;
}

function originOf({ scheme, host, port }: Pick<Place, "scheme" | "host" | "port">): string {
  return `${scheme}://${withStar(host)}:${port}`;
}

/** Returns a host as people write it: `*.example.com` for the suffix `.example.com`. */
function withStar(host: string): string {
  return host.startsWith(".") ? `*${host}` : host;
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
