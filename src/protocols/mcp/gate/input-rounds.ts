import { createHash } from "node:crypto";
import type { AgentDenials } from "../../../agent/refusal.js";
import { canonicalJson, type JsonObject } from "../../../bytes/json.js";
import type { HostRequest } from "./host-request.js";
import {
  type InputParts,
  type Inputs,
  judgeInputs,
  judgeResponses,
  UNKNOWN_INPUT,
} from "./input-requests.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";
import { objectAt, stringAt, without } from "./values.js";

const MOST_ROUNDS = 10_000;

/**
 * Calls for which a server of the new era has asked for input (multi-round-trip requests). A retry is let through only
 * with the state that the server gave for the same call of the same party, and with inputs that it asked for.
 */
export class InputRounds {
  readonly #asked = new OldestOut<string, Inputs>(MOST_ROUNDS);

  /** Judges the inputs in a request that retries. @returns Reasons to refuse it; `undefined` if there are none. */
  async refusal(
    parts: InputParts,
    request: HostRequest,
    link: ServerLink,
  ): Promise<AgentDenials | undefined> {
    if (!isRetry(request.params)) return undefined;
    const { params, presented } = request;
    const asked = this.#asked.get(keyOf(parts, request, link, stateIn(params)));
    const responses =
      params["inputResponses"] === undefined ? {} : objectAt(params, ["inputResponses"]);
    if (asked === undefined || responses === undefined) return UNKNOWN_INPUT;
    return judgeResponses(parts, presented, responses, asked);
  }

  /**
   * Judges a result that asks for input, and remembers what it asks.
   *
   * @returns Reasons to keep it from the host; `undefined` if there are none.
   */
  async admit(
    parts: InputParts,
    request: HostRequest,
    link: ServerLink,
    result: JsonObject,
  ): Promise<AgentDenials | undefined> {
    const { params, presented } = request;
    const { inputRequests = {} } = result;
    const judged = await judgeInputs(parts, presented, link, inputRequests);
    if (!judged.allowed) return judged.denials;
    // A server without state of its own is told all answers so far at each retry.
    const before = isRetry(params)
      ? this.#asked.get(keyOf(parts, request, link, stateIn(params)))
      : undefined;
    const inputs = new Map([...(before ?? []), ...judged.inputs]);
    this.#asked.set(keyOf(parts, request, link, stringAt(result, ["requestState"])), inputs);
    return undefined;
  }
}

function isRetry(params: JsonObject): boolean {
  return params["requestState"] !== undefined || params["inputResponses"] !== undefined;
}

function stateIn(params: JsonObject): string | undefined {
  return stringAt(params, ["requestState"]);
}

/** Names a call of one party, with the state that a server gave for it. */
function keyOf(
  { authority }: InputParts,
  request: HostRequest,
  link: ServerLink,
  state: string | undefined,
): string {
  const { params, presented, method } = request;
  const call = without(params, ["_meta", "inputResponses", "requestState"]);
  const text = canonicalJson([
    authority.holder(presented),
    link.name ?? null,
    method,
    call,
    state ?? null,
  ]);
  return createHash("sha256").update(text).digest("base64url");
}
