import { isScalar, type Scalar, type ScalarType, shown } from "../../caveats/scalar.js";
import type { Part } from "../../http/markup/markup.js";
import type { Form } from "../form.js";

/** Something wrong with what a field has. */
export interface FieldProblem {
  /** The field's name, which is its id too. */
  readonly field: string;
  readonly message: Part;
}

const MOST_VALUES = 100;

/** The types that an argument of unknown type may have. */
export const ANY: readonly ScalarType[] = ["string", "number", "boolean", "null"];

/** A number; `undefined` for an empty field. */
export function readNumber(
  text: string,
  field: string,
  problems: FieldProblem[],
): number | undefined {
  const given = text.trim();
  if (given === "") return undefined;
  const number = numberIn(given);
  if (number === undefined) {
    const message = `${shown(given)} is not a number; write it as in 1000 or 12.5, without separators.`;
    problems.push({ field, message });
  }
  return number;
}

function numberIn(text: string): number | undefined {
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(text) ? Number(text) : undefined;
}

/** Values, one a line. */
export function readValues(
  text: string,
  types: readonly ScalarType[],
  field: string,
  problems: FieldProblem[],
): readonly Scalar[] | undefined {
  const lines = text.split(/\r\n?|\n/).filter((line) => line !== "");
  if (lines.length === 0) return undefined;
  if (lines.length > MOST_VALUES) {
    problems.push({ field, message: `Give at most ${MOST_VALUES} values.` });
    return undefined;
  }
  const values = new Set<Scalar>();
  for (const line of lines) {
    const value = valueIn(line, types);
    if (value !== undefined) values.add(value);
    else problems.push({ field, message: `${shown(line)} is not a number.` });
  }
  return [...values];
}

/** A line as a value: where an argument has several types, as JSON if it is some, else as a text. */
function valueIn(line: string, types: readonly ScalarType[]): Scalar | undefined {
  const [only, ...more] = types;
  if (more.length === 0 && only === "string") return line;
  if (more.length === 0 && only === "number") return numberIn(line.trim());
  try {
    const value: unknown = JSON.parse(line);
    return isScalar(value) ? value : line;
  } catch {
    return line;
  }
}

/** Reads the ticked ones of listed values; no limit is set if all are ticked. */
export function readChoices(
  form: Form,
  field: string,
  choices: readonly Scalar[],
  problems: FieldProblem[],
): readonly Scalar[] | undefined {
  const ticked = new Set(form.all(field));
  const left = choices.filter((_, at) => ticked.has(String(at)));
  if (left.length === choices.length) return undefined;
  if (left.length === 0) problems.push({ field, message: "Leave at least one of the values." });
  return left;
}
