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

/** The tokens of a refused call, with functions that judge by all of them. */
interface RefusedBy {
  /** The grant that the gate uses, such as `mcp`. */
  readonly grant: string;
  /** `true` if the host chooses which tokens it presents. */
  readonly isChoice: boolean;
  /** The capability id of each token, and whether the token allows the call. */
  readonly answers: readonly { readonly id: string; readonly allowed: boolean }[];
  /** Returns the authority that all tokens have in common. */
  authority(): Authority;
  /** Returns whether all tokens allow the call with these arguments. */
  isAllowed(given: JsonObject): boolean;
}

/** Returns whether a denial depends on the arguments, so that it may not apply to other arguments. */
export function isOfArguments({ code }: AgentDenial): boolean {
  return code === "constraint_violated" || code === "resource_denied";
}

/**
 * Adds remedies to the refusal of a call whose operation all tokens have:
 * - changes of arguments with which all tokens allow the call;
 * - one token alone, if that token allows the call;
 * - a request for a capability, if no change of arguments is found and another capability could avoid every denial.
 */
export function remedied(
  call: GateCall,
  [first, ...others]: AgentDenials,
  { grant, isChoice, answers, authority, isAllowed }: RefusedBy,
): GateRefusal {
  // The remedy of one token is dropped, because another token may refuse the changed arguments. New changes, which all
  // tokens allow, are computed for tools/call alone: only a tool receives its arguments exactly as the gate judges
  // them.
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
  if (denials.every((denial) => isOfArguments(denial) && denial.remedy === undefined)) {
    remedies.push(requestFor(grant, call));
  }
  return remedies.length === 0
    ? { allowed: false, denials }
    : { allowed: false, denials, remedies };
}

function withoutRemedy({ remedy: _, ...denial }: AgentDenial): AgentDenial {
  return denial;
}

/** Longest hop of a request as JSON, in characters. An issuing agent accepts about 2,000 bytes. */
const MAX_LENGTH = 2000;
/** Maximum length of an array whose elements the request limits. */
const MAX_ELEMENTS = 64;

/**
 * Returns a request for a capability that allows this call and as few other calls as a hop can express. The request
 * contains the call and the grant, but no part of a token.
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

/** Yields a constraint for each argument or nested property whose value a constraint can express. */
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
