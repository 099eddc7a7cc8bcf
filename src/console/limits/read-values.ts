import type { UrlLimit } from "../../caveats/hop.js";
import { isPath } from "../../caveats/path-form.js";
import { isScalar, type Scalar, type ScalarType, shown } from "../../caveats/scalar.js";
import { readWrittenUrls } from "../../caveats/written-urls.js";
import type { Part } from "../../http/markup/markup.js";
import type { Form } from "../form.js";

/** A problem with the contents of a field. */
export interface FieldProblem {
  /** The name of the field, which is also its id in the page. */
  readonly field: string;
  readonly message: Part;
}

const MOST_VALUES = 100;
/** Longest text in a field for a folder or for URLs, in UTF-16 code units. */
const MOST_UNITS = 1000;

/** The types that are possible if the type of an argument is unknown. */
export const ANY: readonly ScalarType[] = ["string", "number", "boolean", "null"];

/** Reads a number; `undefined` if the field is empty or invalid. */
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

/** Reads values, one from each line. */
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

/**
 * Reads a line as a value. If the argument can have several types, the line is parsed as JSON. A line that is
 * not JSON is a string.
 */
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

/** Reads a folder in the strict form of docs/spec.md, section 5.2; `undefined` if the field is empty or invalid. */
export function readFolder(
  text: string,
  field: string,
  problems: FieldProblem[],
): string | undefined {
  const given = text.trim();
  if (given === "" || isTooLong(given, field, problems)) return undefined;
  if (isPath(given)) return given;
  const message = `${shown(given)} is not a folder; write it as in /data or reports/2026, without a / at the end, .., *, \\, : or %.`;
  problems.push({ field, message });
  return undefined;
}

/** Reads URLs, one from each line; `undefined` if the field is empty or invalid. */
export function readUrlLimit(
  text: string,
  field: string,
  problems: FieldProblem[],
): UrlLimit | undefined {
  const given = text.trim();
  if (given === "" || isTooLong(given, field, problems)) return undefined;
  const lines = given.split(/\s*[\r\n]\s*/);
  const read = readWrittenUrls(lines, "write it as in https://api.example.com/v1");
  if (read.ok) return read.limit;
  const { problem, hint } = read.mistake;
  problems.push({ field, message: `${sentence(problem)}; ${hint}.` });
  return undefined;
}

function isTooLong(text: string, field: string, problems: FieldProblem[]): boolean {
  if (text.length <= MOST_UNITS) return false;
  problems.push({ field, message: `Give at most ${MOST_UNITS} characters.` });
  return true;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Reads the ticked values of a list. If all values are ticked, there is no limit. */
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
