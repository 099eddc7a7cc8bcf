import type { FieldCondition, ResourceFilter } from "../../src/agent/resources/resource.js";
import { isScalar, type Scalar } from "../../src/caveats/scalar.js";
import {
  type Expression,
  readConditions,
  refuse,
  scalarsFrom,
  type Typed,
  valueFrom,
} from "../argument-expression.js";
import { quoted } from "../output.js";

const FORMS =
  "write it like department=finance, year>=2024, date<=2025-12-31 or department in finance,legal";

/**
 * Reads conditions on the fields of resources, written as `--arg` writes its limits; what is given
 * for one field holds together. `<=` and `>=` compare texts, such as dates, as well as numbers.
 *
 * @throws CliError saying what to write instead.
 */
export function readFilters(texts: readonly string[]): ResourceFilter {
  return readConditions("--filter", texts, FORMS, conditionFrom);
}

function conditionFrom(typed: Typed, { operator, rest }: Expression): FieldCondition {
  switch (operator) {
    case "=":
      return scalarFrom(typed, rest);
    case "<=":
      return { max: boundFrom(typed, rest) };
    case ">=":
      return { min: boundFrom(typed, rest) };
    case "in":
      return { in: scalarsFrom(typed, rest) };
    case "<":
    case ">":
      throw refuse(typed, `there is no ${operator}`, `use ${operator}=, which includes the value`);
    default:
      throw refuse(typed, `a filter has no ${operator}`, FORMS);
  }
}

function scalarFrom(typed: Typed, part: string): Scalar {
  const value = valueFrom(typed, part);
  if (isScalar(value)) return value;
  throw refuse(typed, "a field is compared with one value", FORMS);
}

function boundFrom(typed: Typed, part: string): number | string {
  const value = valueFrom(typed, part);
  if (typeof value === "number" || typeof value === "string") return value;
  throw refuse(typed, `${quoted(part)} has no order`, "<= and >= compare numbers, or texts");
}
