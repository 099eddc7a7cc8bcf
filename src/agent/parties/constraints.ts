// Converts Agent-Auth's constraints on arguments to a hop, and hops to constraints.

import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { constraintFrom } from "../../caveats/argument-domain.js";
import { readArgumentName } from "../../caveats/argument-pointer.js";
import type { ArgumentConstraint, Hop, HopInit } from "../../caveats/hop.js";
import { emptyRules, meetOf } from "../../caveats/meet.js";
import {
  authorityOver,
  EVERY_OPERATION,
  limitsArguments,
} from "../../caveats/operation-authority.js";
import { isScalar } from "../../caveats/scalar.js";
import { normalizeHop } from "../../caveats/write-hop.js";
import { assertArray } from "../../checks/kinds.js";
import { plainCopy, plainObject } from "../../checks/plain.js";
import { type PartyRefusal, partyRefusal } from "./refusals.js";

const OPERATORS = ["max", "min", "in", "not_in"];

const MAX_ARGUMENTS = 64;

const MAX_LENGTH = 4096;

const MAX_NAMED = 16;

/**
 * Reads Agent-Auth's constraints as a hop with the same `constraints`.
 *
 * @param where - The name of the constraints in refusals, such as `capabilities[1].constraints`.
 * @returns A hop, which is `undefined` if the constraints limit nothing. A refusal if an operator is unknown,
 *   an operand is wrong, or no value satisfies a constraint.
 */
export function readConstraints(
  value: Json | undefined,
  where: string,
): { readonly ok: true; readonly hop: Hop | undefined } | PartyRefusal {
  if (value === undefined || value === null) return { ok: true, hop: undefined };
  if (!isJsonObject(value)) return invalid(where, "must be an object: argument to limit");
  const limits = Object.entries(value);
  if (limits.length === 0) return { ok: true, hop: undefined };
  if (limits.length > MAX_ARGUMENTS || JSON.stringify(value).length > MAX_LENGTH) {
    const message = `must limit at most ${MAX_ARGUMENTS} arguments, in at most ${MAX_LENGTH} characters`;
    return invalid(where, message);
  }
  const unknown = new Set<string>();
  for (const [argument, limit] of limits) {
    const path = `${where}.${argument.slice(0, 64)}`;
    if (isScalar(limit)) continue;
    if (Array.isArray(limit)) {
      const message = 'is a list: write a single value as it is, and several as {"in": [...]}';
      return invalid(path, message);
    }
    if (!isJsonObject(limit)) return invalid(path, "must be a value, or an object of operators");
    const names = Object.keys(limit);
    if (names.length === 0) return invalid(path, `must have an operator: ${OPERATORS.join(", ")}`);
    for (const name of names) {
      if (!OPERATORS.includes(name) && unknown.size < MAX_NAMED) unknown.add(name.slice(0, 64));
    }
  }
  if (unknown.size > 0) {
    const operators = [...unknown];
    const message =
      `unknown constraint operator ${operators.map((name) => JSON.stringify(name)).join(", ")}; ` +
      `there are ${OPERATORS.join(", ")}, and an exact value stands without one`;
    return partyRefusal("unknown_constraint_operator", message, { operators, path: where });
  }
  return readHop(value, where);
}

function readHop(
  value: JsonObject,
  where: string,
): { readonly ok: true; readonly hop: Hop } | PartyRefusal {
  let hop: Hop;
  try {
    // `normalizeHop` checks every operand, so the cast is safe.
    hop = normalizeHop({ constraints: value } as HopInit);
  } catch (error) {
    if (error instanceof TypeError) return invalid(where, error.message);
    throw error;
  }
  const empty = emptyArguments([hop]);
  if (empty.length === 0) return { ok: true, hop };
  return invalid(where, `no value satisfies ${empty.join(", ")}`);
}

/** Returns the rules, such as `constraints.amount`, that no value satisfies in all hops together. */
export function emptyArguments(hops: readonly Hop[]): readonly string[] {
  const { constraints } = meetOf([hops]);
  return constraints === undefined ? [] : emptyRules({ constraints });
}

/** A limit on an argument in an answer: in Agent-Auth's form, or in a hop's form if Agent-Auth has none. */
export type ShownConstraint = ArgumentConstraint | { readonly arguments: readonly string[] };

/**
 * Returns the exact intersection of all hops' limits on an operation's arguments, in Agent-Auth's form.
 *
 * A limit that Agent-Auth cannot express is never dropped. It is written with an operator of
 * `operationConstraints`, which a client that knows only Agent-Auth's four operators must refuse. An argument
 * without an allowed value has an empty `in`. A closed list of arguments has the name `*` and the operator
 * `arguments`.
 *
 * @param operation - The operation whose arguments are limited.
 * @returns `undefined` if no argument is limited.
 * @throws TypeError naming the hop that is not a plain object.
 */
export function exactConstraints(
  hops: readonly Hop[],
  operation: string,
): { readonly [argument: string]: ShownConstraint } | undefined {
  assertArray(hops, "hops", "hops");
  const own = hops.map((hop, at) => {
    const where = `hops[${at}]`;
    return plainCopy(plainObject(hop, where), where, "arguments");
  });
  const authority = meetOf([own]);
  if (!limitsArguments(authority, operation)) return undefined;
  const { limited, closed } = authorityOver(operation, authority);
  const shown = new Map<string, ShownConstraint>();
  const show = (name: string, limit: ShownConstraint): void => {
    // Two limits may get the same name, for example `*`. That name then allows nothing.
    shown.set(name, shown.has(name) ? NOTHING : limit);
  };
  for (const [name, domain] of limited) {
    const [top, ...inner] = readArgumentName(name) ?? [name];
    const limit = constraintFrom(domain);
    show(inner.length === 0 ? top : name, limit === undefined ? NOTHING : limit);
  }
  if (closed !== undefined) show(EVERY_OPERATION, { arguments: closed });
  return Object.fromEntries(shown);
}

/** A limit that no value satisfies. */
const NOTHING: ArgumentConstraint = { in: [] };

function invalid(path: string, message: string): PartyRefusal {
  return partyRefusal("invalid_request", `${path}: ${message}`, { path });
}
