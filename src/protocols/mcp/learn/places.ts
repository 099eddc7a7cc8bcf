import type { ElementOperators } from "../../../caveats/hop.js";
import { isPath } from "../../../caveats/path-form.js";
import { defaultPort, readUrl, type UrlParts } from "../../../caveats/url-form.js";

// Strings that name a place: a file, a folder, a URL. They are never left without a limit, nor limited by a folder as
// wide as `/` or `/home`, unless the user wants that.

/** A string that names a place, whatever the argument is called: `/a`, `~/a`, `./a`, `C:\a`, `\\a`, `x://a`. */
const PLACE =
  /^(?:[/\\]|~(?:[/\\]|$)|\.{1,2}(?:[/\\]|$)|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z\d+.-]*:\/\/|file:)/;
/** A way up, anywhere in a string. */
const WAY_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/;
/** The last word of an argument that names a place, in any spelling: `path`, `filePath`, `base_url`. */
const PLACE_NAME =
  /(?:^|_)(?:paths?|files?|filenames?|dirs?|directory|directories|folders?|root|cwd|uris?|urls?|hosts?|hostname)$/;

/** The shortest absolute folder that is not broad: it has so many segments. */
const NARROW_SEGMENTS = 2;

/** Returns whether a string names a place, as far as one can tell from it and from the name of its argument. */
export function isPlace(text: string, argument: string): boolean {
  if (text.includes("\n")) return false;
  if (PLACE.test(text) || WAY_UP.test(text)) return true;
  const words = argument.replace(/([a-z\d])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return PLACE_NAME.test(words.toLowerCase());
}

/**
 * Returns the narrowest limit by folder, or by hosts and folder, that allows all of these strings; `undefined` if they
 * are not all paths or all URLs in the strict forms, or have no folder in common.
 *
 * @param most - Hosts at most.
 * @param allowBroad - Accepts `/`, and folders of one segment such as `/home`.
 */
export function placeLimit(
  texts: readonly string[],
  most: number,
  allowBroad: boolean,
): ElementOperators | undefined {
  const urls = texts.flatMap((text) => readUrl(text) ?? []);
  if (urls.length === texts.length) return urlLimit(urls, most);
  const isAbsolute = texts.every((text) => text.startsWith("/"));
  if (!texts.every(isPath) || (!isAbsolute && texts.some((text) => text.startsWith("/")))) {
    return undefined;
  }
  const common = commonSegments(texts);
  if (!isAbsolute) return common.length === 0 ? undefined : { path: common.join("/") };
  if (common.length < NARROW_SEGMENTS && !allowBroad) return undefined;
  return { path: `/${common.join("/")}` };
}

/** Limits URLs by schemes, hosts and, where these are not the defaults, ports; and by the folder that all share. */
function urlLimit(urls: readonly UrlParts[], most: number): ElementOperators | undefined {
  const schemes = [...new Set(urls.map(({ scheme }) => scheme))];
  const hosts = [...new Set(urls.map(({ host }) => host))];
  if (hosts.length > most) return undefined;
  const isDefault = urls.every(({ scheme, port }) => port === defaultPort(scheme));
  const common = commonSegments(urls.map(({ path }) => path));
  return {
    url: {
      schemes,
      hosts,
      ...(isDefault ? {} : { ports: [...new Set(urls.map(({ port }) => port))] }),
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
