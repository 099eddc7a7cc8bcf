import type { Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { allowsArgument } from "./argument-domain.js";
import type { ArgumentDomain } from "./domain.js";
import type { UrlLimit } from "./hop.js";
import { segmentsOf } from "./path-form.js";
import { isScalar } from "./scalar.js";
import { defaultPort } from "./url-form.js";

/** Longest proposed value, in characters of JSON. A refusal repeats the value in each denial. */
const MAX_LENGTH = 4096;

/**
 * Returns a value in the domain that is close to the given value; `undefined` if no candidate is in the domain.
 * Candidates are not invented: each follows from the limits, or is the given value repaired, cut or converted to
 * another type.
 *
 * @param given - The argument of a call; `undefined` if it is missing.
 * @param suggest - Finds similar strings. All arguments of one refusal share this function, which bounds the work.
 */
export function nearestArgument(
  domain: ArgumentDomain,
  given: unknown,
  suggest: Suggest,
): Json | undefined {
  for (const candidate of candidates(domain, given, suggest)) {
    if (JSON.stringify(candidate).length <= MAX_LENGTH && allowsArgument(domain, candidate)) {
      return candidate;
    }
  }
  return undefined;
}

/** Yields values that may be in the domain, the best first. */
function* candidates(domain: ArgumentDomain, given: unknown, suggest: Suggest): Iterable<Json> {
  const { types, in: listed } = domain;
  if (listed !== undefined) yield* listedNear(listed, given, suggest);
  if (types.includes("number")) yield* numbersNear(domain, given);
  if (types.includes("string")) yield* stringsNear(domain, given);
  if (types.includes("boolean")) yield* given === "false" ? [false, true] : [true, false];
  if (types.includes("null")) yield null;
  if (types.includes("array")) yield* arraysNear(domain, given, suggest);
}

function* listedNear(listed: readonly Json[], given: unknown, suggest: Suggest): Iterable<Json> {
  // Only scalars are converted to strings: `String(given)` throws for an object, also inside an array, whose
  // property `toString` is not a function.
  const text = isScalar(given) ? String(given) : undefined;
  yield* listed.filter((value) => String(value) === text);
  const texts = listed.filter((value) => typeof value === "string");
  const near = suggest(given, texts);
  if (near !== undefined) yield near;
  const number = Number(text);
  const numbers = listed.filter((value) => typeof value === "number");
  if (Number.isFinite(number)) {
    yield* numbers.sort((one, other) => Math.abs(one - number) - Math.abs(other - number));
  }
  yield* listed;
}

function* numbersNear({ min, max }: ArgumentDomain, given: unknown): Iterable<number> {
  const number = typeof given === "number" || isNumeric(given) ? Number(given) : Number.NaN;
  const start = Number.isFinite(number) ? number : (min ?? max);
  if (start === undefined) return;
  const [least, most] = [min ?? Number.NEGATIVE_INFINITY, max ?? Number.POSITIVE_INFINITY];
  const within = (one: number): number => Math.min(Math.max(one, least), most);
  const bound = within(start);
  // The bound itself may be excluded by `not_in`.
  yield* [bound, within(bound - 1), within(bound + 1)];
}

function isNumeric(given: unknown): boolean {
  return typeof given === "string" && given.trim() !== "";
}

function* stringsNear(domain: ArgumentDomain, given: unknown): Iterable<string> {
  const { path, prefix, url } = domain;
  if (typeof given === "number" || typeof given === "boolean") yield String(given);
  const text = typeof given === "string" ? given : "";
  if (path !== undefined) yield* pathsNear(path, text);
  if (url !== undefined) yield* urlsNear(url, text);
  if (prefix === undefined) return;
  // The string may begin with the prefix in another case.
  if (text.toLowerCase().startsWith(prefix.toLowerCase())) yield prefix + text.slice(prefix.length);
  yield prefix;
}

function* pathsNear(folder: string, given: string): Iterable<string> {
  const repaired = resolved(given);
  yield repaired;
  if (folder.startsWith("/") && !repaired.startsWith("/")) yield resolved(`${folder}/${given}`);
  yield folder;
}

/** Removes empty segments and `.` from a path, and resolves `..`. */
function resolved(path: string): string {
  const segments: string[] = [];
  for (const segment of segmentsOf(path)) {
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return `${path.startsWith("/") ? "/" : ""}${segments.join("/")}`;
}

const URL_PARTS = /^([a-z]+):\/\/([^/?#:[]+|\[[^\]]*\])(?::(\d+))?(.*)$/is;

function* urlsNear(limit: UrlLimit, given: string): Iterable<string> {
  const [, scheme = "", host = "", port, rest = ""] = URL_PARTS.exec(given) ?? [];
  const schemes = [scheme.toLowerCase(), ...limit.schemes];
  const hosts = [host.toLowerCase(), ...limit.hosts.filter((one) => !one.startsWith("."))];
  const folder = limit.path ?? "/";
  // Candidates that keep more of the given URL come first: the host matters most, then the path, the scheme and the
  // port.
  for (const own of hosts.slice(0, 2)) {
    for (const path of [rest.startsWith("/") ? rest : `/${rest}`, folder]) {
      for (const one of schemes) {
        for (const number of [port, defaultPort(one), limit.ports?.[0]]) {
          const isWritten = number !== undefined && number !== defaultPort(one);
          yield `${one}://${own}${isWritten ? `:${number}` : ""}${path}`;
        }
      }
    }
  }
}

function* arraysNear(
  domain: ArgumentDomain,
  given: unknown,
  suggest: Suggest,
): Iterable<readonly Json[]> {
  const { each, items: { min, max } = { min: 0, max: Number.POSITIVE_INFINITY } } = domain;
  const elements = (Array.isArray(given) ? given : given === undefined ? [] : [given]) as Json[];
  if (each === undefined) {
    yield elements.slice(0, max);
    return;
  }
  const allowed = elements.filter((element) => allowsArgument(each, element));
  if (allowed.length > 0) yield allowed.slice(0, max);
  const near = elements
    .slice(0, max)
    .flatMap((element) => nearestArgument(each, element, suggest) ?? []);
  if (near.length > 0) yield near;
  const first = nearestArgument(each, undefined, suggest);
  const rest = first === undefined ? [] : new Array<Json>(Math.max(min, 0)).fill(first);
  yield [...near, ...rest].slice(0, Math.max(min, near.length));
}
