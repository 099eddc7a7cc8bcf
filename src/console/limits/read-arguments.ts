import type { ArgumentConstraint, ArgumentOperators, Constraint } from "../../caveats/hop.js";
import { type Scalar, shown } from "../../caveats/scalar.js";
import type { Form } from "../form.js";
import type { ArgumentFields, OtherFields } from "./fields.js";
import {
  ANY,
  type FieldProblem,
  readChoices,
  readFolder,
  readNumber,
  readUrlLimit,
  readValues,
} from "./read-values.js";

/** Reads the limit on a listed argument; `undefined` if the argument's fields are empty or invalid. */
export function readArgument(
  form: Form,
  { argument: { types, choices }, ...fields }: ArgumentFields,
  problems: FieldProblem[],
): ArgumentConstraint | undefined {
  const min = readNumber(form.text(fields.min), fields.min, problems);
  const max = readNumber(form.text(fields.max), fields.max, problems);
  const allowed =
    choices === undefined
      ? readValues(form.text(fields.in), types, fields.in, problems)
      : readChoices(form, fields.in, choices, problems);
  const excluded = readValues(form.text(fields.not_in), types, fields.not_in, problems);
  const values = limitOf({ min, max, allowed, excluded });
  const path = readFolder(form.text(fields.path), fields.path, problems);
  const url = readUrlLimit(form.text(fields.url), fields.url, problems);
  if (path !== undefined && url !== undefined) {
    const message = "Give a folder or URLs: no value is both a path and a URL.";
    problems.push({ field: fields.url, message });
    return undefined;
  }
  if (path === undefined && url === undefined) return values;
  const others = values === undefined ? {} : operatorsOf(values);
  return path === undefined ? { ...others, url } : { ...others, path };
}

/**
 * Returns whether a limit can go into `constraints`. An operator that only `operationConstraints` allows makes
 * this impossible.
 */
export function isForEveryOperation(limit: ArgumentConstraint): limit is Constraint {
  if (limit === null || typeof limit !== "object") return true;
  return limit.path === undefined && limit.url === undefined;
}

/** Adds `optional` to a limit, so that calls without the argument stay allowed. */
export function orLeftOut(limit: ArgumentConstraint): ArgumentConstraint {
  return { ...operatorsOf(limit), optional: true };
}

function operatorsOf(limit: ArgumentConstraint): ArgumentOperators {
  return limit === null || typeof limit !== "object" ? { in: [limit] } : limit;
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

/**
 * Reads a row in which the user names an argument and limits it. Returns `undefined` if the row is empty or has
 * no name.
 */
export function readOther(
  form: Form,
  fields: OtherFields,
  problems: FieldProblem[],
): readonly [name: string, limit: ArgumentConstraint | undefined] | undefined {
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
    case "path": {
      const path = readFolder(values, fields.values, problems);
      return [name, path === undefined ? undefined : { path }];
    }
    case "url": {
      const url = readUrlLimit(values, fields.values, problems);
      return [name, url === undefined ? undefined : { url }];
    }
    default:
      return [name, limitOf({ allowed: readValues(values, ANY, fields.values, problems) })];
  }
}
