import { type AgentDenial, type AgentDenials, codesOf, MOST_DENIALS } from "../../agent/refusal.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { type AgentAuthCode, type Fault, refuse } from "./errors.js";

const OPERATORS: readonly string[] = ["min", "max", "in", "not_in"];
const PREFIX = "constraints.";

/**
 * What a refused execution is called in this protocol. The first of what all its denials come to counts,
 * in the order of {@link KINDS}; the answer lists all of them.
 *
 * @param known - Names of arguments: those of the schema, and those that were given.
 */
export function invocationFault(denials: AgentDenials, known: readonly string[]): Fault {
  const [code, sentence] = kindOf(denials);
  const violations = denials
    .filter((denial) => denial.code === "constraint_violated")
    .map((denial) => violationOf(denial, known));
  const message = `${sentence}: ${denials[0].message}`;
  return refuse(code, message, {
    more: {
      ...(violations.length === 0 ? {} : { violations }),
      denials: denials.slice(0, MOST_DENIALS).map(shown),
    },
    codes: codesOf(denials),
    unrecorded: true,
  });
}

type Kind = readonly [code: AgentAuthCode, sentence: string];

const KINDS: readonly (readonly [codes: readonly AgentDenial["code"][], kind: Kind])[] = [
  [["revoked"], ["grant_revoked", "the grant was revoked"]],
  [["revocation_stale"], ["unavailable", "revocations cannot be looked up at the moment"]],
  [["policy_denied"], ["unauthorized", "the user's policy does not allow it"]],
  [["constraint_violated"], ["constraint_violated", "the arguments are beyond what was granted"]],
  [["arguments_invalid"], ["invalid_request", "the arguments fail the capability's input schema"]],
];
const OTHERS: Kind = ["capability_not_granted", "no grant allows it"];

function kindOf(denials: AgentDenials): Kind {
  const codes = denials.map(({ code }) => code);
  const listed = KINDS.flatMap(([these]) => these);
  const [revoked, ...others] = KINDS;
  if (revoked?.[0].some((code) => codes.includes(code))) return revoked[1];
  if (codes.some((code) => !listed.includes(code))) return OTHERS;
  return others.find(([these]) => these.some((code) => codes.includes(code)))?.[1] ?? OTHERS;
}

/** A limit that an argument is beyond: `{"field","constraint":{"max":1000},"actual"}`. */
function violationOf({ rule = "", expected, actual }: AgentDenial, known: readonly string[]): Json {
  const whole = rule.startsWith(PREFIX) ? rule.slice(PREFIX.length) : rule;
  const dot = whole.lastIndexOf(".");
  const operator = whole.slice(dot + 1);
  // An argument may be called "amount.max".
  const exact = dot === -1 || !OPERATORS.includes(operator) || known.includes(whole);
  const limit = expected ?? null;
  return {
    field: exact ? whole : whole.slice(0, dot),
    constraint: exact ? limit : { [operator]: limit },
    ...(isJson(actual) ? { actual } : {}),
  };
}

/** A denial without what repeats an argument that is no scalar. */
function shown({ code, rule, expected, message }: AgentDenial): JsonObject {
  return {
    ...{ code, message },
    ...(rule === undefined ? {} : { rule }),
    ...(expected === undefined ? {} : { expected }),
  };
}

/** Whether a value came from `JSON.parse`, as arguments do. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}
