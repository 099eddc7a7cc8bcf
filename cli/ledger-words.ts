// Formats the ledger as a list, and as a tree of delegation.

import { type DelegationNode, delegationTree } from "../src/agent/delegation-tree.js";
import type { LedgerEvent } from "../src/agent/ledger.js";
import type { Hop } from "../src/caveats/hop.js";
import { escapedJson, type Paint, printable, quoted, type Row, renderRows } from "./output.js";
import { hopRows } from "./token-words.js";

export interface CapabilityHistory {
  readonly capability: string;
  /** The issuance; `undefined` if the ledger does not go back that far. */
  readonly issuance: LedgerEvent | undefined;
  /** The hops that invocations have shown; `undefined` if there has been no invocation. */
  readonly tree: DelegationNode | undefined;
  readonly revocations: readonly LedgerEvent[];
}

export function historyOf(capability: string, events: readonly LedgerEvent[]): CapabilityHistory {
  const issuance = events.find(
    ({ kind, decision }) => kind === "issuance" && decision === "allowed",
  );
  const tree = delegationTree(events);
  const revocations = events.filter(({ kind }) => kind === "revocation");
  return { capability, issuance, tree, revocations };
}

export function historyLines(history: CapabilityHistory, paint: Paint, now: number): string[] {
  const { capability, issuance, tree, revocations } = history;
  const lines = [
    paint.bold(printable(capability)),
    ...renderRows(issuanceRows(issuance), paint, "  "),
  ];
  if (tree === undefined) lines.push("  no invocation has shown it yet");
  else
    lines.push(...nodeLines(tree, { number: 1, last: true, margin: "" }, revocations, paint, now));
  const drawn = tree === undefined ? [] : idsIn(tree);
  for (const event of revocations) {
    const id = revokedId(event);
    if (id === undefined || drawn.includes(id)) continue;
    lines.push(
      `${paint.red("revoked")}  ${printable(id)}, which no invocation has shown: ${byWords(event)}`,
    );
  }
  return lines;
}

interface Place {
  /** The position of the hop, from 1. */
  readonly number: number;
  readonly last: boolean;
  /** The prefix of every line. */
  readonly margin: string;
}

// The recursion is bounded: a path has at most 32 links.
function nodeLines(
  node: DelegationNode,
  { number, last, margin }: Place,
  revocations: readonly LedgerEvent[],
  paint: Paint,
  now: number,
): string[] {
  const { revocationId, children } = node;
  const inner = `${margin}${last ? "  " : "│ "}`;
  const below = children.length === 0 ? "  " : "│ ";
  const title = `${paint.bold(`hop ${number}`)}  ${printable(revocationId)}`;
  const rows = renderRows(nodeRows(node, revocations, paint, now), paint);
  return [
    `${margin}${last ? "└─" : "├─"} ${title}${number === 1 ? "  the issuer's" : ""}`,
    ...rows.map((row) => `${inner} ${below} ${row}`),
    ...children.flatMap((child, at) =>
      nodeLines(
        child,
        { number: number + 1, last: at === children.length - 1, margin: `${inner} ` },
        revocations,
        paint,
        now,
      ),
    ),
  ];
}

function nodeRows(
  node: DelegationNode,
  revocations: readonly LedgerEvent[],
  paint: Paint,
  now: number,
): Row[] {
  const { revocationId, hop, allowed, refused, codes, invokers, firstSeen, lastSeen } = node;
  const rows: Row[] =
    hop === undefined
      ? [["says", "not known: no call with it was allowed"]]
      : hopRows(hop, now).flatMap((row) => shortRow(row, hop));
  if (allowed + refused > 0) {
    const why = codes.length === 0 ? "" : `: ${codes.map(printable).join(", ")}`;
    const told = refused === 0 ? "" : `, ${paint.red(`${refused} refused`)}${why}`;
    rows.push(["invocations", `${allowed} allowed${told}`]);
    rows.push(["by", invokers.map(printable).join(", ")]);
  } else rows.push(["invocations", "none with a token that ends here"]);
  rows.push(["seen", firstSeen === lastSeen ? firstSeen : `${firstSeen} to ${lastSeen}`]);
  for (const event of revocations.filter((one) => revokedId(one) === revocationId)) {
    rows.push(["revoked", paint.red(byWords(event))]);
  }
  return rows;
}

// People cannot read handles. Their number shows how many handles each hop left.
function shortRow(row: Row, { resourceHandles = [] }: Hop): readonly Row[] {
  const [label] = row;
  if (label === "nonce") return [];
  return label === "resources" ? [[label, countWords(resourceHandles.length, "handle")]] : [row];
}

function issuanceRows(issuance: LedgerEvent | undefined): Row[] {
  if (issuance === undefined) return [["issued", "not in this ledger"]];
  const { at, grant, purpose, handles = [] } = issuance;
  const rows: Row[] = [["issued", `${at} to ${whoWords(issuance)}`]];
  if (grant !== undefined) rows.push(["grant", printable(grant)]);
  if (purpose !== undefined) rows.push(["purpose", quoted(purpose)]);
  if (handles.length > 0) rows.push(["resources", countWords(handles.length, "handle")]);
  return rows;
}

function byWords(event: LedgerEvent): string {
  const { at, purpose } = event;
  return `${at} by ${whoWords(event)}${purpose === undefined ? "" : `: ${quoted(purpose)}`}`;
}

function revokedId({ path = [] }: LedgerEvent): string | undefined {
  return path.at(-1)?.revocationId;
}

function idsIn({ revocationId, children }: DelegationNode): string[] {
  return [revocationId, ...children.flatMap(idsIn)];
}

export function eventLine(event: LedgerEvent, paint: Paint): string {
  const { at, kind, decision, capability, grant, handles = [], values } = event;
  const answer = decision === "allowed" ? paint.green(decision) : paint.red(decision);
  const purpose = purposeOf(event);
  const parts = [
    at,
    // No padding is needed: "allowed" and "refused" have the same length.
    answer,
    kind.padEnd("registration".length),
    whoWords(event),
    whatWords(event),
    capability === undefined ? "" : printable(capability),
    grant === undefined || kind === "invocation" ? "" : printable(grant),
    handles.length === 0 ? "" : countWords(handles.length, "handle"),
    authorityWords(event, paint),
    whyWords(event, paint),
    values === undefined ? "" : `values ${escapedJson(values)}`,
    purpose === undefined ? "" : quoted(purpose),
  ];
  return parts.filter((part) => part !== "").join("  ");
}

/** Lists the codes of a refusal. After each code come the hops and rules of its denials, if the ledger names them. */
function whyWords({ codes = [], denials = [] }: LedgerEvent, paint: Paint): string {
  const words = codes.map((code) => {
    const places = denials
      .filter((denial) => denial.code === code && denial.hop !== undefined)
      .map(({ hop, rule }) =>
        [hop === 0 ? "the identifier" : `hop ${hop}`, rule]
          .filter((part) => part !== undefined)
          .join(" "),
      );
    const where = [...new Set(places)].map(printable).join("; ");
    return `${paint.bold(printable(code))}${where === "" ? "" : ` (${where})`}`;
  });
  return words.join(", ");
}

/**
 * Names the acting party and agent. For an operator's action, also names the party on whose behalf the operator
 * acted.
 */
function whoWords({ principal, invoker, operator, capability }: LedgerEvent): string {
  // Every holder of a token without a principal may use it. The tokens of the MCP gate are an example.
  const unnamed = capability === undefined ? "an unknown caller" : "a holder of the token";
  const known = principal === undefined ? unnamed : printable(principal);
  if (operator === true) {
    return `operator for ${known}${invoker === undefined ? "" : ` and ${printable(invoker)}`}`;
  }
  return invoker === undefined ? known : `${known} via ${printable(invoker)}`;
}

/** Formats a count with its noun: `1 handle`, `3 handles`. */
export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the purpose that the request names; otherwise the purpose of the last hop that has one. */
function purposeOf({ purpose, path = [] }: LedgerEvent): string | undefined {
  return purpose ?? path.findLast(({ hop }) => hop?.purpose !== undefined)?.hop?.purpose;
}

function whatWords({ skill, operation, kind, path = [], change, record }: LedgerEvent): string {
  if (change !== undefined) {
    return record === undefined ? printable(change) : `${printable(change)}  ${printable(record)}`;
  }
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
