import type { ElementOperators } from "../../../caveats/hop.js";
import { isPath } from "../../../caveats/path-form.js";
import { defaultPort, readUrl, type UrlParts } from "../../../caveats/url-form.js";

// A place is a file, a folder or a URL. A string that names a place always gets a limit that is narrower than `/` or
// `/home`, unless the user allows broad limits.

/** A string that names a place, whatever the name of its argument: `/a`, `~/a`, `./a`, `C:\a`, `\\a`, `x://a`. */
const PLACE =
  /^(?:[/\\]|~(?:[/\\]|$)|\.{1,2}(?:[/\\]|$)|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z\d+.-]*:\/\/|file:)/;
/** A `..` segment, anywhere in a string. */
const WAY_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/;
/** An argument name whose last word says that the value is a place, such as `path`, `file_path` or `base_url`. */
const PLACE_NAME =
  /(?:^|_)(?:paths?|files?|filenames?|dirs?|directory|directories|folders?|root|cwd|uris?|urls?|hosts?|hostname)$/;

/** A word with a slash or an escaped slash, or a path after a host name: `docs/a`, `docs%2Fa`, `me@host:a`. */
const SLASHED = /^(?:\S*(?:[/\\]|%2f|%5c)\S*|[^\s@]+@[^\s@]+:\S+)$/i;
/** The last part of a file name or a host name, as in `my report.txt` or `example.com`. */
const EXTENSION = /\.[A-Za-z]\w{0,7}$/;
/**
 * Longest string that may be a place because of a slash or an extension alone, in UTF-16 code units. A longer string is
 * prose, or data such as base64.
 */
const MAX_UNCERTAIN = 256;

/** An absolute folder with fewer segments than this is too broad for a limit. */
const NARROW_SEGMENTS = 2;

/** Returns whether a string certainly names a place, by its form or by the name of its argument. */
export function isPlace(text: string, argument: string): boolean {
  if (text.includes("\n")) return false;
  if (PLACE.test(text) || WAY_UP.test(text)) return true;
  const words = argument.replace(/([a-z\d])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return PLACE_NAME.test(words.toLowerCase());
}

/**
 * Returns whether a string may name a place and therefore needs a limit. Unlike {@link isPlace}, also true for `docs/a`
 * and `report.txt`.
 */
export function mayBePlace(text: string, argument: string): boolean {
  if (isPlace(text, argument) || mayBePlaceName(text)) return true;
  return text.length <= MAX_UNCERTAIN && !text.includes("\n") && EXTENSION.test(text);
}

/**
 * Returns whether the name of a property may be a place, as in `{"docs/a": "its text"}`. The name `city` is not a
 * place.
 */
export function mayBePlaceName(name: string): boolean {
  return isPlace(name, "") || (name.length <= MAX_UNCERTAIN && SLASHED.test(name));
}

/**
 * Returns the narrowest limit by `path` or `url` that allows all of these strings. Returns `undefined` if the strings
 * are neither all paths nor all URLs in the strict forms, or if only a limit that is too broad allows all of them.
 *
 * @param most - Maximum number of hosts.
 * @param allowBroad - `true` also accepts the folder `/`, folders of one segment such as `/home`, and limits that allow
 *   an origin that none of the URLs has.
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
 * Limits URLs by their schemes, hosts and common folder, and by their ports if at least one is not the default port.
 * Such a limit allows every combination of its schemes, hosts and ports. Returns `undefined` if a combination does not
 * occur in `urls`, unless `allowBroad` is true.
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
