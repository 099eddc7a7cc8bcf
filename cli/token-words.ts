import {
  type InspectedLink,
  type InspectedMacaroon,
  inspect,
  type RawBytes,
} from "../src/capability/inspect.js";
import { constraintFrom } from "../src/caveats/argument-domain.js";
import type { Authority } from "../src/caveats/authority.js";
import type { ArgumentDomain, Domain } from "../src/caveats/domain.js";
import type {
  ArgumentConstraint,
  ArgumentOperators,
  Constraint,
  Hop,
  ItemsLimit,
  UrlLimit,
} from "../src/caveats/hop.js";
import type { KeyWords } from "../src/caveats/hop-rule.js";
import { HOP_RULES, overHop } from "../src/caveats/hop-rules.js";
import type { OperationAuthority } from "../src/caveats/operation-authority.js";
import type { Scalar } from "../src/caveats/scalar.js";
import { counted } from "../src/display/counted.js";
import { seenFromNow } from "./moment.js";
import {
  escapedJson,
  type Paint,
  printable,
  quoted,
  quotedUnless,
  type Row,
  renderRows,
} from "./output.js";

// Strings that need no quotes. They contain no "*", which --arg reads as a pattern, and do not end in ":",
// which --arg reads as another language's operator.
const BARE = /^[A-Za-z0-9_.:/@+-]*[A-Za-z0-9_./@+-]$/;

/** Longest list of handles that is shown in full, and the number of handles shown of a longer list. */
const [MOST_HANDLES, FIRST_HANDLES] = [6, 3];

export function hopRows(hop: Hop, now: number): Row[] {
  return overHop(hop, (rule, value) => rowsOf(rule.label, rule.words(value), now)).flat();
}

export function authorityRows(authority: Authority, now: number): Row[] {
  const rows = Object.values(HOP_RULES).flatMap((rule) => {
    const left = rule.left(authority);
    return left === undefined ? [] : rowsOf(rule.label, left, now);
  });
  const { label } = HOP_RULES.operations;
  return authority.operations === undefined ? [[label, "any of its grant"], ...rows] : rows;
}

function rowsOf(label: string, words: KeyWords, now: number): Row[] {
  switch (words.kind) {
    case "set":
      return [[label, words.items.length === 0 ? "nothing" : setText(label, words.items)]];
    case "time":
      return [[label, `${words.time} (${seenFromNow(words.time, now)})`]];
    case "limits":
      return Object.entries(words.limits).map(([name, limit]) => [label, limitText(name, limit)]);
    case "domains":
      return Object.entries(words.domains).map(([name, left]) => [label, domainText(name, left)]);
    case "operation-limits":
      return byOperation(label, words.operations, argumentText);
    case "operation-domains":
      return byOperation(label, words.operations, argumentDomainText);
    case "closed-lists":
      return Object.entries(words.lists).map(([operation, names]) => [
        label,
        `${word(operation)}: ${names.length === 0 ? "none" : names.map(word).join(", ")}`,
      ]);
    case "count":
      return [[label, words.count <= 0 ? "none" : `at most ${words.count}`]];
    case "text":
      return [[label, quoted(words.text)]];
  }
}

/** Formats a set. A long list of handles is shortened, since people cannot read handles. */
function setText(label: string, items: readonly string[]): string {
  if (label !== HOP_RULES.resourceHandles.label || items.length <= MOST_HANDLES) {
    return items.map(word).join(", ");
  }
  const first = items.slice(0, FIRST_HANDLES).map(word).join(", ");
  return `${first} and ${items.length - FIRST_HANDLES} more (--json shows all ${items.length})`;
}

function limitText(argument: string, limit: Constraint): string {
  const name = argument.startsWith("/") ? quoted(argument) : argumentName(argument);
  if (limit === null || typeof limit !== "object") return `${name} = ${scalar(limit)}`;
  const parts: string[] = [];
  if (limit.min !== undefined) parts.push(`${name} >= ${limit.min}`);
  if (limit.max !== undefined) parts.push(`${name} <= ${limit.max}`);
  if (limit.in !== undefined) parts.push(`${name} in ${scalars(limit.in)}`);
  if (limit.not_in !== undefined) parts.push(`${name} not in ${scalars(limit.not_in)}`);
  return parts.join(", ");
}

function domainText(argument: string, domain: Domain): string {
  const { types, ...limit } = domain;
  if (types.length === 0) return `${argumentName(argument)}: no value is left`;
  const [only, ...more] = limit.in ?? [];
  if (only !== undefined && more.length === 0) return limitText(argument, only);
  return limitText(argument, limit);
}

function byOperation<Limit>(
  label: string,
  operations: { readonly [operation: string]: { readonly [argument: string]: Limit } },
  text: (argument: string, limit: Limit) => string,
): Row[] {
  return Object.entries(operations).flatMap(([operation, limits]) =>
    Object.entries(limits).map(
      ([argument, limit]): Row => [label, `${word(operation)}: ${text(argument, limit)}`],
    ),
  );
}

function argumentDomainText(argument: string, domain: ArgumentDomain): string {
  const limit = constraintFrom(domain);
  return limit === undefined
    ? `${argumentName(argument)}: no value is left`
    : argumentText(argument, limit);
}

/**
 * Describes the arguments that an authority allows for one operation: a text for each limit, and a text for the
 * closed list.
 */
export function operationTexts({ limited, closed }: OperationAuthority): readonly string[] {
  const limits = [...limited].map(([argument, domain]) => argumentDomainText(argument, domain));
  if (closed === undefined) return limits;
  return [...limits, closed.length === 0 ? "no arguments" : `only ${closed.map(word).join(", ")}`];
}

/** Describes a limit on an argument of one operation: `path under /data`, `limit <= 100 if it is there`. */
function argumentText(argument: string, limit: ArgumentConstraint): string {
  if (limit === null || typeof limit !== "object") return limitText(argument, limit);
  if (limit.absent === true) return `${argumentName(argument)} absent`;
  const parts = operatorTexts(argumentName(argument), limit);
  return `${parts.join(", ")}${limit.optional === true ? ", if it is there" : ""}`;
}

function operatorTexts(name: string, limit: ArgumentOperators): string[] {
  const { min, max, in: listed, not_in, path, prefix, url, items, each } = limit;
  const parts: string[] = [];
  if (min !== undefined) parts.push(`${name} >= ${min}`);
  if (max !== undefined) parts.push(`${name} <= ${max}`);
  if (listed !== undefined) parts.push(`${name} in ${scalars(listed)}`);
  if (not_in !== undefined) parts.push(`${name} not in ${scalars(not_in)}`);
  if (path !== undefined) parts.push(`${name} under ${word(path)}`);
  if (prefix !== undefined) parts.push(`${name} begins with ${word(prefix)}`);
  if (url !== undefined) parts.push(`${name} is a URL: ${urlText(url)}`);
  if (items !== undefined) parts.push(`${name} has ${countText(items)}`);
  if (each !== undefined) parts.push(...operatorTexts(`${name} each`, each));
  return parts;
}

function urlText({ schemes, hosts, ports, path }: UrlLimit): string {
  const parts = [`${schemes.join(" or ")} to ${hosts.map(word).join(", ")}`];
  if (ports !== undefined) parts.push(`port ${ports.join(" or ")}`);
  if (path !== undefined) parts.push(`under ${word(path)}`);
  return parts.join(", ");
}

function countText({ min = 0, max }: ItemsLimit): string {
  if (max === undefined) return `at least ${counted(min, "element")}`;
  if (min === max) return counted(max, "element");
  return min === 0 ? `at most ${counted(max, "element")}` : `${min} to ${max} elements`;
}

function scalars(items: readonly Scalar[]): string {
  return items.map(scalar).join(",");
}

function scalar(value: Scalar): string {
  return typeof value === "string" ? word(value) : escapedJson(value);
}

// Writes a string without quotes if `--arg` would then read the same string; otherwise with quotes.
function word(text: string): string {
  return quotedUnless(BARE, text);
}

// Writes the name of an argument. A name with a colon is quoted, because --arg would read the part before the
// colon as an operation.
function argumentName(name: string): string {
  return name.includes(":") ? quoted(name) : word(name);
}

/** Formats the links of a macaroon as a tree, from the first link at the top. */
export function renderLinks(macaroon: InspectedMacaroon, paint: Paint, now: number): string[] {
  const { links } = macaroon;
  if (links.length === 0) return ["no hops: nothing was taken away"];
  return links.flatMap((link, at) => {
    const last = at === links.length - 1;
    const lines = renderRows(linkRows(link, now), paint);
    return [
      `${last ? "└─" : "├─"} ${paint.bold(`hop ${link.number}`)}${linkTitle(link, paint)}`,
      ...lines.map((line) => `${last ? "  " : "│ "}    ${line}`),
    ];
  });
}

function linkTitle(link: InspectedLink, paint: Paint): string {
  if (link.kind === "third-party") return paint.yellow("  third party: needs a discharge");
  if (link.kind === "unreadable") return paint.yellow("  not a hop: every check would refuse it");
  return link.number === 1 ? "  the issuer's" : "";
}

function linkRows(link: InspectedLink, now: number): Row[] {
  if (link.hop !== undefined) return hopRows(link.hop, now);
  const rows: Row[] = [];
  if (link.location !== undefined) rows.push(["ask at", quoted(link.location)]);
  for (const { message } of link.problems ?? []) rows.push(["problem", printable(message)]);
  if (link.raw !== undefined) rows.push(["raw", rawText(link.raw)]);
  return rows;
}

/** Formats bytes as a quoted string if they are UTF-8, otherwise in hexadecimal. */
export function rawText(raw: RawBytes): string {
  return raw.text === undefined ? `hex ${raw.hex ?? ""}` : quoted(raw.text);
}

/** Describes a new token in one line, for standard error. The line never contains the token. */
export function summaryLine(token: string): string {
  const { capability, authority, revocationId } = inspect(token);
  const { expires } = authority;
  const id = printable(capability?.id ?? "not a capability");
  const seen = seenFromNow(expires ?? "", Date.now());
  const verb = seen.endsWith("ago") ? "expired" : "expires";
  const when = expires === undefined ? "never expires" : `${verb} ${seen} (${expires})`;
  return `${id} ${when}, revocation id ${revocationId}`;
}
