import type { ValidateFunction } from "ajv/dist/2020.js";
import type { InvocationOutcome } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { AgentRecord } from "../../agent/parties/records.js";
import type { CapabilityTerm } from "../../agent/parties/terms.js";
import { isSkillInputError } from "../../agent/skill.js";
import { isObject, type Json, type JsonObject } from "../../bytes/json.js";
import { meant } from "../../checks/members.js";
import { failureFault } from "../../http/fault.js";
import { type ConcurrencyLimit, within } from "../../http/work.js";
import { type Reading, readArguments, textIn, wrong } from "./bodies.js";
import { type Fault, fault, fromHttp, invocationFault } from "./errors.js";
import type { AgentParty } from "./party.js";

export interface ExecutionContext {
  readonly agent: IssuingAgent;
  readonly parties: Parties;
  readonly terms: ReadonlyMap<string, CapabilityTerm>;
  readonly outputs: ReadonlyMap<string, OutputCheck>;
  readonly limit: ConcurrencyLimit;
  /** Milliseconds that a skill may take. */
  readonly timeout: number;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly onFailure: (error: unknown, what: string) => void;
}

interface Execution {
  readonly capability: string;
  readonly arguments: JsonObject;
  /** The presented token. If there is none, the agent's stored grants are used. */
  readonly token?: string | undefined;
}

type Executed = { readonly ok: true; readonly data: Json } | Fault;
type Answer = { readonly ok: true; readonly body: JsonObject; readonly failed?: number } | Fault;

const MOST_IN_BATCH = 50;
/** Maximum number of executions of one batch that run at once. */
const AT_ONCE = 8;

/**
 * Executes a capability.
 *
 * @param gone - Aborted when the client has disconnected.
 * @throws StorageError if the database fails.
 */
export async function execute(
  body: JsonObject,
  token: string | undefined,
  party: AgentParty,
  gone: AbortSignal,
  context: ExecutionContext,
): Promise<Answer> {
  const read = readExecution(body, "");
  if (!read.ok) return read;
  const executed = await executeOne({ ...read.value, token }, party, gone, context);
  return executed.ok ? { ok: true, body: { data: executed.data } } : executed;
}

/** Executes up to 50 capabilities; each succeeds or fails independently. */
export async function executeBatch(
  body: JsonObject,
  party: AgentParty,
  gone: AbortSignal,
  context: ExecutionContext,
): Promise<Answer> {
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length < 1 || requests.length > MOST_IN_BATCH) {
    return wrong("requests", `must be an array of 1 to ${MOST_IN_BATCH}`);
  }
  const items: (Execution & { readonly id: string })[] = [];
  for (const [at, one] of requests.entries()) {
    const where = `requests[${at}]`;
    if (!isObject(one)) return wrong(where, "must be an object");
    const { id = String(at) } = one;
    if (typeof id !== "string" || id.length > 128) {
      return wrong(`${where}.id`, "must be a string of at most 128 characters");
    }
    const read = readExecution(one, `${where}.`);
    if (!read.ok) return read;
    items.push({ ...read.value, id });
  }
  const responses: JsonObject[] = [];
  let failed = 0;
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, { id, ...item }] of waiting) {
      const executed = await executeOne(item, party, gone, context);
      if (executed.ok) responses[at] = { id, status: "completed", data: executed.data };
      else {
        const { code, message, more } = executed;
        failed++;
        responses[at] = { id, status: "failed", error: { code, message, ...more } };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { ok: true, body: { responses }, failed };
}

function readExecution(
  body: { readonly [name: string]: unknown },
  where: string,
): Reading<Execution> {
  const named = textIn(body, "capability");
  if (!named.ok) return { ...named, message: `${where}${named.message}` };
  const given = readArguments(body["arguments"], `${where}arguments`);
  if (!given.ok) return given;
  return { ok: true, value: { capability: named.value, arguments: given.value } };
}

async function executeOne(
  execution: Execution,
  { agent: caller, jwt }: AgentParty,
  gone: AbortSignal,
  context: ExecutionContext,
): Promise<Executed> {
  const { capability } = execution;
  const { limit, terms } = context;
  const term = terms.get(capability);
  if (term === undefined) return unknownCapability(capability, caller, context);
  if (jwt.capabilities !== undefined && !jwt.capabilities.includes(capability)) {
    const message = `the JWT is narrowed to other capabilities than ${capability} ("capabilities")`;
    return fault("capability_not_granted", message);
  }
  if (term.location !== undefined) {
    const message = `${capability} is executed at its location, ${term.location}, with a JWT whose "aud" that is`;
    return fault("invalid_request", message, { more: { location: term.location } });
  }
  const release = limit.take({ principal: caller.host, invoker: caller.id });
  if (release === undefined) {
    const message = "too many executions of this agent are under way; wait for one to end";
    return fault("rate_limited", message, { retryAfter: 1 });
  }
  try {
    return await run(execution, caller, gone, context);
  } finally {
    release();
  }
}

async function run(
  { capability, arguments: given, token }: Execution,
  caller: AgentRecord,
  gone: AbortSignal,
  { agent, parties, outputs, timeout, stopping, onFailure }: ExecutionContext,
): Promise<Executed> {
  const signal = AbortSignal.any([gone, stopping, AbortSignal.timeout(timeout)]);
  let outcome: InvocationOutcome;
  try {
    const asked = { agent: caller, capability, arguments: given, signal };
    const work = agent.executeGrant(token === undefined ? asked : { ...asked, presented: token });
    outcome = await within(signal, work);
  } catch (error) {
    if (isSkillInputError(error)) return fault("invalid_request", error.message);
    if (signal.aborted) {
      const why = stopping.aborted ? "the server is shutting down" : "it took too long";
      return fault("unavailable", `the execution was ended: ${why}`, { unrecorded: true });
    }
    onFailure(error, `capability ${capability}`);
    const failed = fromHttp(failureFault(error));
    const message = failed.code === "unavailable" ? failed.message : "the execution failed";
    return { ...failed, message, unrecorded: true };
  }
  if (!outcome.ok) {
    const missing = outcome.denials.some(({ code }) => code === "capability_missing");
    if (missing && (await wasRevoked(capability, caller, parties))) {
      const message = `the agent's grant of ${capability} was revoked; request it again`;
      return fault("capability_not_granted", message, { unrecorded: true });
    }
    return invocationFault(outcome.denials);
  }
  const wrongOutput = outputs.get(capability)?.(outcome.result);
  if (wrongOutput === undefined) return { ok: true, data: outcome.result };
  onFailure(new Error(`the output fails its schema: ${wrongOutput}`), `capability ${capability}`);
  return fault("internal_error", "the execution gave something else than it promises", {
    unrecorded: true,
  });
}

async function wasRevoked(
  capability: string,
  { id }: AgentRecord,
  parties: Parties,
): Promise<boolean> {
  const grants = await parties.grantsOf(id);
  return grants.some((grant) => grant.capability === capability && grant.status === "revoked");
}

/**
 * Returns the fault for a capability that does not exist. If the agent has a grant of the capability, the fault says
 * that the capability is no longer offered.
 */
async function unknownCapability(
  capability: string,
  { id }: AgentRecord,
  { parties, terms }: ExecutionContext,
): Promise<Fault> {
  const grants = await parties.grantsOf(id);
  if (grants.some((grant) => grant.capability === capability)) {
    const message = "this capability is no longer offered; its grants have no effect";
    return fault("capability_not_granted", message);
  }
  const hint = meant(capability, terms.size > 16 ? [] : [...terms.keys()]);
  return fault("capability_not_found", `there is no capability of this name${hint}`);
}

/**
 * Checks a result against its capability's output schema.
 *
 * @returns The problem, if any.
 */
type OutputCheck = (result: Json) => string | undefined;

/**
 * Compiles the output schemas of capabilities. Input schemas are compiled with the skills.
 *
 * @throws TypeError naming the capability whose schema is wrong.
 * @throws Error if `ajv` is not installed.
 */
export async function outputChecks(
  terms: ReadonlyMap<string, CapabilityTerm>,
): Promise<ReadonlyMap<string, OutputCheck>> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    // Loading the metaschemas takes far longer than compiling the schemas.
    meta: false,
    validateSchema: false,
  });
  const checks = new Map<string, OutputCheck>();
  for (const [name, { output }] of terms) {
    if (output === undefined) continue;
    let validate: ValidateFunction;
    try {
      validate = ajv.compile(output);
      // An asynchronous check returns a promise, which would count as valid.
      if ("$async" in validate) throw new TypeError("it is asynchronous");
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`${name}.output: is not a valid JSON Schema: ${why}`, { cause });
    }
    checks.set(name, (result) => (validate(result) ? undefined : ajv.errorsText(validate.errors)));
  }
  return checks;
}
