// Agent-Auth's constraints on arguments, read as a hop and written of hops.

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
 * Agent-Auth's constraints, word for word, as a hop.
 *
 * @param where - What refusals call them, such as `capabilities[1].constraints`.
 * @returns `undefined` where they limit nothing; a refusal for an unknown operator, one beside an exact
 *   value, wrong operands, or constraints that no value satisfies.
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
      const message =
        'is a list: an exact value stands alone, and several are meant by {"in": [...]}';
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
    // The cast is true only once `normalizeHop` has checked every operand.
    hop = normalizeHop({ constraints: value } as HopInit);
  } catch (error) {
    if (error instanceof TypeError) return invalid(where, error.message);
    throw error;
  }
  const empty = emptyArguments([hop]);
  if (empty.length === 0) return { ok: true, hop };
  return invalid(where, `no value satisfies ${empty.join(", ")}`);
}

/** The rules of constraints, such as `constraints.amount`, that no value satisfies in all hops together. */
export function emptyArguments(hops: readonly Hop[]): readonly string[] {
  const { constraints } = meetOf([hops]);
  return constraints === undefined ? [] : emptyRules({ constraints });
}

/** Returns the form of a limit on an argument in answers: Agent-Auth's, or a hop's if Agent-Auth has none. */
export type ShownConstraint = ArgumentConstraint | { readonly arguments: readonly string[] };

/**
 * Hops' limits on the arguments of an operation intersected exactly, in Agent-Auth's form.
 *
 * A limit that Agent-Auth cannot say never comes out as none: it has operators of `operationConstraints`, which a
 * reader of Agent-Auth's four must refuse; an argument that nothing is left of has an empty `in`; and a closed list is
 * `arguments` under `*`.
 *
 * @param operation - The one operation concerned.
 * @returns `undefined` where no argument is limited.
 * @throws TypeError naming the hop that is not plain.
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
    // Two arguments may share one shown name, a pointer's or "*": the name then shows that nothing is allowed.
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
