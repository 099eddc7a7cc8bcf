import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AttenuationOutcome } from "../../agent/maintenance.js";
import type { OpenedApproval } from "../../agent/parties/approval-requests.js";
import type { PresentedCapability } from "../../agent/presented.js";
import type { RequestOutcome } from "../../agent/requested-capabilities.js";
import { isJsonObject, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import { formatTime } from "../../caveats/time.js";
import { meant } from "../../checks/members.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { denialFault, fault, malformed, problemFault, throwRefused } from "./errors.js";
import { METHODS } from "./extension.js";
import { readNamed } from "./presented-authority.js";

interface MethodAnswer {
  /** The result as JSON. */
  readonly result: object;
  /** The part of the result that is about a pending approval. */
  readonly pending?: PendingAnswer;
}

/** The context of a method call, in addition to its parameters. */
interface MethodSetting {
  /** The id of the message. It identifies the request if the parameters have no `requestId`. */
  readonly requestId?: string;
  /** The URL where people decide requests. */
  readonly verificationUri?: string | undefined;
}

/**
 * A method about capabilities, for calls over JSON-RPC and in the data part of a message.
 *
 * @throws Refused if the parameters are invalid, or the agent refuses the call.
 */
export type CapabilityMethod = (
  agent: IssuingAgent,
  caller: Caller,
  params: JsonObject,
  setting: MethodSetting,
) => Promise<MethodAnswer>;

/**
 * Refuses unknown parameters, because a call with a misspelt "token" would present no capability.
 *
 * @throws Refused if a parameter is unknown.
 */
export function assertMembersOf(params: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(params).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throwRefused(malformed(`unknown property "${unknown.slice(0, 64)}"${meant(unknown, known)}`));
}

/** A method about the one capability that its parameters name. */
type MethodAboutOne = (
  agent: IssuingAgent,
  caller: Caller,
  presented: PresentedCapability,
  params: JsonObject,
) => Promise<MethodAnswer>;

function aboutOne(method: MethodAboutOne): CapabilityMethod {
  return async (agent, caller, params) => method(agent, caller, readNamed(params), params);
}

const request: CapabilityMethod = async (agent, caller, params, setting) => {
  const { requestId = setting.requestId, ...query } = params;
  if (requestId !== undefined && (typeof requestId !== "string" || !isRequestId(requestId))) {
    throwRefused(
      malformed(`"requestId" must be a string of 1 to ${LONGEST_ID} printable characters`),
    );
  }
  return granted(await agent.request(caller, query, requestId), setting);
};

const collect: CapabilityMethod = async (agent, caller, params, setting) => {
  assertMembersOf(params, ["approvalId"]);
  const { approvalId } = params;
  if (typeof approvalId !== "string") {
    return throwRefused(
      malformed('"approvalId" must be the id of an approval, as "pending" has it'),
    );
  }
  return granted(await agent.collect(caller, approvalId), setting);
};

/** Returns the granted capabilities and the pending approval. */
function granted(outcome: RequestOutcome, { verificationUri }: MethodSetting): MethodAnswer {
  if (!outcome.ok) return throwRefused(problemFault(outcome.denial));
  const { capabilities, refused, reason } = outcome;
  const result = {
    capabilities,
    ...(refused.length === 0 ? {} : { refused }),
    reason,
  };
  if (outcome.pending === undefined) return { result };
  const pending = pendingAnswer(outcome.pending, verificationUri);
  return { result: { ...result, pending }, pending };
}

function isRequestId(text: string): boolean {
  return text !== "" && isPlainText(text);
}

const attenuate: MethodAboutOne = async (agent, caller, presented, params) => {
  const { constraints } = params;
  if (constraints === undefined || !isJsonObject(constraints)) {
    return throwRefused(malformed('"constraints" must be an object with the keys of a hop'));
  }
  const attenuating = agent.attenuate(caller, presented, constraints as HopInit);
  const { id, token, hop, revocationId } = await attenuated(attenuating);
  return { result: { capability: { id, token, revocationId, constraints: hop } } };
};

/**
 * Waits for an attenuation, and returns its successful outcome.
 *
 * @throws Refused if the attenuation is refused. For an invalid hop, the fault says what is wrong, because the
 *   caller wrote the hop.
 */
export async function attenuated(
  attenuating: Promise<AttenuationOutcome>,
): Promise<Extract<AttenuationOutcome, { readonly ok: true }>> {
  let outcome: AttenuationOutcome;
  try {
    outcome = await attenuating;
  } catch (error) {
    if (error instanceof TypeError) throwRefused(malformed(`constraints: ${error.message}`));
    throw error;
  }
  if (outcome.ok) return outcome;
  if ("denials" in outcome) return throwRefused(denialFault(outcome.denials));
  const [first] = outcome.overreaches;
  const message = `the capability does not allow that: ${first?.message ?? "nothing would be left"}`;
  const metadata = { problems: JSON.stringify(outcome.overreaches) };
  return throwRefused(fault(-32602, message, "attenuation_exceeds", metadata));
}

const revoke: MethodAboutOne = async (agent, caller, presented, params) => {
  const { reason } = params;
  if (reason !== undefined && (typeof reason !== "string" || reason.length > LONGEST_REASON)) {
    return throwRefused(
      malformed(`"reason" must be a string of at most ${LONGEST_REASON} characters`),
    );
  }
  const outcome = await agent.revoke(caller, presented, reason);
  if (!outcome.ok) return throwRefused(denialFault(outcome.denials));
  const { capability, revocationId, needless } = outcome;
  const already = needless === undefined ? {} : { already: needless };
  return { result: { revoked: true, capabilityId: capability, revocationId, ...already } };
};

const introspect: MethodAboutOne = async (agent, caller, presented) => ({
  result: await agent.introspect(caller, presented),
});

const LONGEST_REASON = 512;

/** The methods about capabilities, by name. */
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

/** A grant that waits for an approval. */
export interface PendingGrant {
  readonly grant: string;
  readonly operations: readonly string[];
  /** Number of requested resources; absent if the request names none. */
  readonly resources?: number;
}

/** Describes a request that waits until people have decided. Contains no token. */
export interface PendingAnswer {
  /** The argument of `a2a/capabilities/collect`, and the id of the waiting task. */
  readonly approvalId: string;
  /** End of the time to decide, as `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
  /** Seconds to wait between two `collect` calls. */
  readonly interval: number;
  readonly grants: readonly PendingGrant[];
  /** The URL where people decide the request. */
  readonly verificationUri?: string;
  /** The code that the user enters at `verificationUri`; absent if approvers find the request without a code. */
  readonly userCode?: string;
}

/** Seconds between two `collect` calls. */
const INTERVAL = 2;

/** Returns the description of a pending approval for the party that made the request. */
function pendingAnswer(
  { approval, userCode }: OpenedApproval,
  verificationUri: string | undefined,
): PendingAnswer {
  const { id, expires, subject } = approval;
  return {
    approvalId: id,
    expires: formatTime(expires),
    interval: INTERVAL,
    grants: subject.asked.map(({ grant, operations, resources }) => ({
      grant,
      operations,
      ...(resources === undefined ? {} : { resources: resources.length }),
    })),
    verificationUri,
    userCode,
  };
}
