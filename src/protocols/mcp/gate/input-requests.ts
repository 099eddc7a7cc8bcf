import type { AgentDenial, AgentDenials } from "../../../agent/refusal.js";
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { digestOfText } from "../../../macaroon/hmac.js";
import {
  type GateAuthority,
  type GateCall,
  type GateDecision,
  type Presented,
  UNAVAILABLE,
} from "../authority/gate-authority.js";
import { URL_ELICITATION_REQUIRED } from "../message/error-codes.js";
import type { Message } from "../message/message.js";
import { listAt, objectAt, stringAt, valueAt, without } from "../message/values.js";
import { serverRequestRule } from "./methods.js";
import type { ServerLink } from "./server-link.js";
import type { Servers } from "./servers.js";

/** An allowed request of a server to the host. */
interface AskedInput {
  readonly operation: string;
  readonly method: string;
  /** A digest of the arguments. */
  readonly digest: string;
}

/** Requests of a server to the host, by the digest of the key under which the host answers. */
export type Inputs = ReadonlyMap<string, AskedInput>;

/**
 * Maximum number of requests to the host in one result, and of requests that the gate remembers for one call or task.
 */
const MOST_INPUTS = 32;

/** Adds a server's latest requests to its earlier requests. Over the limit, forgets the oldest requests. */
export function joined(before: Inputs, inputs: Inputs): Inputs {
  return new Map([...before, ...inputs].slice(-MOST_INPUTS));
}

export type JudgedInputs =
  | { readonly allowed: true; readonly inputs: Inputs }
  | { readonly allowed: false; readonly denials: AgentDenials };

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

/** Judges one request of a server for the host's model, user or roots. Such a request could leak data. */
export async function judgeInput(
  parts: InputParts,
  presented: Presented,
  call: GateCall | undefined,
): Promise<GateDecision> {
  if (call === undefined) return { allowed: false, denials: NOT_IN_PROTOCOL };
  const decision = await parts.authority.decide(presented, call);
  return decision.allowed
    ? decision
    : { allowed: false, denials: aboutInput(call, decision.denials) };
}

/** Adds to each reason that the server sent the refused request, because the host only knows its own request. */
function aboutInput(
  { method, operation }: Pick<GateCall, "method" | "operation">,
  denials: AgentDenials,
): AgentDenials {
  const [first, ...more] = denials.map((denial): AgentDenial => {
    const reason =
      denial.code === UNAVAILABLE.code
        ? `the tokens do not have the operation ${JSON.stringify(operation)}`
        : denial.message;
    const message = `the server asks the host for ${method}, which is not allowed: ${reason}`;
    return { ...denial, message };
  });
  return [first ?? denials[0], ...more];
}

/** Returns the call by which a server's request to the host is judged; `undefined` if MCP has no such request. */
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
 * Judges the input requests in a result. Refuses the result unless every request is allowed.
 *
 * @param known - Requests that were allowed before. When the host polls a task, the same requests come again; they are
 *   not recorded again.
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
    const key = digestOfText(name);
    const method = stringAt(input, ["method"]) ?? "";
    const call = inputCall(parts, link, method, objectAt(input, ["params"]) ?? {});
    const before = known?.get(key);
    const digest = digestOfText(JSON.stringify(call?.arguments ?? {}));
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

/**
 * Judges the URLs in an error by which a server of the old era asks the host to open URLs.
 *
 * @returns Reasons to withhold the response from the host; `undefined` if the host may receive it.
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

/** Returns whether a response contains a request to the host, in any form that hosts understand. */
export function asksHost({ value }: Message): boolean {
  const result = objectAt(value, ["result"]);
  return (
    result?.["inputRequests"] !== undefined ||
    result?.["resultType"] === "input_required" ||
    valueAt(value, ["error", "code"]) === URL_ELICITATION_REQUIRED
  );
}

/**
 * Judges the host's answers to input requests before the server receives them. The requests themselves were judged when
 * the server sent them; this function checks that the tokens still allow the operations.
 *
 * @returns Reasons to refuse the answers; `undefined` if the server may receive all of them. An answer to an unknown
 *   request is refused.
 */
export async function judgeResponses(
  parts: InputParts,
  presented: Presented,
  link: ServerLink,
  responses: JsonObject,
  asked: Inputs,
): Promise<AgentDenials | undefined> {
  for (const key of Object.keys(responses)) {
    const input = asked.get(digestOfText(key));
    if (input === undefined) return UNKNOWN_INPUT;
    const denials = await lapseOf(parts, presented, link, input);
    if (denials !== undefined) return aboutInput(input, denials);
  }
  return undefined;
}

/**
 * Returns the reasons if the tokens no longer allow an operation, whatever its arguments, and records the refusal in
 * the ledger. Returns `undefined` if the tokens still allow the operation with some arguments.
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

/** The reason to refuse a retry whose state, inputs or arguments do not match what the server has asked this host. */
export const UNKNOWN_INPUT: AgentDenials = [
  {
    code: "input_unknown",
    rule: "requestState",
    message:
      "this retry does not continue a call of this caller: the state, the inputs and the arguments must be those " +
      "that the server asked about; make the call again without them",
  },
];
