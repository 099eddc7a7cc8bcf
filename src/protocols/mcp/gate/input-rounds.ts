import type { AgentDenials } from "../../../agent/refusal.js";
import { canonicalJson, type JsonObject } from "../../../bytes/json.js";
import type { Edit } from "../message/edit.js";
import type { HostRequest, OpenRequest } from "./host-request.js";
import {
  type InputParts,
  type Inputs,
  joined,
  judgeInputs,
  judgeResponses,
  UNKNOWN_INPUT,
} from "./input-requests.js";
import type { HostRule } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";
import { digestOf, objectAt, stringAt, without } from "./values.js";

const MOST_ROUNDS = 10_000;

/**
 * The parts of a call that are kept until its answer comes: the server may ask for input, and the host make the call
 * again.
 */
export interface Round {
  /** A digest of the party, the server and what it was asked to do. */
  readonly call: string;
  /** The inputs that the server has asked for this call in earlier rounds. */
  readonly before: Inputs;
}

/** The changes of the text of a call that may go on, or the reasons to refuse it as a retry. */
export type JudgedRetry =
  | { readonly allowed: true; readonly edits: readonly Edit[]; readonly round: Round }
  | { readonly allowed: false; readonly denials: AgentDenials };

/**
 * Calls for which a server of the new era has asked for input (multi-round-trip requests). A retry is let through only
 * with the state that the server gave for the same call of the same party, and with answers to what it asked.
 */
export class InputRounds {
  readonly #asked = new OldestOut<string, Inputs>(MOST_ROUNDS);

  /**
   * Judges the inputs in a request that retries. Answers to what this caller was not asked are removed, so that the
   * server asks again; a state that it was not given is a reason to refuse.
   *
   * @returns The removals, or reasons to refuse the request.
   */
  async judge(parts: InputParts, request: HostRequest, link: ServerLink): Promise<JudgedRetry> {
    const { params, presented } = request;
    const call = callOf(parts, request, link);
    const isRetry = params["requestState"] !== undefined || params["inputResponses"] !== undefined;
    if (!isRetry) return { allowed: true, edits: [], round: { call, before: new Map() } };
    const state = stringAt(params, ["requestState"]);
    const asked = this.#asked.get(keyOf(call, state));
    const responses =
      params["inputResponses"] === undefined ? {} : objectAt(params, ["inputResponses"]);
    const isKnown =
      params["requestState"] === undefined || (state !== undefined && asked !== undefined);
    if (!isKnown || responses === undefined) return { allowed: false, denials: UNKNOWN_INPUT };
    const known = Object.keys(responses).filter((key) => asked?.has(digestOf(key)) === true);
    const judged = Object.fromEntries(known.map((key) => [key, responses[key] ?? null]));
    const before = asked ?? new Map();
    const denials = await judgeResponses(parts, presented, link, judged, before);
    if (denials !== undefined) return { allowed: false, denials };
    const unknown = Object.keys(responses).filter((key) => !known.includes(key));
    const edits = unknown.map((key) => {
      return { path: ["params", "inputResponses", key], value: undefined };
    });
    return { allowed: true, edits, round: { call, before } };
  }

  /**
   * Judges a result that asks for input, and remembers what it asks.
   *
   * @returns Reasons to keep it from the host; `undefined` if there are none.
   */
  async admit(
    parts: InputParts,
    { presented }: OpenRequest,
    link: ServerLink,
    { call, before }: Round,
    result: JsonObject,
  ): Promise<AgentDenials | undefined> {
    const { inputRequests = {} } = result;
    const judged = await judgeInputs(parts, presented, link, inputRequests);
    if (!judged.allowed) return judged.denials;
    // A server without state of its own is told all answers so far at each retry.
    const key = keyOf(call, stringAt(result, ["requestState"]));
    this.#asked.set(key, joined(before, judged.inputs));
    return undefined;
  }
}

/**
 * Finds a parameter that would answer a server where nobody judges answers: calls alone are made again with answers, and
 * `tasks/update` has them without a state.
 */
export function strayInput(
  method: string,
  { by }: HostRule,
  params: JsonObject,
): string | undefined {
  if (by === "call") return undefined;
  const names = method === "tasks/update" ? ["requestState"] : ["inputResponses", "requestState"];
  return names.find((name) => params[name] !== undefined);
}

/** Names a call of one party. */
function callOf({ authority }: InputParts, request: HostRequest, link: ServerLink): string {
  const { params, presented, method } = request;
  const call = without(params, ["_meta", "inputResponses", "requestState"]);
  return digestOf(canonicalJson([authority.holder(presented), link.name ?? null, method, call]));
}

/** Names a call with the state that a server gave for it. */
function keyOf(call: string, state: string | undefined): string {
  return digestOf(JSON.stringify([call, state ?? null]));
}
