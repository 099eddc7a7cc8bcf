import type { AgentDenials } from "../../../agent/refusal.js";
import { canonicalJson, isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { digestOfText } from "../../../macaroon/hmac.js";
import type { Edit } from "../message/edit.js";
import { stringAt, without } from "../message/values.js";
import { type HostRequest, judgedParameters, type OpenRequest } from "./host-request.js";
import {
  type InputParts,
  type Inputs,
  joined,
  judgeInputs,
  judgeResponses,
  UNKNOWN_INPUT,
} from "./input-requests.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";

const MOST_ROUNDS = 10_000;

/**
 * Data of a call that is kept until the server answers. The server may answer with a request for input, and the host
 * then repeats the call.
 */
export interface Round {
  /** A digest of the party, the server, the method and the parameters. */
  readonly call: string;
  /** The inputs that the server has requested for this call in earlier rounds. */
  readonly before: Inputs;
}

/** The edits of an allowed call, or the reasons to refuse a retry. */
export type JudgedRetry =
  | { readonly allowed: true; readonly edits: readonly Edit[]; readonly round: Round }
  | { readonly allowed: false; readonly denials: AgentDenials };

/**
 * Remembers the calls for which a server of the new era has requested input (multi-round-trip requests). The server
 * receives from a retry only a state that it returned for the same call of the same party, and only answers to its own
 * requests.
 */
export class InputRounds {
  readonly #asked = new OldestOut<string, Inputs>(MOST_ROUNDS);

  /**
   * Judges the inputs in a retry. Removes answers to inputs that the server has not requested from this party; the
   * server then requests them again. Refuses a state that the server has not returned to this party.
   *
   * @returns The removals as edits, or the reasons to refuse the request.
   */
  async judge(parts: InputParts, request: HostRequest, link: ServerLink): Promise<JudgedRetry> {
    const { params, presented } = request;
    const { requestState, inputResponses = {} } = params;
    const call = callOf(parts, request, link);
    const isRetry = requestState !== undefined || params["inputResponses"] !== undefined;
    if (!isRetry) return { allowed: true, edits: [], round: { call, before: new Map() } };
    const asked = this.#asked.get(keyOf(call, stringAt(params, ["requestState"])));
    const isKnown =
      requestState === undefined || (typeof requestState === "string" && asked !== undefined);
    if (!isKnown || !isJsonObject(inputResponses)) {
      return { allowed: false, denials: UNKNOWN_INPUT };
    }
    const before = asked ?? new Map();
    const unknown = Object.keys(inputResponses).filter((name) => !before.has(digestOfText(name)));
    const denials = await judgeResponses(
      parts,
      presented,
      link,
      without(inputResponses, unknown),
      before,
    );
    if (denials !== undefined) return { allowed: false, denials };
    const edits = unknown.map((name): Edit => {
      return { path: ["params", "inputResponses", name], value: undefined };
    });
    return { allowed: true, edits, round: { call, before } };
  }

  /**
   * Judges a result that requests input, and remembers its requests.
   *
   * @returns Reasons to withhold the result from the host; `undefined` if the host may receive it.
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
    // A server without its own state receives all earlier answers with each retry, so earlier requests stay known.
    const key = keyOf(call, stringAt(result, ["requestState"]));
    this.#asked.set(key, joined(before, judged.inputs));
    return undefined;
  }
}

/** Returns a digest that identifies a call of one party. */
function callOf({ authority }: InputParts, request: HostRequest, link: ServerLink): string {
  const { params, presented, method } = request;
  const party = authority.holder(presented);
  const call = [party, link.name ?? null, method, judgedParameters(params)];
  return digestOfText(canonicalJson(call));
}

/** Returns a digest that identifies a call together with the state that a server returned for it. */
function keyOf(call: string, state: string | undefined): string {
  return digestOfText(JSON.stringify([call, state ?? null]));
}
