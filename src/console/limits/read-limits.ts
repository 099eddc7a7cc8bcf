import type { ApprovalSubject } from "../../agent/parties/records.js";
import { isObject } from "../../bytes/json.js";
import { argumentName } from "../../caveats/argument-pointer.js";
import { overreaches } from "../../caveats/attenuation.js";
import { constraintRule } from "../../caveats/constraints-rule.js";
import type { ArgumentConstraint, Constraint, Hop, HopInit } from "../../caveats/hop.js";
import { type Overreach, ruleOf } from "../../caveats/hop-rule.js";
import { intersectEntries } from "../../caveats/operation-attenuation.js";
import { authorityOver, entryRule } from "../../caveats/operation-authority.js";
import { isScalar, shown } from "../../caveats/scalar.js";
import { parseTime } from "../../caveats/time.js";
import { normalizeHop } from "../../caveats/write-hop.js";
import { html, type Part } from "../../http/markup/markup.js";
import type { Form } from "../form.js";
import { domainWords, leftWords, textByOrigin } from "../hop-words.js";
import { type Argument, mayLack } from "./arguments.js";
import { type ApprovalFields, type ArgumentFields, BIND, type GrantFields } from "./fields.js";
import { isForEveryOperation, orLeftOut, readArgument, readOther } from "./read-arguments.js";
import type { FieldProblem } from "./read-values.js";

/** The limits that a user has entered into the form. */
export interface Limits {
  /** The indexes of the grants that the user grants. */
  readonly granted: readonly number[];
  /** For each grant that the user limits, a hop with the limits. The key is the index of the grant. */
  readonly hops: { readonly [place: string]: Hop };
  readonly problems: readonly FieldProblem[];
}

const UNITS: Readonly<Record<string, number>> = { minutes: 60, hours: 3600, days: 86_400 };

/** Reads the user's limits from a form. Empty fields set no limit. */
export function readLimits(
  form: Form,
  fields: ApprovalFields,
  subject: ApprovalSubject,
  now: number,
): Limits {
  const problems: FieldProblem[] = [];
  const lifetime = readLifetime(form, subject.lifetime, problems);
  const bound = form.text(BIND) === "yes" ? { invokers: [subject.agent.id] } : {};
  const granted: number[] = [];
  const hops: Record<string, Hop> = {};
  for (const grant of fields.grants) {
    if (form.text(grant.granted) !== "yes") continue;
    granted.push(grant.place);
    const init = { ...readGrant(form, grant, problems), ...bound };
    const hop = checkedHop(
      lifetime === undefined ? init : { ...init, expires: ending(grant, lifetime, now) },
      grant,
      problems,
    );
    if (hop !== undefined) hops[String(grant.place)] = hop;
  }
  if (granted.length === 0 && fields.grants.length > 0) {
    const message = "Choose at least one of what is asked for, or deny the request.";
    problems.push({ field: fields.grants[0]?.granted ?? "reason", message });
  }
  return { granted, hops, problems };
}

function readLifetime(form: Form, most: number, problems: FieldProblem[]): number | undefined {
  const given = form.text("lifetime").trim();
  if (given === "") return undefined;
  const unit = UNITS[form.text("unit")] ?? 60;
  const count = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (count === 0) {
    problems.push({ field: "lifetime", message: "Give the time as a whole number above 0." });
    return undefined;
  }
  if (count * unit > most) {
    const message = `That is longer than what is asked for, ${most} seconds; it can only be made shorter.`;
    problems.push({ field: "lifetime", message });
    return undefined;
  }
  return count * unit;
}

/** Returns the expiry that the user has chosen. If the request ends earlier, returns the end of the request. */
function ending({ authority }: GrantFields, lifetime: number, now: number): Date {
  const bound = authority.expires === undefined ? undefined : parseTime(authority.expires);
  const end = now + lifetime * 1000;
  return new Date(bound === undefined ? end : Math.min(end, bound));
}

function readGrant(form: Form, grant: GrantFields, problems: FieldProblem[]): HopInit {
  const kept = form.all(grant.keep).filter((operation) => grant.operations.includes(operation));
  if (grant.operations.length > 0 && kept.length === 0) {
    problems.push({ field: grant.keep, message: "Keep at least one of the operations." });
  }
  const operations = kept.length === 0 ? grant.left : kept;
  const limits = new Map<string, Constraint>();
  const own: Entries = new Map();
  const optional: Entries = new Map();
  const named = new Set<string>();
  const required = new Set<string>();
  const add = (name: string, limit: ArgumentConstraint, lacking: readonly string[]): void => {
    named.add(name);
    if (lacking.length === 0) required.add(name);
    if (lacking.length === 0 && isForEveryOperation(limit)) {
      limits.set(name, limit);
      return;
    }
    for (const operation of operations) {
      if (lacking.includes(operation)) addTo(optional, operation, name, orLeftOut(limit));
      else addTo(own, operation, name, limit);
    }
  };
  for (const fields of grant.arguments) {
    const limit = readArgument(form, fields, problems);
    if (limit === undefined) continue;
    const lacking = operations.filter((operation) => mayLack(fields.argument, operation));
    add(fields.argument.name, limit, lacking);
  }
  for (const fields of grant.others) {
    const [name, limit] = readOther(form, fields, problems) ?? [];
    if (name === undefined || limit === undefined) continue;
    if (named.has(name)) {
      const message = `There is a limit on ${shown(name)} already; give it there.`;
      problems.push({ field: fields.name, message });
    }
    add(name, limit, []);
  }
  const lists = closedLists(form, grant, operations, required);
  // If the request has a stricter limit, that limit stays in force, and the user gets no error.
  const lowered = intersectEntries(plain(optional), grant.authority);
  for (const [operation, entry] of Object.entries(lowered)) {
    own.set(operation, new Map([...(own.get(operation) ?? []), ...Object.entries(entry)]));
  }
  return {
    ...(limits.size === 0 ? {} : { constraints: Object.fromEntries(limits) }),
    ...(own.size === 0 ? {} : { operationConstraints: plain(own) }),
    ...(lists.length === 0 ? {} : { arguments: Object.fromEntries(lists) }),
    ...(kept.length === 0 || kept.length === grant.operations.length ? {} : { operations: kept }),
  };
}

/**
 * Returns a closed list of arguments for each operation whose further arguments the user forbids. The list has
 * the operation's known arguments, and those that the user's limits require.
 */
function closedLists(
  form: Form,
  { closable, authority }: GrantFields,
  operations: readonly string[],
  required: ReadonlySet<string>,
): readonly (readonly [operation: string, names: readonly string[]])[] {
  return closable.flatMap(({ operation, names, closed }) => {
    if (!operations.includes(operation) || form.text(closed) !== "yes") return [];
    const { closed: before } = authorityOver(operation, authority);
    const more = [...required].filter((name) => before?.includes(name) !== false);
    return [[operation, [...names, ...more]] as const];
  });
}

/** Limits on arguments: by operation, and then by the argument's name in `operationConstraints`. */
type Entries = Map<string, Map<string, ArgumentConstraint>>;

function addTo(entries: Entries, operation: string, name: string, limit: ArgumentConstraint): void {
  const entry = entries.get(operation) ?? new Map<string, ArgumentConstraint>();
  entries.set(operation, entry.set(argumentName([name]), limit));
}

function plain(entries: Entries): NonNullable<HopInit["operationConstraints"]> {
  return Object.fromEntries(
    [...entries].map(([operation, entry]) => [operation, Object.fromEntries(entry)]),
  );
}

/**
 * Returns the user's limits as a hop; `undefined` if there are none. Each limit that exceeds the request is
 * added to `problems`.
 */
function checkedHop(init: HopInit, grant: GrantFields, problems: FieldProblem[]): Hop | undefined {
  if (Object.keys(init).length === 0) return undefined;
  const hop = normalizeHop(init);
  for (const overreach of overreaches(grant.authority, hop)) {
    problems.push({ field: fieldOf(overreach, grant), message: wordsOf(overreach, grant) });
  }
  return hop;
}

function fieldOf(
  { rule, value }: Overreach,
  { arguments: known, left, others, keep }: GrantFields,
): string {
  if (rule === "operations") return keep;
  if (rule === "invokers") return BIND;
  for (const { argument, ...fields } of known) {
    const own = rulesOf(argument, left).find((one) => isRuleOf(rule, one));
    if (own !== undefined) return fieldAt(rule.slice(own.length + 1), value, argument, fields);
  }
  return others[0]?.values ?? "lifetime";
}

/**
 * Returns the field in which an operator was entered. If a combination of limits leaves no value, returns the
 * field of one of them.
 */
function fieldAt(
  operator: string,
  value: unknown,
  { types, choices }: Argument,
  fields: Omit<ArgumentFields, "argument">,
): string {
  const [name] = operator.split(".");
  if (name === "min" || name === "max" || name === "in") return fields[name];
  if (name === "path" || name === "url") return fields[name];
  if (value === null || isScalar(value) || choices !== undefined) return fields.in;
  if (isObject(value) && value["path"] !== undefined) return fields.path;
  if (isObject(value) && value["url"] !== undefined) return fields.url;
  return types.includes("number") ? fields.max : fields.in;
}

/** Returns the rules that concern an argument, such as `constraints.amount` and `operationConstraints.pay.amount`. */
function rulesOf({ name }: Argument, operations: readonly string[]): readonly string[] {
  const entries = operations.map((operation) =>
    ruleOf(entryRule("operationConstraints", operation), argumentName([name])),
  );
  return [constraintRule(name), ...entries];
}

function wordsOf({ rule, value, allowed, message }: Overreach, grant: GrantFields): Part {
  if (message.endsWith("would leave nothing")) return "Nothing would be left.";
  if (value === null && rule.startsWith("operationConstraints")) {
    return "No call of an operation would be left.";
  }
  const asked = askedWords(rule, grant) ?? shown(allowed);
  if (typeof value === "object" && value !== null) {
    return html`No value would be left of what is asked for, ${asked}.`;
  }
  return html`${shown(value)} goes beyond what is asked for, ${asked}: a limit can only take away.`;
}

/**
 * Describes the limits that the request itself has on the argument of a rule; `undefined` if the argument is
 * unknown.
 */
function askedWords(
  rule: string,
  { arguments: known, authority, left, own: texts }: GrantFields,
): Part | undefined {
  const byOrigin = textByOrigin(texts);
  for (const [name, domain] of Object.entries(authority.constraints ?? {})) {
    if (isRuleOf(rule, constraintRule(name))) return domainWords(domain, byOrigin);
  }
  for (const operation of left) {
    const entry = entryRule("operationConstraints", operation);
    const found = known.find(({ argument: { name } }) =>
      isRuleOf(rule, ruleOf(entry, argumentName([name]))),
    );
    if (found !== undefined)
      return leftWords(found.argument.name, [operation], authority, byOrigin);
  }
  return undefined;
}

function isRuleOf(rule: string, own: string): boolean {
  return rule === own || rule.startsWith(`${own}.`);
}
