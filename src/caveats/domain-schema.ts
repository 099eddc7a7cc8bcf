import type { Json, JsonObject } from "../bytes/json.js";
import { MAX_JUDGED_ELEMENTS } from "./argument-operators.js";
import type { ArgumentDomain } from "./domain.js";
import type { UrlLimit } from "./hop.js";
import { defaultPort } from "./url-form.js";

/** A schema that no value satisfies. */
export const NOTHING: JsonObject = { not: {} };

/**
 * Returns a JSON Schema for the values of a domain. The schema means the same in all drafts from 6 to 2020-12, and
 * its patterns mean the same in all common dialects of regular expressions. It accepts every value of the domain. It
 * also accepts a few other strings: strings with lone surrogates, strings of more than 4,096 UTF-16 code units, and
 * strings that violate a rule left unchecked by {@link pathPattern} or {@link urlPattern}.
 */
export function schemaOfDomain(domain: ArgumentDomain): JsonObject {
  const { types, in: listed, not_in: excluded, min, max, path, prefix, url, each } = domain;
  if (types.length === 0) return NOTHING;
  const [pattern, ...patterns] = [
    ...(path === undefined ? [] : [pathPattern(path)]),
    ...(prefix === undefined ? [] : [`^${literal(prefix)}`]),
    ...(url === undefined ? [] : [urlPattern(url)]),
  ];
  const keywords: { readonly [keyword: string]: Json | undefined } = {
    type: oneOrAll(types),
    ...(listed === undefined ? {} : listing(listed)),
    not: excluded === undefined ? undefined : listing(excluded),
    minimum: min,
    maximum: max,
    pattern,
    allOf: patterns.length === 0 ? undefined : patterns.map((one) => ({ pattern: one })),
    ...(types.includes("array") ? ofItems(domain) : {}),
    items: each === undefined ? undefined : schemaOfDomain(each),
  };
  return withoutUndefined(keywords);
}

function ofItems({ items = { min: 0, max: MAX_JUDGED_ELEMENTS } }: ArgumentDomain) {
  return { minItems: items.min === 0 ? undefined : items.min, maxItems: items.max };
}

function listing(values: readonly Json[]): JsonObject {
  const [only, ...more] = values;
  return only !== undefined && more.length === 0 ? { const: only } : { enum: values };
}

/** Returns the value of the keyword `type`: a string for one type, otherwise an array. */
export function oneOrAll(types: readonly string[]): Json {
  const [only, ...more] = types;
  return only !== undefined && more.length === 0 ? only : types;
}

function withoutUndefined(keywords: { readonly [keyword: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(keywords).flatMap(([keyword, value]) =>
      value === undefined ? [] : [[keyword, value] as const],
    ),
  );
}

/** Escapes a text for a regular expression. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

const NO_SEGMENT = String.raw`/\\:%\x00-\x1f\x7f-\x9f`;
const PATH_SEGMENT = `(?:[^${NO_SEGMENT} ][^${NO_SEGMENT}]*)?[^${NO_SEGMENT} .]`;

/**
 * Returns a pattern for a folder and the paths below it. The pattern leaves two rules of the strict form
 * (docs/spec.md, section 5.2) unchecked: the rule on code points from U+00A0 on, and the rule on `~` at the
 * beginning.
 */
function pathPattern(folder: string): string {
  if (folder === "/") return `^/(?:${PATH_SEGMENT}(?:/${PATH_SEGMENT})*)?$`;
  return `^${literal(folder)}(?:/${PATH_SEGMENT})*$`;
}

const LITERALS = "A-Za-z0-9_~!$&'()*+,=@-";
const ESCAPE = "%(?:2[02]|3[CE]|5[BDE]|60|7[B-D]|[89A-F][0-9A-F])";
const URL_SEGMENT = `(?:[.${LITERALS}]|${ESCAPE})*(?:[${LITERALS}]|${ESCAPE})`;
const LABELS = String.raw`(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+`;
const QUERY_AND_FRAGMENT = String.raw`(?:\?[!-"$-~]*)?(?:#[!-"$-~]*)?`;

/**
 * Returns a pattern for the URLs that a limit allows. The pattern leaves some rules of the strict form (docs/spec.md,
 * section 5.3) unchecked: the rules on the decoded path, and for hosts below a suffix the limit on the length and the
 * rule on labels with `xn--`.
 */
function urlPattern({ schemes, hosts, ports, path }: UrlLimit): string {
  const hostPattern = anyOf(
    hosts.map((host) => (host.startsWith(".") ? LABELS + literal(host.slice(1)) : literal(host))),
  );
  const origins = schemes.map((scheme) => {
    const standard = defaultPort(scheme);
    const written = (ports ?? [standard]).map((port) => (port === standard ? "" : `:${port}`));
    return `${scheme}://${hostPattern}${anyOf(written)}`;
  });
  const below =
    path === undefined || path === "/"
      ? `/(?:${URL_SEGMENT}(?:/${URL_SEGMENT})*/?)?`
      : `${literal(path)}(?:/${URL_SEGMENT})*/?`;
  return `^${anyOf(origins)}${below}${QUERY_AND_FRAGMENT}$`;
}

function anyOf(patterns: readonly string[]): string {
  const [only = "", ...more] = patterns;
  return more.length === 0 ? only : `(?:${patterns.join("|")})`;
}
