import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AttenuationOutcome } from "../../agent/maintenance.js";
import type { RequestOutcome } from "../../agent/outcomes.js";
import type { PresentedCapability } from "../../agent/presented.js";
import { isJsonObject, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import { meant } from "../../checks/members.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { denialFault, type Fault, fault, malformed, problemFault } from "./errors.js";
import { METHODS } from "./extension.js";
import { type PendingAnswer, pendingAnswer } from "./pending.js";
import { readNamed } from "./presented.js";

/** The answer to a method: a result, as it is written in JSON, or the reason for its absence. */
export type MethodOutcome =
  | {
      readonly ok: true;
      readonly result: object;
      /** The part of the result that waits for an approval. */
      readonly pending?: PendingAnswer;
    }
  | MethodRefusal;

/** Why a method has no result. */
export interface MethodRefusal {
  readonly ok: false;
  readonly fault: Fault;
}

/** What a method goes by besides its parameters. */
interface MethodSetting {
  /** What distinguishes the request from others of its party, unless its parameters say it: its message's id. */
  readonly requestId?: string;
  /** Where people decide about what is asked for. */
  readonly verificationUri?: string | undefined;
}

/** A method that needs no capability: the same over JSON-RPC and in a message's data part. */
export type CapabilityMethod = (
  agent: IssuingAgent,
  caller: Caller,
  params: JsonObject,
  setting: MethodSetting,
) => Promise<MethodOutcome>;

/** Parameters that a method cannot work with. */
export function invalidParams(message: string): MethodRefusal {
  return { ok: false, fault: malformed(message) };
}

/** Refuses a member that is not read: a misspelt "token" would be a call that presents nothing. */
export function unknownIn(params: JsonObject, known: readonly string[]): MethodRefusal | undefined {
  const unknown = Object.keys(params).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return invalidParams(`unknown member "${unknown.slice(0, 64)}"${meant(unknown, known)}`);
}

/** A method about the one capability that its parameters name. */
type MethodAboutOne = (
  agent: IssuingAgent,
  caller: Caller,
  presented: PresentedCapability,
  params: JsonObject,
) => Promise<MethodOutcome>;

function aboutOne(method: MethodAboutOne): CapabilityMethod {
  return async (agent, caller, params) => {
    const reading = readNamed(params);
    if (!reading.ok) return invalidParams(reading.message);
    return method(agent, caller, reading.presented, params);
  };
}

const request: CapabilityMethod = async (agent, caller, params, setting) => {
  const { requestId = setting.requestId, ...query } = params;
  if (requestId !== undefined && (typeof requestId !== "string" || !isRequestId(requestId))) {
    return invalidParams(`"requestId" must be a text of 1 to ${LONGEST_ID} printable characters`);
  }
  return granted(await agent.request(caller, query, requestId), setting);
};

const collect: CapabilityMethod = async (agent, caller, params, setting) => {
  const unknown = unknownIn(params, ["approvalId"]);
  if (unknown !== undefined) return unknown;
  const { approvalId } = params;
  if (typeof approvalId !== "string") {
    return invalidParams('"approvalId" must be the id of an approval, as "pending" has it');
  }
  return granted(await agent.collect(caller, approvalId), setting);
};

/** What was granted, and what waits. */
function granted(outcome: RequestOutcome, { verificationUri }: MethodSetting): MethodOutcome {
  if (!outcome.ok) return { ok: false, fault: problemFault(outcome.denial) };
  const { capabilities, refused, reason } = outcome;
  const result = {
    capabilities,
    ...(refused.length === 0 ? {} : { refused }),
    ...(reason === undefined ? {} : { reason }),
  };
  if (outcome.pending === undefined) return done(result);
  const pending = pendingAnswer(outcome.pending, verificationUri);
  return { ok: true, result: { ...result, pending }, pending };
}

function isRequestId(text: string): boolean {
  return text !== "" && isPlainText(text);
}

const attenuate: MethodAboutOne = async (agent, caller, presented, params) => {
  const { constraints } = params;
  if (constraints === undefined || !isJsonObject(constraints)) {
    return invalidParams('"constraints" must be an object with the keys of a hop');
  }
  const outcome = await attenuated(agent.attenuate(caller, presented, constraints as HopInit));
  if (!outcome.ok) return outcome;
  const { id, token, hop, revocationId } = outcome;
  return done({ capability: { id, token, revocationId, constraints: hop } });
};

/** The outcome of attenuating; what is wrong with the hop is for the caller that wrote it. */
export async function attenuated(
  attenuating: Promise<AttenuationOutcome>,
): Promise<Extract<AttenuationOutcome, { readonly ok: true }> | MethodRefusal> {
  let outcome: AttenuationOutcome;
  try {
    outcome = await attenuating;
  } catch (error) {
    if (error instanceof TypeError) return invalidParams(`constraints: ${error.message}`);
    throw error;
  }
  if (outcome.ok) return outcome;
  if ("denials" in outcome) return { ok: false, fault: denialFault(outcome.denials) };
  const [first] = outcome.overreaches;
  const message = `the capability does not allow that: ${first?.message ?? "nothing would be left"}`;
  const metadata = { problems: JSON.stringify(outcome.overreaches) };
  return { ok: false, fault: fault(-32602, message, "attenuation_exceeds", metadata) };
}

const revoke: MethodAboutOne = async (agent, caller, presented, params) => {
  const { reason } = params;
  if (reason !== undefined && (typeof reason !== "string" || reason.length > LONGEST_REASON)) {
    return invalidParams(`"reason" must be a text of at most ${LONGEST_REASON} characters`);
  }
  const outcome = await agent.revoke(caller, presented, reason);
  if (!outcome.ok) return { ok: false, fault: denialFault(outcome.denials) };
  const { capability, revocationId, needless } = outcome;
  const already = needless === undefined ? {} : { already: needless };
  return done({ revoked: true, capabilityId: capability, revocationId, ...already });
};

const introspect: MethodAboutOne = async (agent, caller, presented) =>
  done(await agent.introspect(caller, presented));

const LONGEST_REASON = 512;

function done(result: object): MethodOutcome {
  return { ok: true, result };
}

/** Methods about capabilities themselves, by name. */
export const CAPABILITY_METHODS: ReadonlyMap<string, CapabilityMethod> = new Map<
  string,
  CapabilityMethod
>([
  [METHODS.request, request],
  [METHODS.collect, collect],
  [METHODS.attenuate, aboutOne(attenuate)],
  [METHODS.revoke, aboutOne(revoke)],
  [METHODS.introspect, aboutOne(introspect)],
]);
