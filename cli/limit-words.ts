import type {
  ArgumentConstraint,
  ElementOperators,
  Hop,
  ItemsLimit,
  UrlLimit,
} from "../src/caveats/hop.js";
import type { Scalar } from "../src/caveats/scalar.js";
import { escapedJson, quoted, quotedUnless } from "./output.js";

// Strings of only these characters need no quotes. The characters exclude "*", which `--arg` reads as a pattern, and
// ":", which at the end of a name looks like a part of another language's operator (`:=`).
const BARE = /^[A-Za-z0-9_./@+-]+$/;

/**
 * Writes limits on arguments as expressions of `--arg`. `readLimits` converts the expressions back to the same
 * limits.
 */
export function limitExpressions(
  constraints: NonNullable<Hop["operationConstraints"]>,
): readonly string[] {
  return Object.entries(constraints).flatMap(([operation, limits]) =>
    Object.entries(limits).flatMap(([argument, limit]) =>
      endsOf(limit).map(([mark, end]) => `${word(operation)}:${mark}${word(argument)}${end}`),
    ),
  );
}

/** Writes a closed list of arguments as an expression of `--only-args`. */
export function closedListExpression(operation: string, names: readonly string[]): string {
  return `${word(operation)}:${names.map(word).join(",")}`;
}

/** Writes names separated by commas, as `--op` reads them. */
export function nameList(names: readonly string[]): string {
  return names.map(word).join(",");
}

/** Writes each part of a limit as two strings: one before the name of the argument, and one after it. */
function endsOf(limit: ArgumentConstraint): readonly (readonly [mark: "" | "?", end: string])[] {
  if (limit === null || typeof limit !== "object") return [["", `=${scalar(limit)}`]];
  if (limit.absent === true) return [["", " absent"]];
  const ends = operatorEnds(limit);
  const each = limit.each === undefined ? [] : operatorEnds(limit.each);
  const mark = limit.optional === true ? "?" : "";
  return [...ends, ...each.map((end) => ` each${end}`)].map((end) => [mark, end]);
}

function operatorEnds({
  min,
  max,
  in: listed,
  not_in,
  path,
  prefix,
  url,
  items,
}: ElementOperators): readonly string[] {
  const ends: string[] = [];
  if (min !== undefined) ends.push(`>=${scalar(min)}`);
  if (max !== undefined) ends.push(`<=${scalar(max)}`);
  if (listed !== undefined) ends.push(` in ${listed.map(scalar).join(",")}`);
  if (not_in !== undefined) ends.push(` not in ${not_in.map(scalar).join(",")}`);
  if (path !== undefined) ends.push(` under ${word(path)}`);
  if (prefix !== undefined) ends.push(` begins with ${word(prefix)}`);
  if (url !== undefined) ends.push(urlEnd(url));
  if (items !== undefined) ends.push(...itemEnds(items));
  return ends;
}

function itemEnds({ min, max }: ItemsLimit): readonly string[] {
  if (min === max) return [` items=${min}`];
  return [
    ...(min === undefined ? [] : [` items>=${min}`]),
    ...(max === undefined ? [] : [` items<=${max}`]),
  ];
}

/**
 * Writes a URL for every combination of scheme, host and port. `readUrls` converts such a list back to the same
 * limit.
 */
function urlEnd({ schemes, hosts, ports, path = "" }: UrlLimit): string {
  const folder = path === "/" ? "" : path;
  const urls = schemes.flatMap((scheme) =>
    hosts.flatMap((host) => {
      const name = host.startsWith(".") ? `*${host}` : host;
      return (ports ?? [undefined]).map(
        (port) => `${scheme}://${name}${port === undefined ? "" : `:${port}`}${folder}`,
      );
    }),
  );
  return ` at ${urls.map((one) => (one.includes(",") ? quoted(one) : one)).join(",")}`;
}

function scalar(value: Scalar): string {
  return typeof value === "string" ? word(value) : escapedJson(value);
}

/** Writes a string without quotes if `--arg` would then read the same string; otherwise with quotes. */
export function word(text: string): string {
  return quotedUnless(BARE, text);
}
