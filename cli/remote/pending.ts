import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { objectsIn, textIn } from "../../src/client/received.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { seenFromNow } from "../moment.js";
import { printable, quoted, type Row, renderRows, say, stderrPaint } from "../output.js";
import type { RemoteCard } from "./card.js";

/** A request that waits for an approval, as described by the agent. */
export interface ReceivedPending {
  readonly approvalId: string;
  readonly expires: string;
  /** Seconds to wait between two polls. */
  readonly interval: number;
  readonly verificationUri: string | undefined;
  readonly userCode: string | undefined;
  readonly grants: readonly { readonly grant: string; readonly operations: readonly string[] }[];
}

const ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const USUAL_INTERVAL = 5;

/**
 * Returns the pending approval in an agent's answer; `undefined` if there is none.
 *
 * @throws CliError if the pending approval is malformed.
 */
export function readPending(card: RemoteCard, answer: Json): ReceivedPending | undefined {
  const pending = isJsonObject(answer) ? answer["pending"] : undefined;
  if (pending === undefined) return undefined;
  const members = isJsonObject(pending) ? pending : {};
  const approvalId = textIn(members["approvalId"]) ?? "";
  if (!ID.test(approvalId)) {
    const message = `the answer of ${card.name} cannot be used: its pending approval has no id`;
    throw environmentError("answer_malformed", message, "report it to the operator of the agent");
  }
  const { interval } = members;
  return {
    approvalId,
    expires: textIn(members["expires"]) ?? "",
    interval: typeof interval === "number" && interval >= 1 ? interval : USUAL_INTERVAL,
    verificationUri: textIn(members["verificationUri"]),
    userCode: textIn(members["userCode"]),
    grants: objectsIn(members["grants"]).map(({ grant, operations }) => ({
      grant: textIn(grant) ?? "",
      operations: Array.isArray(operations) ? operations.flatMap((one) => textIn(one) ?? []) : [],
    })),
  };
}

/** Formats the grants that wait, the page and code for approving them, and the deadline. */
export function pendingLines(
  context: Context,
  card: RemoteCard,
  { approvalId, expires, verificationUri, userCode, grants }: ReceivedPending,
): readonly string[] {
  const now = Date.now();
  const rows: Row[] = grants.map(({ grant, operations }) => [
    "waits",
    printable(`${grant}: ${operations.join(", ")}`),
  ]);
  if (verificationUri !== undefined) rows.push(["approve at", printable(verificationUri)]);
  if (userCode !== undefined) rows.push(["with code", printable(userCode)]);
  rows.push(["until", `${printable(expires)} (${seenFromNow(expires, now)})`]);
  rows.push(["approval", approvalId]);
  return [
    `${printable(card.name)} grants this once people have approved it`,
    ...renderRows(rows, stderrPaint(context), "  "),
  ];
}

/** Tells the user the command that collects the capabilities later. */
export function sayHowToCollect(
  context: Context,
  { approvalId }: ReceivedPending,
  url: string,
): void {
  const command = `proviso request ${quoted(url)} --collect ${approvalId}`;
  say(context, `hint: not decided yet; collect it later: ${command}`);
}
