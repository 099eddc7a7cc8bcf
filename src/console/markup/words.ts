import type { Authority } from "../../caveats/authority.js";
import type { Domain } from "../../caveats/domain.js";
import type { Constraint, Hop, Operators } from "../../caveats/hop.js";
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
