import type { LedgerEvent } from "../../src/agent/ledger.js";
import type { Paint } from "../paint.js";
import { escapedJson, printable, quoted } from "../printable.js";

/** An event of the ledger in a line: when, what came of it, who, what, and why. */
export function eventLine(event: LedgerEvent, paint: Paint): string {
  const { at, kind, decision, capability, grant, handles = [], codes = [], values } = event;
  const answer = decision === "allowed" ? paint.green(decision) : paint.red(decision);
  const purpose = purposeOf(event);
  const parts = [
    at,
    // All of them have as many letters.
    answer,
    kind.padEnd("invocation".length),
    whoWords(event),
    whatWords(event),
    capability === undefined ? "" : printable(capability),
    grant === undefined || kind !== "issuance" ? "" : printable(grant),
    handles.length === 0 ? "" : countWords(handles.length, "handle"),
    authorityWords(event, paint),
    codes.length === 0 ? "" : paint.bold(codes.map(printable).join(", ")),
    values === undefined ? "" : `values ${escapedJson(values)}`,
    purpose === undefined ? "" : quoted(purpose),
  ];
  return parts.filter((part) => part !== "").join("  ");
}

/** Who did something, and by which agent. */
export function whoWords({ principal, invoker }: LedgerEvent): string {
  const agent = invoker === undefined ? "" : `via ${printable(invoker)}`;
  return [principal === undefined ? "nobody known" : printable(principal), agent]
    .filter((part) => part !== "")
    .join(" ");
}

/** A count with its noun: `1 handle`, `3 handles`. */
export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Why, in somebody's own words: the caller's, or those of the last hop that says. */
function purposeOf({ purpose, path = [] }: LedgerEvent): string | undefined {
  return purpose ?? path.findLast(({ hop }) => hop?.purpose !== undefined)?.hop?.purpose;
}

function whatWords({ skill, operation, kind, path = [] }: LedgerEvent): string {
  if (kind === "revocation") {
    const [last] = path.slice(-1);
    return last === undefined ? "" : printable(last.revocationId);
  }
  if (skill === undefined) return operation === undefined ? "" : printable(operation);
  return `${printable(skill)}${operation === undefined ? "" : ` (${printable(operation)})`}`;
}

function authorityWords({ authority, declared }: LedgerEvent, paint: Paint): string {
  if (authority === undefined || authority === "capability") return "";
  const mark = declared === undefined ? "" : ` (${declared ? "declared" : "undeclared"})`;
  return paint.yellow(`${authority}${mark}`);
}
