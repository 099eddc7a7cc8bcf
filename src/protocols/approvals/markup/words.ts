import type { Authority } from "../../../caveats/authority.js";
import type { Domain } from "../../../caveats/domain.js";
import type { Constraint, Hop, Operators } from "../../../caveats/hop.js";
import type { KeyWords } from "../../../caveats/hop-rule.js";
import { HOP_RULES, overHop } from "../../../caveats/hop-rules.js";
import type { Scalar } from "../../../caveats/scalar.js";
import { html, type Markup, time } from "./markup.js";
import { said } from "./said.js";

/** A label of ours and what stands beside it; or, of an argument, its name and its limits. */
export type Row = readonly [label: Markup | string, words: Markup];

/** What one party demands, in words. */
export function hopWords(hop: Hop, now: number): readonly Row[] {
  return overHop(hop, (rule, value, key) =>
    key === "nonce" ? [] : rows(labelOf(rule.label), rule.words(value), now),
  ).flat();
}

/** What all parties together leave, in words. */
export function authorityWords(authority: Authority, now: number): readonly Row[] {
  return Object.values(HOP_RULES).flatMap((rule) => {
    const left = rule.left(authority);
    return left === undefined ? [] : rows(labelOf(rule.label), left, now);
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

function rows(label: string, words: KeyWords, now: number): readonly Row[] {
  switch (words.kind) {
    case "set":
      return [[label, words.items.length === 0 ? html`none` : listed(words.items)]];
    case "time":
      return [[label, time(words.time, now)]];
    case "limits":
      return Object.entries(words.limits).map(([name, limit]) => [said(name), limitWords(limit)]);
    case "domains":
      return Object.entries(words.domains).map(([name, left]) => [said(name), domainWords(left)]);
    case "count":
      return [[label, words.count <= 0 ? html`not at all` : html`at most ${words.count} times`]];
    case "text":
      return [[label, said(words.text)]];
  }
}

/** A limit on one argument: `at least 1, at most 1000`. */
function limitWords(limit: Constraint): Markup {
  if (limit === null || typeof limit !== "object") return html`exactly ${value(limit)}`;
  return operatorWords(limit);
}

/** What limits leave to one argument. */
export function domainWords(domain: Domain): Markup {
  const { types, ...limit } = domain;
  if (types.length === 0) return html`<strong>no value is allowed</strong>`;
  const [only, ...more] = limit.in ?? [];
  if (only !== undefined && more.length === 0) return html`exactly ${value(only)}`;
  return operatorWords(limit);
}

function operatorWords({ min, max, in: allowed, not_in: excluded }: Operators): Markup {
  const parts: Markup[] = [];
  if (min !== undefined) parts.push(html`at least ${value(min)}`);
  if (max !== undefined) parts.push(html`at most ${value(max)}`);
  if (allowed !== undefined) parts.push(html`only ${listed(allowed)}`);
  if (excluded !== undefined) parts.push(html`not ${listed(excluded)}`);
  return joined(parts);
}

function listed(items: readonly Scalar[]): Markup {
  return joined(items.map(value));
}

/** Texts in quotation marks; everything else as JSON has it, so that `1` and `"1"` differ. */
function value(one: Scalar): Markup {
  return typeof one === "string" ? said(one) : html`<b class="value">${JSON.stringify(one)}</b>`;
}

function joined(parts: readonly Markup[]): Markup {
  return html`${parts.map((part, at) => (at === 0 ? part : html`, ${part}`))}`;
}
