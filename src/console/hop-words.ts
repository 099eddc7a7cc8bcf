import { canonicalJson, type Json } from "../bytes/json.js";
import { constraintFrom, isDead } from "../caveats/argument-domain.js";
import { argumentName } from "../caveats/argument-pointer.js";
import type { Authority } from "../caveats/authority.js";
import type { ArgumentDomain, Domain } from "../caveats/domain.js";
import type {
  ArgumentConstraint,
  ArgumentOperators,
  Constraint,
  Hop,
  Operators,
  UrlLimit,
} from "../caveats/hop.js";
import type { KeyWords } from "../caveats/hop-rule.js";
import { HOP_RULES, overHop } from "../caveats/hop-rules.js";
import { authorityOver, leftOfArgument } from "../caveats/operation-authority.js";
import type { Scalar } from "../caveats/scalar.js";
import { html, type Markup, time } from "../http/markup/markup.js";
import { trusted, untrusted } from "../http/markup/untrusted-text.js";

/** A label with its description. The label of a limit on an argument is the argument's name. */
export type Row = readonly [label: Markup | string, words: Markup];

/** Describes the limits of one hop in words. */
export function hopWords(hop: Hop, now: number, byOrigin: TextByOrigin): readonly Row[] {
  return overHop(hop, (rule, value, key) =>
    key === "nonce" ? [] : rows(labelOf(rule.label), rule.words(value), now, byOrigin),
  ).flat();
}

/** Describes the combined limits of all hops in words. */
export function authorityWords(
  authority: Authority,
  now: number,
  byOrigin: TextByOrigin,
): readonly Row[] {
  return Object.values(HOP_RULES).flatMap((rule) => {
    const left = rule.left(authority);
    return left === undefined ? [] : rows(labelOf(rule.label), left, now, byOrigin);
  });
}

// Labels that the console shows instead of those in the table of hop keys.
const LABELS: Readonly<Record<string, string>> = {
  expires: "Ends",
  audience: "Services",
  invokers: "Agents that may use it",
  "further hops": "Handed on",
  purpose: "Why",
};

function labelOf(label: string): string {
  return LABELS[label] ?? `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

function rows(label: string, words: KeyWords, now: number, byOrigin: TextByOrigin): readonly Row[] {
  switch (words.kind) {
    case "set":
      return [
        [label, words.items.length === 0 ? html`none` : joined(words.items.map(byOrigin.name))],
      ];
    case "time":
      return [[label, time(words.time, now)]];
    case "limits":
      return Object.entries(words.limits).map(([name, limit]) => [
        byOrigin.name(name),
        limitWords(limit, byOrigin),
      ]);
    case "domains":
      return Object.entries(words.domains).map(([name, left]) => [
        byOrigin.name(name),
        domainWords(left, byOrigin),
      ]);
    case "operation-limits":
      return byOperation(words.operations, byOrigin, (limit) => argumentWords(limit, byOrigin));
    case "operation-domains":
      return byOperation(words.operations, byOrigin, (domain) =>
        argumentDomainWords(domain, byOrigin),
      );
    case "closed-lists":
      return Object.entries(words.lists).map(([operation, names]) => [
        label,
        html`${byOrigin.name(operation)}: ${names.length === 0 ? html`none` : joined(names.map(byOrigin.name))}`,
      ]);
    case "count":
      return [[label, words.count <= 0 ? html`not at all` : html`at most ${words.count} times`]];
    case "text":
      return [[label, untrusted(words.text)]];
  }
}

/** Describes a limit on one argument, such as `at least 1, at most 1000`. */
function limitWords(limit: Constraint, byOrigin: TextByOrigin): Markup {
  if (limit === null || typeof limit !== "object") return html`exactly ${byOrigin.value(limit)}`;
  return operatorWords(limit, byOrigin);
}

/** Describes the limits on one argument. */
export function domainWords(domain: Domain, byOrigin: TextByOrigin): Markup {
  const { types, ...limit } = domain;
  if (types.length === 0) return html`<strong>no value is allowed</strong>`;
  const [only, ...more] = limit.in ?? [];
  if (only !== undefined && more.length === 0) return html`exactly ${byOrigin.value(only)}`;
  return operatorWords(limit, byOrigin);
}

/**
 * Describes the remaining values of an argument: once if all operations allow the same values, otherwise for each
 * operation.
 */
export function leftWords(
  argument: string,
  operations: readonly string[],
  authority: Authority,
  byOrigin: TextByOrigin,
): Markup {
  const left = operations.map((operation) => {
    const domain = leftOfArgument(authorityOver(operation, authority), argumentName([argument]));
    return { operation, domain };
  });
  const [first] = left;
  const isAlike =
    new Set(left.map(({ domain }) => canonicalJson(domain as unknown as Json))).size === 1;
  if (first !== undefined && isAlike) return argumentDomainWords(first.domain, byOrigin);
  return joined(
    left.map(
      ({ operation, domain }) =>
        html`${byOrigin.name(operation)}: ${argumentDomainWords(domain, byOrigin)}`,
    ),
  );
}

function argumentDomainWords(domain: ArgumentDomain, byOrigin: TextByOrigin): Markup {
  if (isDead(domain)) return html`<strong>no value is allowed</strong>`;
  const limit = constraintFrom(domain);
  return limit === undefined ? html`any value` : argumentWords(limit, byOrigin);
}

function byOperation<Limit>(
  operations: { readonly [operation: string]: { readonly [argument: string]: Limit } },
  byOrigin: TextByOrigin,
  words: (limit: Limit) => Markup,
): readonly Row[] {
  return Object.entries(operations).flatMap(([operation, limits]) =>
    Object.entries(limits).map(
      ([name, limit]): Row => [
        html`${byOrigin.name(name)} of ${byOrigin.name(operation)}`,
        words(limit),
      ],
    ),
  );
}

/** Describes a limit on an argument of a single operation. */
function argumentWords(limit: ArgumentConstraint, byOrigin: TextByOrigin): Markup {
  if (limit === null || typeof limit !== "object") return html`exactly ${byOrigin.value(limit)}`;
  if (limit.absent === true) return html`must be left out`;
  const words = elementWords(limit, byOrigin);
  return limit.optional === true ? html`${words}, or left out` : words;
}

function elementWords(limit: ArgumentOperators, byOrigin: TextByOrigin): Markup {
  const { path, prefix, url, items, each } = limit;
  const { value } = byOrigin;
  const parts: Markup[] = [];
  const { min, max, in: listed, not_in } = limit;
  if ([min, max, listed, not_in].some((operand) => operand !== undefined)) {
    parts.push(operatorWords(limit, byOrigin));
  }
  if (path !== undefined) parts.push(html`a path under ${value(path)}`);
  if (prefix !== undefined) parts.push(html`beginning with ${value(prefix)}`);
  if (url !== undefined) parts.push(urlWords(url, byOrigin));
  if (items?.min !== undefined)
    parts.push(html`at least ${value(items.min)} ${elements(items.min)}`);
  if (items?.max !== undefined)
    parts.push(html`at most ${value(items.max)} ${elements(items.max)}`);
  if (each !== undefined) parts.push(html`each element ${elementWords(each, byOrigin)}`);
  return joined(parts);
}

function elements(count: number): string {
  return count === 1 ? "element" : "elements";
}

function urlWords({ schemes, hosts, ports, path }: UrlLimit, { value }: TextByOrigin): Markup {
  const parts = [html`a URL of ${joined(schemes.map(value))} to ${joined(hosts.map(value))}`];
  if (ports !== undefined) parts.push(html`port ${joined(ports.map(value))}`);
  if (path !== undefined) parts.push(html`path under ${value(path)}`);
  return joined(parts);
}

function operatorWords(
  { min, max, in: allowed, not_in: excluded }: Operators,
  { value }: TextByOrigin,
): Markup {
  const parts: Markup[] = [];
  if (min !== undefined) parts.push(html`at least ${value(min)}`);
  if (max !== undefined) parts.push(html`at most ${value(max)}`);
  if (allowed !== undefined) parts.push(html`only ${joined(allowed.map(value))}`);
  if (excluded !== undefined) parts.push(html`not ${joined(excluded.map(value))}`);
  return joined(parts);
}

/** Joins parts with commas. */
export function joined(parts: readonly Markup[]): Markup {
  return html`${parts.map((part, at) => (at === 0 ? part : html`, ${part}`))}`;
}

/**
 * Marks strings by their origin. Strings of other parties are quoted and coloured; those of the server and its
 * users are not coloured.
 */
export interface TextByOrigin {
  /** Marks a name, such as that of an argument. */
  name(text: string): Markup;
  /** Marks a value of an argument. Every string is quoted, so that "1" and 1 differ. */
  value(one: Scalar): Markup;
}

/** @param own - Strings that the server or the user has chosen. Every other string counts as another party's. */
export function textByOrigin(own: ReadonlySet<string>): TextByOrigin {
  return {
    name: (text) => (own.has(text) ? trusted(text) : untrusted(text)),
    value(one) {
      if (typeof one === "string" && !own.has(one)) return untrusted(one);
      return html`<b class="value">${trusted(JSON.stringify(one))}</b>`;
    },
  };
}
