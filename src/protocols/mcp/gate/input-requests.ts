import type { AgentDenials } from "../../../agent/refusal.js";
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type {
  GateAuthority,
  GateCall,
  GateDecision,
  Presented,
} from "../authority/gate-authority.js";
import type { Message } from "../message/message.js";
import { serverRequestRule } from "./methods.js";
import type { ServerLink } from "./server-link.js";
import type { Servers } from "./servers.js";
import { digestOf, listAt, objectAt, stringAt, valueAt, without } from "./values.js";

/** A request of a server to the host that was allowed. */
interface AskedInput {
  readonly operation: string;
  readonly method: string;
  /** A digest of the arguments. */
  readonly digest: string;
}

/** Requests of a server to the host, by digests of the keys under which the host answers. */
export type Inputs = ReadonlyMap<string, AskedInput>;

/** Requests that one result may make of the host, and those of one call or task that are remembered. */
const MOST_INPUTS = 32;

/** Adds what a server has asked last to what it asked before; the oldest is forgotten. */
export function joined(before: Inputs, inputs: Inputs): Inputs {
  return new Map([...before, ...inputs].slice(-MOST_INPUTS));
}

export type JudgedInputs =
  | { readonly allowed: true; readonly inputs: Inputs }
  | { readonly allowed: false; readonly denials: AgentDenials };

/** The parts by which inputs are judged. */
export interface InputParts {
  readonly authority: GateAuthority;
  readonly servers: Servers;
}

const NOT_IN_PROTOCOL: AgentDenials = [
  {
    code: "operation_denied",
    rule: "operations",
    message: "the server asks the host for something that is not in the protocol",
  },
];

const TOO_MANY_INPUTS: AgentDenials = [
  {
    code: "operation_denied",
    rule: "operations",
    message: `the server asks the host for more than ${MOST_INPUTS} things at once`,
  },
];

/** Judges one request of a server to the host's model, person or files, which could carry data out. */
export function judgeInput(
  parts: InputParts,
  presented: Presented,
  call: GateCall | undefined,
): Promise<GateDecision> | GateDecision {
  if (call !== undefined) return parts.authority.decide(presented, call);
  return { allowed: false, denials: NOT_IN_PROTOCOL };
}

/** Returns the call that a server's request to the host stands for; `undefined` if the host has no such method. */
export function inputCall(
  { servers }: InputParts,
  link: ServerLink,
  method: string,
  params: JsonObject,
): GateCall | undefined {
  const rule = serverRequestRule(method);
  if (rule?.by !== "client") return undefined;
  const operation = servers.operation(link, rule.operation);
  return { operation, arguments: without(params, ["_meta"]), method, server: link.name };
}

/**
 * Judges the input requests in a result, all of which must be allowed.
 *
 * @param known - Requests that were allowed before. The same ones, seen again while a task is polled, are not recorded
 *   again.
 */
export async function judgeInputs(
  parts: InputParts,
  presented: Presented,
  link: ServerLink,
  inputRequests: Json,
  known?: Inputs,
): Promise<JudgedInputs> {
  if (!isJsonObject(inputRequests)) return { allowed: false, denials: NOT_IN_PROTOCOL };
  const asked = Object.entries(inputRequests);
  if (asked.length > MOST_INPUTS) return { allowed: false, denials: TOO_MANY_INPUTS };
  const inputs = new Map<string, AskedInput>();
  for (const [name, input] of asked) {
    const key = digestOf(name);
    const method = stringAt(input, ["method"]) ?? "";
    const call = inputCall(parts, link, method, objectAt(input, ["params"]) ?? {});
    const before = known?.get(key);
    const digest = digestOf(JSON.stringify(call?.arguments ?? {}));
    const isKnown =
      call !== undefined &&
      before?.operation === call.operation &&
      before.digest === digest &&
      parts.authority.holds(presented, call.operation);
    const decision = isKnown ? undefined : await judgeInput(parts, presented, call);
    if (decision?.allowed === false) return decision;
    if (call !== undefined) inputs.set(key, { operation: call.operation, method, digest });
  }
  return { allowed: true, inputs };
}

const URL_ELICITATION_REQUIRED = -32042;

/**
 * Judges the addresses in an error by which a server of the old era asks the host to open URLs.
 *
 * @returns Reasons to keep the response from the host; `undefined` if there are none.
 */
export async function urlRefusal(
  parts: InputParts,
  presented: Presented,
  link: ServerLink,
  { value }: Message,
): Promise<AgentDenials | undefined> {
  if (valueAt(value, ["error", "code"]) !== URL_ELICITATION_REQUIRED) return undefined;
  const elicitations = listAt(value, ["error", "data", "elicitations"]);
  if (elicitations === undefined) return NOT_IN_PROTOCOL;
  const inputRequests = Object.fromEntries(
    elicitations.map((params, at) => [String(at), { method: "elicitation/create", params }]),
  );
  const judged = await judgeInputs(parts, presented, link, inputRequests);
  return judged.allowed ? undefined : judged.denials;
}

/** Returns whether a response asks the host for something, in any of the forms that hosts understand. */
export function asksHost({ value }: Message): boolean {
  const result = objectAt(value, ["result"]);
  return (
    result?.["inputRequests"] !== undefined ||
    result?.["resultType"] === "input_required" ||
    valueAt(value, ["error", "code"]) === URL_ELICITATION_REQUIRED
  );
}

/**
 * Judges the host's answers to input requests again, since they go to the server only now. The tokens and the arguments
 * are those that were judged when the server asked, so what may have changed is whether the tokens are still good.
 *
 * @returns Reasons to refuse; `undefined` if all answers may go. An answer to what was not asked is a reason.
 */
export async function judgeResponses(
  parts: InputParts,
  presented: Presented,
  link: ServerLink,
  responses: JsonObject,
  asked: Inputs,
): Promise<AgentDenials | undefined> {
  for (const key of Object.keys(responses)) {
    const input = asked.get(digestOf(key));
    if (input === undefined) return UNKNOWN_INPUT;
    const denials = await lapseOf(parts, presented, link, input);
    if (denials !== undefined) return denials;
  }
  return undefined;
}

/**
 * Returns why tokens no longer have an operation that they had, whatever its arguments; `undefined` if they have it.
 * A refusal is recorded.
 */
export async function lapseOf(
  { authority }: InputParts,
  presented: Presented,
  link: ServerLink,
  { operation, method }: Pick<GateCall, "operation" | "method">,
): Promise<AgentDenials | undefined> {
  if (authority.holds(presented, operation)) return undefined;
  const call = { operation, method, arguments: {}, server: link.name };
  const decision = await authority.decide(presented, call);
  return decision.allowed ? undefined : decision.denials;
}

/**
 * The reason to refuse a retry with a state, an input or arguments that do not belong to what this caller was asked.
 */
export const UNKNOWN_INPUT: AgentDenials = [
  {
    code: "input_unknown",
    rule: "requestState",
    message:
      "this retry does not continue a call of this caller: the state, the inputs and the arguments must be those " +
      "that the server asked about; make the call again without them",
  },
];
