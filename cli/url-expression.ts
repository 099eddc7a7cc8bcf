import type { UrlLimit } from "../src/caveats/hop.js";
import { defaultPort, URL_SCHEMES } from "../src/caveats/url-form.js";
import { splitList } from "./argument-value.js";
import type { Expression, ExpressionError } from "./expression.js";
import { quoted } from "./output.js";

/** The parts of one URL of a limit. */
interface Place {
  readonly scheme: string;
  /** A host, or `.example.com` for every host below `example.com`. */
  readonly host: string;
  /** The effective port. */
  readonly port: string;
  /** True if the port is written. */
  readonly hasPort: boolean;
  /** A folder; `undefined` for every path. */
  readonly path: string | undefined;
}

const FORMS =
  "write it like https://api.example.com/v1, https://*.example.com for every host below example.com, " +
  "or several with commas between";
const PLACE = /^([a-z]+):\/\/(\[[^\]]*\]|[^/?#:@]+)(?::(\d+))?(\/[^?#]*)?$/;

/**
 * Reads the URLs that a limit allows: one, or several with commas between. A limit allows every combination of
 * its schemes, hosts and ports, so several are taken only if they are all combinations of their parts.
 *
 * @throws CliError saying what to write instead.
 */
export function readUrls({ rest, subject, expressionError }: Expression): UrlLimit {
  const places = splitList(rest).map((text) => readPlace(unquoted(text), expressionError));
  const [first] = places;
  if (first === undefined) throw expressionError("the URL is missing", FORMS);
  const { path } = first;
  if (places.some((place) => place.path !== path)) {
    throw expressionError(
      "the URLs of one limit have one path",
      "give the folder that all of them are in",
    );
  }
  const schemes = distinct(places.map(({ scheme }) => scheme));
  const hosts = distinct(places.map(({ host }) => host));
  const hasPorts = places.some(({ hasPort }) => hasPort);
  const ports = hasPorts ? distinct(places.map(({ port }) => port)) : undefined;
  const given = new Set(places.map(({ scheme, host, port }) => `${scheme}://${host}:${port}`));
  for (const scheme of schemes) {
    for (const host of hosts) {
      for (const port of ports ?? [defaultPort(scheme)]) {
        if (given.has(`${scheme}://${host}:${port}`)) continue;
        const shown = host.startsWith(".") ? `*${host}` : host;
        const hint = `add ${scheme}://${shown}:${port}, or make a token for each: a limit allows every combination of schemes, hosts and ports`;
        throw expressionError(
          `${quoted(subject)} would allow ${scheme}://${shown}:${port} too`,
          hint,
        );
      }
    }
  }
  // A hop has no property that is undefined.
  return {
    schemes,
    hosts,
    ...(ports === undefined ? {} : { ports }),
    ...(path === undefined ? {} : { path }),
  };
}

function readPlace(text: string, expressionError: ExpressionError): Place {
  const [, scheme = "", named = "", written, given = "/"] = PLACE.exec(text) ?? [];
  if (scheme === "") {
    const problem = /[?#]/.test(text)
      ? `a limit on URLs has no query and no fragment: ${quoted(text)}`
      : `${quoted(text)} is not a URL`;
    throw expressionError(problem, FORMS);
  }
  if (!URL_SCHEMES.includes(scheme)) {
    throw expressionError(
      `there is no limit on ${scheme} URLs`,
      `the schemes are ${URL_SCHEMES.join(", ")}`,
    );
  }
  const host = named.startsWith("*.") ? named.slice(1) : named;
  if (host.includes("*")) {
    const hint = "*. before a host stands for one or more labels; name any other host";
    throw expressionError(`${quoted(named)} is not a host`, hint);
  }
  if (given.includes("*")) {
    const hint = "a path stands for itself and everything below it, so leave out the *";
    throw expressionError(`${quoted(given)} is not a folder`, hint);
  }
  const path = given === "/" ? undefined : given;
  const port = written ?? defaultPort(scheme);
  return { scheme, host, port, hasPort: written !== undefined, path };
}

function unquoted(text: string): string {
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text;
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
