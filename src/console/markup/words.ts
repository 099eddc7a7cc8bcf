import { constraintFrom } from "../../caveats/argument-domain.js";
import type { Authority } from "../../caveats/authority.js";
import type { Domain } from "../../caveats/domain.js";
import type {
  ArgumentConstraint,
  ArgumentOperators,
  Constraint,
  Hop,
  Operators,
  UrlLimit,
} from "../../caveats/hop.js";
import type { KeyWords } from "../../caveats/hop-rule.js";
import { HOP_RULES, overHop } from "../../caveats/hop-rules.js";
import { html, type Markup, time } from "../../http/markup/markup.js";
import { said } from "../../http/markup/said.js";
import type { Voice } from "./voices.js";

/** A label of ours and what stands beside it; or, of an argument, its name and its limits. */
export type Row = readonly [label: Markup | string, words: Markup];

/** What one party demands, in words. */
export function hopWords(hop: Hop, now: number, voice: Voice): readonly Row[] {
  return overHop(hop, (rule, value, key) =>
    key === "nonce" ? [] : rows(labelOf(rule.label), rule.words(value), now, voice),
  ).flat();
}

/** What all parties together leave, in words. */
export function authorityWords(authority: Authority, now: number, voice: Voice): readonly Row[] {
  return Object.values(HOP_RULES).flatMap((rule) => {
    const left = rule.left(authority);
    return left === undefined ? [] : rows(labelOf(rule.label), left, now, voice);
  });
}

// Of the labels in the table of hops, those that need other words here.
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

function rows(label: string, words: KeyWords, now: number, voice: Voice): readonly Row[] {
  switch (words.kind) {
    case "set":
      return [[label, words.items.length === 0 ? html`none` : joined(words.items.map(voice.name))]];
    case "time":
      return [[label, time(words.time, now)]];
    case "limits":
      return Object.entries(words.limits).map(([name, limit]) => [
        voice.name(name),
        limitWords(limit, voice),
      ]);
    case "domains":
      return Object.entries(words.domains).map(([name, left]) => [
        voice.name(name),
        domainWords(left, voice),
      ]);
    case "operation-limits":
      return byOperation(words.operations, voice, (limit) => argumentWords(limit, voice));
    case "operation-domains":
      return byOperation(words.operations, voice, (domain) => {
        const limit = constraintFrom(domain);
        if (limit === undefined) return html`<strong>no value is allowed</strong>`;
        return argumentWords(limit, voice);
      });
    case "closed-lists":
      return Object.entries(words.lists).map(([operation, names]) => [
        label,
        html`${voice.name(operation)}: ${names.length === 0 ? html`none` : joined(names.map(voice.name))}`,
      ]);
    case "count":
      return [[label, words.count <= 0 ? html`not at all` : html`at most ${words.count} times`]];
    case "text":
      return [[label, said(words.text)]];
  }
}

/** A limit on one argument: `at least 1, at most 1000`. */
function limitWords(limit: Constraint, voice: Voice): Markup {
  if (limit === null || typeof limit !== "object") return html`exactly ${voice.value(limit)}`;
  return operatorWords(limit, voice);
}

/** What limits leave to one argument. */
export function domainWords(domain: Domain, voice: Voice): Markup {
  const { types, ...limit } = domain;
  if (types.length === 0) return html`<strong>no value is allowed</strong>`;
  const [only, ...more] = limit.in ?? [];
  if (only !== undefined && more.length === 0) return html`exactly ${voice.value(only)}`;
  return operatorWords(limit, voice);
}

function byOperation<Limit>(
  operations: { readonly [operation: string]: { readonly [argument: string]: Limit } },
  voice: Voice,
  words: (limit: Limit) => Markup,
): readonly Row[] {
  return Object.entries(operations).flatMap(([operation, limits]) =>
    Object.entries(limits).map(
      ([name, limit]): Row => [html`${voice.name(name)} of ${voice.name(operation)}`, words(limit)],
    ),
  );
}

/** A limit on one argument of an operation. */
function argumentWords(limit: ArgumentConstraint, voice: Voice): Markup {
  if (limit === null || typeof limit !== "object") return html`exactly ${voice.value(limit)}`;
  if (limit.absent === true) return html`must be left out`;
  const words = elementWords(limit, voice);
  return limit.optional === true ? html`${words}, or left out` : words;
}

function elementWords(limit: ArgumentOperators, voice: Voice): Markup {
  const { path, prefix, url, items, each } = limit;
  const { value } = voice;
  const parts: Markup[] = [];
  const { min, max, in: listed, not_in } = limit;
  if ([min, max, listed, not_in].some((operand) => operand !== undefined)) {
    parts.push(operatorWords(limit, voice));
  }
  if (path !== undefined) parts.push(html`a path under ${value(path)}`);
  if (prefix !== undefined) parts.push(html`beginning with ${value(prefix)}`);
  if (url !== undefined) parts.push(urlWords(url, voice));
  if (items?.min !== undefined) parts.push(html`at least ${value(items.min)} elements`);
  if (items?.max !== undefined) parts.push(html`at most ${value(items.max)} elements`);
  if (each !== undefined) parts.push(html`each element ${elementWords(each, voice)}`);
  return joined(parts);
}

function urlWords({ schemes, hosts, ports, path }: UrlLimit, { value }: Voice): Markup {
  const parts = [html`a URL of ${joined(schemes.map(value))} to ${joined(hosts.map(value))}`];
  if (ports !== undefined) parts.push(html`port ${joined(ports.map(value))}`);
  if (path !== undefined) parts.push(html`path under ${value(path)}`);
  return joined(parts);
}

function operatorWords(
  { min, max, in: allowed, not_in: excluded }: Operators,
  { value }: Voice,
): Markup {
  const parts: Markup[] = [];
  if (min !== undefined) parts.push(html`at least ${value(min)}`);
  if (max !== undefined) parts.push(html`at most ${value(max)}`);
  if (allowed !== undefined) parts.push(html`only ${joined(allowed.map(value))}`);
  if (excluded !== undefined) parts.push(html`not ${joined(excluded.map(value))}`);
  return joined(parts);
}

function joined(parts: readonly Markup[]): Markup {
  return html`${parts.map((part, at) => (at === 0 ? part : html`, ${part}`))}`;
}
