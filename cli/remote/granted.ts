import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { TokenError } from "../../src/bytes/token-error.js";
import { type Inspection, inspect } from "../../src/capability/inspect.js";
import { objectsIn, textIn } from "../../src/client/received.js";
import { type ReceivedRefusedGrant, refusedGrantsIn } from "../../src/client/refusal.js";
import { type CliError, environmentError } from "../exit.js";
import { seenFromNow } from "../moment.js";
import { type Paint, printable, type Row, renderRows } from "../output.js";
import { authorityRows } from "../token-words.js";
import type { RemoteCard } from "./card.js";

/** A capability issued by an agent, with the contents of its token. */
export interface ReceivedCapability {
  readonly token: string;
  readonly inspection: Inspection;
  /** Display names of resources, by handle, as sent by the agent. */
  readonly names: ReadonlyMap<string, string>;
  /** The guarantees that a legacy capability lacks; `undefined` if it lacks none. */
  readonly legacy: string | undefined;
}

export interface ReceivedCapabilities {
  readonly capabilities: readonly ReceivedCapability[];
  readonly refused: readonly ReceivedRefusedGrant[];
  /** The agent's reason for issuing no token; `undefined` if it issued tokens. */
  readonly reason: string | undefined;
}

const TEXT = /^[\x21-\x7e]+$/;

/**
 * Parses an agent's answer to a request for capabilities.
 *
 * @throws CliError if a capability has no readable token.
 */
export function readReceived(card: RemoteCard, answer: Json): ReceivedCapabilities {
  const whole = isJsonObject(answer) ? answer : {};
  if (!Array.isArray(whole["capabilities"])) throw malformed(card, "it lists no capabilities");
  return {
    capabilities: objectsIn(whole["capabilities"]).map((one) => {
      const token = textIn(one["token"]) ?? "";
      if (!TEXT.test(token)) throw malformed(card, "a capability in it has no token");
      const names = new Map(objectsIn(one["resourceHandles"]).map(nameOf));
      return { token, inspection: read(card, token), names, legacy: textIn(one["legacy"]) };
    }),
    refused: refusedGrantsIn(whole["refused"]),
    reason: textIn(whole["reason"]),
  };
}

function nameOf(named: { readonly [name: string]: Json }): [handle: string, name: string] {
  const { handle, displayName, kind } = named;
  const name = textIn(displayName) ?? "";
  return [textIn(handle) ?? "", kind === "collection" ? `${name} (the collection itself)` : name];
}

function read(card: RemoteCard, token: string): Inspection {
  try {
    return inspect(token);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw malformed(card, `a token in it cannot be read: ${error.message}`);
  }
}

/** Returns handles in the agent's own order. A token has its handles sorted. */
function inOrderOf(names: ReadonlyMap<string, string>, handles: readonly string[]): string[] {
  const named = [...names.keys()].filter((handle) => handles.includes(handle));
  return [...named, ...handles.filter((handle) => !names.has(handle))];
}

function malformed(card: RemoteCard, problem: string): CliError {
  const message = `the answer of ${card.name} cannot be used: ${problem}`;
  return environmentError("answer_malformed", message, "report it to the operator of the agent");
}

/** Formats a capability for the user, except its token. */
export function receivedLines(received: ReceivedCapability, paint: Paint, now: number): string[] {
  const { inspection, names, legacy } = received;
  const { capability, grant = "", authority, revocationId } = inspection;
  const { id = "not a capability", principal } = capability ?? {};
  const { resourceHandles, expires, ...others } = authority;
  const owner = principal === undefined ? "" : ` for ${printable(principal)}`;
  const rows: Row[] = [...authorityRows(others, now)];
  if (expires !== undefined) rows.push(["expires", `${seenFromNow(expires, now)} (${expires})`]);
  rows.push(["revocation id", revocationId]);
  if (legacy !== undefined) rows.push(["legacy", printable(legacy)]);
  if (resourceHandles !== undefined) rows.push(["resources", String(resourceHandles.length)]);
  return [
    `${paint.bold(printable(id))}  ${printable(grant)}${owner}`,
    ...renderRows(rows, paint, "  "),
    ...inOrderOf(names, resourceHandles ?? []).map((handle) =>
      `    ${printable(handle)}  ${printable(names.get(handle) ?? "")}`.trimEnd(),
    ),
  ];
}
