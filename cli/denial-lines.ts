import { shown, shownList } from "../src/caveats/scalar.js";
import type { ReceivedDenial } from "../src/client/refusal.js";
import type { Row } from "./authority-words.js";
import type { Paint } from "./paint.js";
import { cut, escapedJson, printable } from "./printable.js";
import { renderRows } from "./tree.js";

/** Characters of a value. */
const MAX_SHOWN = 300;

/**
 * A refusal with every reason.
 *
 * @param adviceFor - What to do about a reason, if there is something.
 */
export function refusalLines<Denial extends ReceivedDenial>(
  denials: readonly Denial[],
  adviceFor: (denial: Denial) => string | undefined,
  paint: Paint,
): string[] {
  const count = denials.length === 1 ? "one reason" : `${denials.length} reasons`;
  return [
    `${paint.red("refused")} for ${count}`,
    ...denials.flatMap((denial) => denialLines(denial, adviceFor(denial), paint)),
  ];
}

function denialLines(denial: ReceivedDenial, hint: string | undefined, paint: Paint): string[] {
  const { code, rule, message, expected, actual, nearest } = denial;
  const place = [placeOf(denial), rule === undefined ? undefined : printable(rule)];
  const where = place.filter((part) => part !== undefined).join(", ");
  const lines = [`  ${paint.bold(printable(code))}${where === "" ? "" : `  ${where}`}`];
  lines.push(`    ${printable(message)}`);
  // Most messages hold these already.
  const rows = Object.entries({ expected, actual, nearest }).flatMap(([label, value]): Row[] =>
    value === undefined || isSaid(message, value)
      ? []
      : [[label, cut(escapedJson(value), MAX_SHOWN)]],
  );
  lines.push(...renderRows(rows, paint, "    "));
  if (hint !== undefined) lines.push(`    hint: ${printable(hint)}`);
  return lines;
}

function placeOf({ hop, discharge, capability }: ReceivedDenial): string | undefined {
  const parts: string[] = [];
  if (capability !== undefined) parts.push(`token ${capability + 1}`);
  if (discharge !== undefined) parts.push(`discharge ${discharge}`);
  if (hop !== undefined) parts.push(hop === 0 ? "the identifier" : `hop ${hop}`);
  return parts.length === 0 ? undefined : parts.join(", ");
}

function isSaid(message: string, value: unknown): boolean {
  return message.includes(Array.isArray(value) ? shownList(value) : shown(value));
}
