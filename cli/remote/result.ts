import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { escapedJson, printable } from "../output.js";

/**
 * Formats a skill's answer for people: one property per line, strings of several lines unchanged, nested values
 * indented below their property. Characters that would make a terminal act are escaped.
 *
 * @param value - The answer. `safeFetch` has limited its nesting depth.
 */
export function resultLines(value: Json): string[] {
  if (typeof value === "string") return textLines(value);
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    if (items.length === 0) return ["nothing"];
    return items.flatMap((item) => {
      const [first = "", ...rest] = resultLines(item);
      return [`- ${first}`, ...indented(rest)];
    });
  }
  if (!isJsonObject(value)) return [escapedJson(value)];
  const members = Object.entries(value);
  if (members.length === 0) return ["nothing"];
  return members.flatMap(([name, member]) => {
    const label = printable(name);
    const lines = resultLines(member);
    const isShort = typeof member !== "object" || member === null || isEmpty(member);
    if (isShort && lines.length === 1) return [`${label}: ${lines[0]}`];
    return [`${label}:`, ...indented(lines)];
  });
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function textLines(text: string): string[] {
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  // A tab stays unescaped, since it cannot move the cursor beyond the end of a line.
  return lines.map((line) => line.split("\t").map(printable).join("\t"));
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}
