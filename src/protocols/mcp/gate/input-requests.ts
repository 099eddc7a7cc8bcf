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
import { listAt, objectAt, stringAt, valueAt, without } from "./values.js";

/** Requests of a server to the host, by the keys under which the host answers. */
export type Inputs = ReadonlyMap<string, GateCall>;

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
  const inputs = new Map<string, GateCall>();
  for (const [key, input] of Object.entries(inputRequests)) {
    const method = stringAt(input, ["method"]) ?? "";
    const call = inputCall(parts, link, method, objectAt(input, ["params"]) ?? {});
    const before = known?.get(key);
    const isKnown =
      call !== undefined &&
      before?.operation === call.operation &&
      JSON.stringify(before.arguments) === JSON.stringify(call.arguments) &&
      parts.authority.holds(presented, call.operation);
    const decision = isKnown ? undefined : await judgeInput(parts, presented, call);
    if (decision?.allowed === false) return decision;
    if (call !== undefined) inputs.set(key, call);
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
 * Judges the host's answers to input requests again, since they go to the server only now.
 *
 * @returns Reasons to refuse; `undefined` if all answers may go. An answer to what was not asked is a reason.
 */
export async function judgeResponses(
  { authority }: InputParts,
  presented: Presented,
  responses: JsonObject,
  asked: Inputs,
): Promise<AgentDenials | undefined> {
  for (const key of Object.keys(responses)) {
    const call = asked.get(key);
    if (call === undefined) return UNKNOWN_INPUT;
    const decision = await authority.decide(presented, call);
    if (!decision.allowed) return decision.denials;
  }
  return undefined;
}

/** The reason to refuse a retry with a state, an input or arguments that do not belong to what this caller was asked. */
export const UNKNOWN_INPUT: AgentDenials = [
  {
    code: "input_unknown",
    rule: "requestState",
    message:
      "this retry does not continue a call of this caller: the state, the inputs and the arguments must be those " +
      "that the server asked about; make the call again without them",
  },
];
