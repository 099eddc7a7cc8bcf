import { argumentDomainOf, isDead, LEFT_OUT, meetArguments, UNLIMITED } from "./argument-domain.js";
import { argumentName, readArgumentName } from "./argument-pointer.js";
import type { Authority } from "./authority.js";
import { type ArgumentDomain, isEmpty } from "./domain.js";
import { type ArgumentConstraints, ownMember } from "./hop.js";
import { NONE, ruleOf } from "./hop-rule.js";

/** The name of the entry in `operationConstraints` and `arguments` that applies to every operation. */
export const EVERY_OPERATION = "*";

/** Returns the rule of an entry, as denials name it: `arguments.send_money`, `arguments.*`. */
export function entryRule(key: "operationConstraints" | "arguments", operation: string): string {
  return operation === EVERY_OPERATION ? `${key}.*` : ruleOf(key, operation);
}

type Arguments = Pick<Authority, "constraints" | "operationConstraints" | "arguments">;

/** The limits of an authority on the arguments of one operation. */
export interface OperationAuthority {
  /** The domain of each limited argument, by its name in `operationConstraints`. */
  readonly limited: ReadonlyMap<string, ArgumentDomain>;
  /** The only top-level arguments that a call may have; absent if a call may have any. */
  readonly closed?: readonly string[];
}

/** Returns the entries of a key that apply to an operation: the operation's own entry, and the entry `*`. */
export function entriesFor<Entry>(
  entries: { readonly [operation: string]: Entry },
  operation: string,
): readonly (readonly [operation: string, entry: Entry])[] {
  return [...new Set([operation, EVERY_OPERATION])].flatMap((name) => {
    const entry = ownMember(entries, name);
    return entry === undefined ? [] : [[name, entry] as const];
  });
}

/** Returns the domain of each argument that constraints name. */
export function domainsOf(constraints: ArgumentConstraints): ReadonlyMap<string, ArgumentDomain> {
  return new Map(
    Object.entries(constraints).map(([name, constraint]) => [name, argumentDomainOf(constraint)]),
  );
}

/** Intersects domains, argument by argument. */
export function meetAll(
  domains: ReadonlyMap<string, ArgumentDomain>,
  others: ReadonlyMap<string, ArgumentDomain>,
): ReadonlyMap<string, ArgumentDomain> {
  const merged = new Map(domains);
  for (const [name, domain] of others) {
    const before = merged.get(name);
    merged.set(name, before === undefined ? domain : meetArguments(before, domain));
  }
  return merged;
}

/**
 * Combines everything that limits the arguments of one operation: `constraints`, the operation's own entries, and the
 * entries `*`. For the operation `*`, returns the limits on every operation without an entry of its own.
 */
export function authorityOver(operation: string, authority: Arguments): OperationAuthority {
  return authoritiesOver(authority)(operation);
}

/**
 * Returns a function that gives the result of {@link authorityOver} for each operation. Limits that apply to every
 * operation are combined only once.
 */
export function authoritiesOver(authority: Arguments): (operation: string) => OperationAuthority {
  const { constraints = {}, operationConstraints = {}, arguments: lists = {} } = authority;
  const required = Object.entries(constraints).map(
    ([name, domain]) => [argumentName([name]), { ...domain, missing: false }] as const,
  );
  const domainsFor = (operation: string): ReadonlyMap<string, ArgumentDomain> =>
    new Map(Object.entries(ownMember(operationConstraints, operation) ?? {}));
  const shared = meetAll(new Map(required), domainsFor(EVERY_OPERATION));
  return (operation) => {
    const isOwn = operation !== EVERY_OPERATION;
    const limited = isOwn ? meetAll(shared, domainsFor(operation)) : shared;
    const [first, ...others] = entriesFor(lists, operation).map(([, set]) => set);
    if (first === undefined) return { limited: withoutHolders(limited) };
    const closed = first.filter((name) => others.every((set) => set.includes(name)));
    const listed = [...limited].map(
      ([name, domain]) =>
        [name, isListed(name, closed) ? domain : meetArguments(domain, LEFT_OUT)] as const,
    );
    return { limited: withoutHolders(new Map(listed)), closed };
  };
}

/** Returns the remaining limits on one argument. */
export function leftOfArgument(
  { limited, closed }: OperationAuthority,
  name: string,
): ArgumentDomain {
  return (
    limited.get(name) ?? (closed === undefined || isListed(name, closed) ? UNLIMITED : LEFT_OUT)
  );
}

/**
 * Returns whether a closed list contains the top-level argument of `name`: the argument itself, or the argument that
 * contains the named argument.
 */
function isListed(name: string, closed: readonly string[]): boolean {
  const [top] = readArgumentName(name) ?? [name];
  return closed.includes(top);
}

/** A property of a call's arguments that is limited, or that contains a limited property. */
export interface Place {
  /** The name in `operationConstraints`, if the property itself is limited. */
  limited?: string;
  readonly inside: Map<string, Place>;
}

/** Properties by name, each with the properties inside it. */
export type Places = ReadonlyMap<string, Place>;

/**
 * Requires calls to leave out both an argument and an argument inside it if both are limited. No call could satisfy
 * both limits: a value that satisfies a constraint is never an object, so it contains no arguments.
 */
function withoutHolders(
  limited: ReadonlyMap<string, ArgumentDomain>,
): ReadonlyMap<string, ArgumentDomain> {
  // Without pointers, no argument is inside another.
  if (![...limited.keys()].some((name) => name.startsWith("/"))) return limited;
  const top = placesOf(limited.keys());
  const left = new Map(limited);
  for (const name of limited.keys()) {
    let places: Places = top;
    for (const token of readArgumentName(name) ?? []) {
      const place = places.get(token);
      if (place === undefined || place.limited === name) break;
      if (place.limited !== undefined) {
        leaveOut(left, place.limited);
        leaveOut(left, name);
      }
      places = place.inside;
    }
  }
  return left;
}

/** Arranges argument names of `operationConstraints`, such as `/to/iban`, as a tree of nested properties. */
export function placesOf(names: Iterable<string>): Places {
  const top = new Map<string, Place>();
  for (const name of names) {
    let places = top;
    let place: Place | undefined;
    for (const token of readArgumentName(name) ?? []) {
      place = places.get(token) ?? { inside: new Map() };
      places.set(token, place);
      places = place.inside;
    }
    if (place !== undefined) place.limited = name;
  }
  return top;
}

function leaveOut(domains: Map<string, ArgumentDomain>, name: string): void {
  const domain = domains.get(name);
  if (domain !== undefined) domains.set(name, meetArguments(domain, LEFT_OUT));
}

/** Returns the arguments for which no value is allowed, so that every call of the operation is refused. */
export function deadArguments({ limited }: OperationAuthority): readonly string[] {
  return [...limited].filter(([, domain]) => isDead(domain)).map(([name]) => name);
}

/**
 * If `operationConstraints` and `arguments` leave no operation that can be called, returns one rule for each
 * operation. Returns nothing if an operation can be called, or if `constraints` alone already allow no value.
 */
export function deadRules(authority: Authority): readonly string[] {
  const { operations = [EVERY_OPERATION], operationConstraints, arguments: lists } = authority;
  if (operationConstraints === undefined && lists === undefined) return NONE;
  if (Object.values(authority.constraints ?? {}).some(isEmpty)) return NONE;
  const rules: string[] = [];
  const over = authoritiesOver(authority);
  for (const operation of operations) {
    const [dead] = deadArguments(over(operation));
    if (dead === undefined) return NONE;
    rules.push(ruleOf(entryRule("operationConstraints", operation), dead));
  }
  return rules;
}

/**
 * Returns whether an authority limits the arguments of `operation`. Without `operation`, returns whether it limits
 * the arguments of any operation.
 */
export function limitsArguments(authority: Arguments, operation?: string): boolean {
  const { constraints, operationConstraints = {}, arguments: lists = {} } = authority;
  if (constraints !== undefined) return true;
  const named = [...Object.keys(operationConstraints), ...Object.keys(lists)];
  return named.some((one) => [undefined, one].includes(operation) || one === EVERY_OPERATION);
}
