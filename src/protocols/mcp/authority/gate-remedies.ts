import type { AgentDenial, AgentDenials } from "../../../agent/refusal.js";
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { isWellFormed } from "../../../bytes/utf8.js";
import { withRemedies } from "../../../capability/remedies.js";
import { type ArgumentPath, argumentName } from "../../../caveats/argument-pointer.js";
import type { Authority } from "../../../caveats/authority.js";
import type { ArgumentConstraint } from "../../../caveats/hop.js";
import { isScalar } from "../../../caveats/scalar.js";
import { normalizeHop } from "../../../caveats/write-hop.js";
import type { GateCall, GateRefusal, GateRemedy } from "./gate-authority.js";

/** The tokens of a refused call, all of which must allow it, and how they judge. */
interface RefusedBy {
  /** The grant of the gate's tokens. */
  readonly grant: string;
  /** True if the caller chooses the tokens. */
  readonly isChoice: boolean;
  /** The answer of each token to the call. */
  readonly answers: readonly { readonly id: string; readonly allowed: boolean }[];
  /** Returns the calls that all tokens allow together. */
  authority(): Authority;
  /** Judges the call with other arguments. */
  isAllowed(given: JsonObject): boolean;
}

/** Codes of denials that a call with another capability would not get. */
const REQUESTABLE: ReadonlySet<string> = new Set([
  "constraint_violated",
  "expired",
  "grant_denied",
  "operation_denied",
  "resource_denied",
  "revoked",
]);

/**
 * Adds to a refusal what would make the call allowed: changes of its arguments by which all tokens allow it, one of the
 * tokens alone, or, where no change of the arguments does, a request for a capability.
 */
export function remedied(
  call: GateCall,
  [first, ...others]: AgentDenials,
  { grant, isChoice, answers, authority, isAllowed }: RefusedBy,
): GateRefusal {
  // A token's own remedy may be refused by another token, and only tools get their arguments as they are judged.
  const plain: AgentDenials = [withoutRemedy(first), ...others.map(withoutRemedy)];
  const denials =
    call.method === "tools/call"
      ? withRemedies(plain, call, authority, (given) =>
          isAllowed(JSON.parse(JSON.stringify(given))),
        )
      : plain;
  const remedies: GateRemedy[] = [];
  const good = answers.find(({ allowed }) => allowed);
  if (isChoice && good !== undefined) remedies.push({ kind: "use_token", capability: good.id });
  if (denials.every(({ code, remedy }) => REQUESTABLE.has(code) && remedy === undefined)) {
    remedies.push(requestFor(grant, call));
  }
  return remedies.length === 0
    ? { allowed: false, denials }
    : { allowed: false, denials, remedies };
}

function withoutRemedy({ remedy: _, ...denial }: AgentDenial): AgentDenial {
  return denial;
}

/** Largest request as JSON, in characters; an issuing agent takes some 2,000 bytes. */
const MAX_LENGTH = 2000;
/** Most elements of an array that the request names. */
const MAX_ELEMENTS = 64;

/**
 * Returns the remedy of requesting a capability that allows this call, and as few others as can be said. It repeats the
 * call and the grant, and nothing of a token.
 */
function requestFor(
  grant: string,
  { operation, arguments: given }: Pick<GateCall, "operation" | "arguments">,
): GateRemedy {
  const named = { [operation]: Object.keys(given).filter(isWellFormed) };
  const whole = { operations: [operation], arguments: named };
  const limits = Object.fromEntries(limitsOn(given, []));
  const exact =
    Object.keys(limits).length === 0
      ? whole
      : { ...whole, operationConstraints: { [operation]: limits } };
  const hop = JSON.stringify(exact).length > MAX_LENGTH ? { operations: [operation] } : exact;
  const request: JsonObject = JSON.parse(JSON.stringify({ grants: [grant], ...normalizeHop(hop) }));
  return { kind: "request", request };
}

/** Yields a constraint for each value of a call that one can name. */
function* limitsOn(
  given: JsonObject,
  above: readonly string[],
): Iterable<readonly [name: string, constraint: ArgumentConstraint]> {
  for (const [name, value] of Object.entries(given)) {
    if (!isWellFormed(name)) continue;
    const [top = name, ...inside] = [...above, name];
    const path: ArgumentPath = [top, ...inside];
    if (isJsonObject(value)) yield* limitsOn(value, path);
    else {
      const constraint = constraintOn(value);
      if (constraint !== undefined) yield [argumentName(path), constraint];
    }
  }
}

function constraintOn(value: Json): ArgumentConstraint | undefined {
  if (isScalar(value)) return value;
  if (!Array.isArray(value) || value.length > MAX_ELEMENTS) return undefined;
  const elements = value.filter(isScalar);
  const items = { min: value.length, max: value.length };
  if (elements.length < value.length || elements.length === 0) return { items };
  const texts = [...new Set(elements.map((one) => JSON.stringify(one)))].sort();
  return { items, each: { in: texts.map((text) => JSON.parse(text)) } };
}
