import type { ApprovalSubject } from "../../agent/parties/records.js";
import { argumentName } from "../../caveats/argument-pointer.js";
import { overreaches } from "../../caveats/attenuation.js";
import { constraintRule } from "../../caveats/constraints-rule.js";
import type { ArgumentConstraint, Constraint, Hop, HopInit } from "../../caveats/hop.js";
import { type Overreach, ruleOf } from "../../caveats/hop-rule.js";
import { intersectEntries } from "../../caveats/operation-attenuation.js";
import { entryRule } from "../../caveats/operation-authority.js";
import { isScalar, type Scalar, shown } from "../../caveats/scalar.js";
import { parseTime } from "../../caveats/time.js";
import { normalizeHop } from "../../caveats/write-hop.js";
import { html, type Part } from "../../http/markup/markup.js";
import type { Form } from "../form.js";
import { domainWords, textByOrigin } from "../hop-words.js";
import { type Argument, mayLack } from "./arguments.js";
import {
  type ApprovalFields,
  type ArgumentFields,
  BIND,
  type GrantFields,
  type OtherFields,
} from "./fields.js";
import { ANY, type FieldProblem, readChoices, readNumber, readValues } from "./read-values.js";

/** The limits that a user sets, as read from the form. */
export interface Limits {
  /** The places of the grants that are granted. */
  readonly granted: readonly number[];
  /** One hop for each place from which something is taken away. */
  readonly hops: { readonly [place: string]: Hop };
  readonly problems: readonly FieldProblem[];
}

const UNITS: Readonly<Record<string, number>> = { minutes: 60, hours: 3600, days: 86_400 };

/** Reads what a form takes away. A field that is empty takes away nothing. */
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

/** Returns the expiry: never later than the existing one. */
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
  for (const fields of grant.arguments) {
    const limit = readArgument(form, fields, problems);
    if (limit === undefined) continue;
    const { name } = fields.argument;
    named.add(name);
    const lacking = operations.filter((operation) => mayLack(fields.argument, operation));
    if (lacking.length === 0) {
      limits.set(name, limit);
      continue;
    }
    for (const operation of operations) {
      if (lacking.includes(operation)) addTo(optional, operation, name, orLeftOut(limit));
      else addTo(own, operation, name, limit);
    }
  }
  for (const fields of grant.others) {
    const [name, limit] = readOther(form, fields, problems) ?? [];
    if (name === undefined || limit === undefined) continue;
    if (named.has(name)) {
      const message = `There is a limit on ${shown(name)} already; give it there.`;
      problems.push({ field: fields.name, message });
    }
    named.add(name);
    limits.set(name, limit);
  }
  // A limit that is asked for already may be lower; it stays, and is no mistake of the user's.
  const lowered = intersectEntries(plain(optional), grant.authority);
  for (const [operation, entry] of Object.entries(lowered)) {
    own.set(operation, new Map([...(own.get(operation) ?? []), ...Object.entries(entry)]));
  }
  return {
    ...(limits.size === 0 ? {} : { constraints: Object.fromEntries(limits) }),
    ...(own.size === 0 ? {} : { operationConstraints: plain(own) }),
    ...(kept.length === 0 || kept.length === grant.operations.length ? {} : { operations: kept }),
  };
}

/** Limits on arguments by operation, then by the argument's name in `operationConstraints`. */
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

/** The same limit for calls that have the argument. */
function orLeftOut(limit: Constraint): ArgumentConstraint {
  const operators = limit === null || typeof limit !== "object" ? { in: [limit] } : limit;
  return { ...operators, optional: true };
}

function readArgument(
  form: Form,
  { argument: { types, choices }, ...fields }: ArgumentFields,
  problems: FieldProblem[],
): Constraint | undefined {
  const min = readNumber(form.text(fields.min), fields.min, problems);
  const max = readNumber(form.text(fields.max), fields.max, problems);
  const allowed =
    choices === undefined
      ? readValues(form.text(fields.in), types, fields.in, problems)
      : readChoices(form, fields.in, choices, problems);
  const excluded = readValues(form.text(fields.not_in), types, fields.not_in, problems);
  return limitOf({ min, max, allowed, excluded });
}

interface Read {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly allowed?: readonly Scalar[] | undefined;
  readonly excluded?: readonly Scalar[] | undefined;
}

function limitOf({ min, max, allowed = [], excluded = [] }: Read): Constraint | undefined {
  const [only] = allowed;
  const alone = min === undefined && max === undefined && excluded.length === 0;
  if (only !== undefined && allowed.length === 1 && alone) return only;
  const limit = {
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(allowed.length === 0 ? {} : { in: allowed }),
    ...(excluded.length === 0 ? {} : { not_in: excluded }),
  };
  return Object.keys(limit).length === 0 ? undefined : limit;
}

function readOther(
  form: Form,
  fields: OtherFields,
  problems: FieldProblem[],
): readonly [string, Constraint | undefined] | undefined {
  const name = form.text(fields.name);
  const values = form.text(fields.values);
  if (name === "" && values.trim() === "") return undefined;
  if (name === "") {
    problems.push({ field: fields.name, message: "Name the argument that is to be limited." });
    return undefined;
  }
  if (values.trim() === "") {
    problems.push({ field: fields.values, message: `Give the values that limit ${shown(name)}.` });
    return undefined;
  }
  switch (form.text(fields.rule)) {
    case "min":
      return [name, limitOf({ min: readNumber(values, fields.values, problems) })];
    case "max":
      return [name, limitOf({ max: readNumber(values, fields.values, problems) })];
    case "not_in":
      return [name, limitOf({ excluded: readValues(values, ANY, fields.values, problems) })];
    default:
      return [name, limitOf({ allowed: readValues(values, ANY, fields.values, problems) })];
  }
}

/** The hop that says it, if it takes anything away; every way in which it claims more than is asked for is a problem. */
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
    const own = rulesOf(argument, left).find((one) => rule === one || rule.startsWith(`${one}.`));
    if (own === undefined) continue;
    if (rule === `${own}.min`) return fields.min;
    if (rule === `${own}.max`) return fields.max;
    if (rule === `${own}.in`) return fields.in;
    if (rule !== own) continue;
    // One value that is not allowed, or limits that leave none.
    return value === null || isScalar(value) || argument.choices !== undefined
      ? fields.in
      : fields.max;
  }
  return others[0]?.values ?? "lifetime";
}

/** The rules of limits on an argument, such as `constraints.amount` and `operationConstraints.pay.amount`. */
function rulesOf({ name }: Argument, operations: readonly string[]): readonly string[] {
  const entries = operations.map((operation) =>
    ruleOf(entryRule("operationConstraints", operation), argumentName([name])),
  );
  return [constraintRule(name), ...entries];
}

function wordsOf(
  { rule, value, allowed, message }: Overreach,
  { authority, own: texts }: GrantFields,
): Part {
  if (message.endsWith("would leave nothing")) return "Nothing would be left.";
  if (value === null && rule.startsWith("operationConstraints")) {
    return "No call of an operation would be left.";
  }
  const limits = Object.entries(authority.constraints ?? {});
  const own = limits.find(([name]) => isRuleOf(rule, name));
  const asked = own === undefined ? shown(allowed) : domainWords(own[1], textByOrigin(texts));
  if (typeof value === "object" && value !== null) {
    return html`No value would be left of what is asked for, ${asked}.`;
  }
  return html`${shown(value)} goes beyond what is asked for, ${asked}: a limit can only take away.`;
}

function isRuleOf(rule: string, argument: string): boolean {
  const own = constraintRule(argument);
  return rule === own || rule.startsWith(`${own}.`);
}
