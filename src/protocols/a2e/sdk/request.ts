import { isJsonObject, isTexts, type Json, type JsonObject } from "../../../bytes/json.js";
import { ENVELOPE, isText, MAX_ID, type Read, unknownMember, wrong } from "../messages.js";
import {
  type CapabilityName,
  capabilityOf,
  namingOf,
  PluginError,
  type SdkHandler,
  type SessionScope,
} from "../plugin.js";
import {
  type Ask,
  type Request,
  readRequest,
  readTerms,
  type Step,
  stepOf,
  TERMS,
} from "../request.js";
import { sdkAnswer, sdkPart, sdkTools } from "./answers.js";
import { hasSdkResult, sdkMembers } from "./types.js";

/** The context in which a request of the SDK is read. */
export interface SdkContext {
  readonly operation: string;
  readonly capability: CapabilityName;
  /** The plugin's handler for the message; `undefined` if the message is an operation. */
  readonly handler: SdkHandler | undefined;
  readonly session: SessionScope;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}

/** Reads a request in the SDK's dialect. The SDK writes every property of a message, even if its value is empty. */
export function readSdkRequest(message: JsonObject, context: SdkContext): Read<Request> {
  const { operation, capability } = context;
  const { version: _, ...given } = message;
  const known = sdkMembers(operation);
  // A message that the SDK does not know is one of proviso's own, such as memory/get.
  if (known === undefined) return readRequest(withoutEmpty(given, TERMS), operation, capability);
  const misspelt = unknownMember(given, [...ENVELOPE, ...TERMS, ...known]);
  if (misspelt !== undefined) return misspelt;
  const terms = readTerms(withoutEmpty(partOf(given, ["id", ...TERMS], known), TERMS));
  if (!terms.ok) return terms;
  const members = withoutEmpty(partOf(given, known), known);
  const answer = answerOf(members, context);
  if (!answer.ok) return answer;
  const part = (chunk: Json): JsonObject => sdkPart(operation, chunk);
  return { ok: true, value: { ...terms.value, type: operation, answer: answer.value, part } };
}

function answerOf(members: JsonObject, context: SdkContext): Read<Request["answer"]> {
  const { operation, capability, handler, session, clock } = context;
  if (handler !== undefined) {
    const answer = (ask: Ask): Promise<JsonObject> =>
      handler({
        members,
        session,
        call: async (called, parts = {}) => ask(stepFor(called, capability, parts)),
      });
    return { ok: true, value: answer };
  }
  if (operation === "tool/list") return toolList(members, capability);
  const step = stepFrom(members, operation, capability);
  if (!step.ok) return step;
  const { value } = step;
  const answer = async (ask: Ask): Promise<JsonObject> => {
    const start = clock();
    return sdkAnswer(operation, value.name ?? "", await ask(value), clock() - start);
  };
  return { ok: true, value: answer };
}

/**
 * Converts a message to a step. All properties of the message's type become arguments, except the called name, which
 * the step has separately. The arguments and the called name are judged.
 */
function stepFrom(members: JsonObject, operation: string, capability: CapabilityName): Read<Step> {
  if (!hasSdkResult(operation)) return stepOf(operation, capability, { arguments: members });
  const { called } = namingOf(capability);
  const { [called]: name, arguments: given = {}, ...others } = members;
  if (name !== undefined && !isText(name)) {
    return wrong(`"${called}" must be a string of 1 to ${MAX_ID} characters`);
  }
  if (!isJsonObject(given)) return wrong('"arguments" must be an object');
  const twice = Object.keys(others).find((one) => Object.hasOwn(given, one));
  if (twice !== undefined) {
    return wrong(`"${twice}" is a property of the message itself; "arguments" cannot have one`);
  }
  return stepOf(operation, capability, { name, arguments: { ...given, ...others } });
}

/**
 * Reads a `tool/list` with filters. The plugin lists all tools, and the answer is filtered afterwards. The filters are
 * judged as arguments.
 */
function toolList(members: JsonObject, capability: CapabilityName): Read<Request["answer"]> {
  const { filter_kind: kind, filter_tags: tags = [], query = "" } = members;
  const { include_deferred: deferred = false } = members;
  if (kind !== undefined) return wrong('"filter_kind" must be empty: tools have no kinds here');
  if (!isTexts(tags)) return wrong('"filter_tags" must be an array of strings');
  if (typeof query !== "string") return wrong('"query" must be a string');
  if (typeof deferred !== "boolean") return wrong('"include_deferred" must be true or false');
  const step = stepOf("tool/list", capability, { arguments: {} });
  if (!step.ok) return step;
  const answer = async (ask: Ask): Promise<JsonObject> =>
    sdkTools(await ask({ ...step.value, judged: members }), { query, tags });
  return { ok: true, value: answer };
}

/**
 * Makes a step for a call that the handler of an SDK message makes.
 *
 * @throws PluginError if the arguments are invalid.
 * @throws TypeError if the operation belongs to another capability.
 */
function stepFor(
  operation: string,
  capability: CapabilityName,
  { name, server, arguments: given = {} }: SdkStep,
): Step {
  if (capabilityOf(operation) !== capability) {
    throw new TypeError(`"${operation}" is no operation of ${capability}`);
  }
  const step = stepOf(operation, capability, { name, server, arguments: given });
  if (step.ok) return step.value;
  throw new PluginError("arguments_invalid", step.fault.message);
}

type SdkStep = Parameters<Parameters<SdkHandler>[0]["call"]>[1] & object;

/** Returns the properties in `names` that are not in `others`. */
function partOf(
  message: JsonObject,
  names: readonly string[],
  others: readonly string[] = [],
): JsonObject {
  const own = Object.entries(message).filter(
    ([name]) => names.includes(name) && !others.includes(name),
  );
  return Object.fromEntries(own);
}

/** Removes empty properties with these names, since the SDK's client writes every property. */
function withoutEmpty(message: JsonObject, names: readonly string[]): JsonObject {
  const left = Object.entries(message).filter(
    ([name, value]) => !names.includes(name) || !isEmpty(name, value),
  );
  return Object.fromEntries(left);
}

function isEmpty(name: string, value: Json): boolean {
  if (typeof value !== "object" || value === null) {
    return value === "" || value === null || (name === "timeout" && value === 0);
  }
  return Object.keys(value).length === 0;
}
