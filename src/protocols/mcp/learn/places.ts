import type { ElementOperators } from "../../../caveats/hop.js";
import { isPath } from "../../../caveats/path-form.js";
import { defaultPort, readUrl, type UrlParts } from "../../../caveats/url-form.js";

// Strings that name a place: a file, a folder, a URL. They are never left without a limit, nor limited by a folder as
// wide as `/` or `/home`, unless the user wants that.

/** A string that names a place, whatever the argument is called: `/a`, `~/a`, `./a`, `C:\a`, `\\a`, `x://a`. */
const PLACE =
  /^(?:[/\\]|~(?:[/\\]|$)|\.{1,2}(?:[/\\]|$)|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z\d+.-]*:\/\/|file:)/;
/** A `..` segment, anywhere in a string. */
const WAY_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/;
/** The last word of an argument that names a place, in any spelling: `path`, `filePath`, `base_url`. */
const PLACE_NAME =
  /(?:^|_)(?:paths?|files?|filenames?|dirs?|directory|directories|folders?|root|cwd|uris?|urls?|hosts?|hostname)$/;

/** A word with a slash, which may be escaped, or behind the name of a host: `docs/a`, `docs%2Fa`, `me@host:a`. */
const SLASHED = /^(?:\S*(?:[/\\]|%2f|%5c)\S*|[^\s@]+@[^\s@]+:\S+)$/i;
/** The end of the name of a file, or of a host: `my report.txt`, `example.com`. */
const EXTENSION = /\.[A-Za-z]\w{0,7}$/;
/** A longer string that begins like no place is a text, or data such as base64. In UTF-16 code units. */
const MAX_UNCERTAIN = 256;

/** The shortest absolute folder that is not broad: it has so many segments. */
const NARROW_SEGMENTS = 2;

/** Returns whether a string certainly names a place, by its form or by the name of its argument. */
export function isPlace(text: string, argument: string): boolean {
  if (text.includes("\n")) return false;
  if (PLACE.test(text) || WAY_UP.test(text)) return true;
  const words = argument.replace(/([a-z\d])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return PLACE_NAME.test(words.toLowerCase());
}

/**
 * Returns whether a string may name a place, so that not every string may stand for it: also `docs/a`, `report.txt`.
 */
export function mayBePlace(text: string, argument: string): boolean {
  if (isPlace(text, argument) || mayBePlaceName(text)) return true;
  return text.length <= MAX_UNCERTAIN && !text.includes("\n") && EXTENSION.test(text);
}

/** Returns whether the name of a member may name a place, as in `{"docs/a": "its text"}`; `address.city` does not. */
export function mayBePlaceName(name: string): boolean {
  return isPlace(name, "") || (name.length <= MAX_UNCERTAIN && SLASHED.test(name));
}

/**
 * Returns the narrowest limit by folder, or by hosts and folder, that allows all of these strings; `undefined` if they
 * are not all paths or all URLs in the strict forms, or have no folder in common.
 *
 * @param most - Maximum number of hosts.
 * @param allowBroad - Accepts `/`, folders of one segment such as `/home`, and origins that none of the URLs has.
 */
export function placeLimit(
  texts: readonly string[],
  most: number,
  allowBroad: boolean,
): ElementOperators | undefined {
  const urls = texts.flatMap((text) => readUrl(text) ?? []);
  if (urls.length === texts.length) return urlLimit(urls, most, allowBroad);
  const isAbsolute = texts.every((text) => text.startsWith("/"));
  if (!texts.every(isPath) || (!isAbsolute && texts.some((text) => text.startsWith("/")))) {
    return undefined;
  }
  const common = commonSegments(texts);
  if (!isAbsolute) return common.length === 0 ? undefined : { path: common.join("/") };
  if (common.length < NARROW_SEGMENTS && !allowBroad) return undefined;
  return { path: `/${common.join("/")}` };
}

/**
 * Limits URLs by schemes, hosts and, where these are not the defaults, ports; and by the folder that all share. Such a
 * limit allows every combination: `undefined` if one of these was not seen, unless that is accepted.
 */
function urlLimit(
  urls: readonly UrlParts[],
  most: number,
  allowBroad: boolean,
): ElementOperators | undefined {
  const schemes = [...new Set(urls.map(({ scheme }) => scheme))];
  const hosts = [...new Set(urls.map(({ host }) => host))];
  if (hosts.length > most) return undefined;
  const ports = [...new Set(urls.map(({ port }) => port))];
  const isDefault = urls.every(({ scheme, port }) => port === defaultPort(scheme));
  const origins = new Set(urls.map(({ scheme, host, port }) => `${scheme}://${host}:${port}`));
  const combinations = schemes.length * hosts.length * (isDefault ? 1 : ports.length);
  if (origins.size < combinations && !allowBroad) return undefined;
  const common = commonSegments(urls.map(({ path }) => path));
  return {
    url: {
      schemes,
      hosts,
      ...(isDefault ? {} : { ports }),
      ...(common.length === 0 ? {} : { path: `/${common.join("/")}` }),
    },
  };
}

/** Returns the segments with which all paths begin. */
function commonSegments(paths: readonly string[]): readonly string[] {
  const [first = [], ...others] = paths.map((path) => path.split("/").filter((one) => one !== ""));
  const end = first.findIndex((segment, at) => others.some((other) => other[at] !== segment));
  return end === -1 ? first : first.slice(0, end);
}
