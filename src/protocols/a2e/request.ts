import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { argumentName, readArgumentName } from "../../caveats/argument-pointer.js";
import type { OperationAuthority } from "../../caveats/operation-authority.js";
import {
  ENVELOPE,
  idOf,
  idWrong,
  isText,
  MAX_ID,
  type Read,
  unknownMember,
  wrong,
} from "./messages.js";
import { type CapabilityName, namingOf } from "./plugin.js";

/** One call of an operation. `judged` is checked against the tokens; the plugin gets the other properties. */
export interface Step {
  readonly operation: string;
  readonly name?: string;
  readonly server?: string;
  readonly arguments: JsonObject;
  /** The values for checking the tokens' constraints: the arguments, the called name and the server. */
  readonly judged: JsonObject;
}

/**
 * Judges and runs a step.
 *
 * @throws PluginError if the step is refused or fails. The error's code is defined by the plugin or by the protocol.
 */
export type Ask = (step: Step) => Promise<Json>;

/** A request to a capability, with one or more steps. Each step is judged separately; the request is answered once. */
export interface Request {
  readonly id: string;
  /** The type of the message without `/req`. The answer has the same type with `/resp`. */
  readonly type: string;
  readonly streaming: boolean;
  /** Time limit for the answer, in milliseconds. */
  readonly timeout?: number;
  readonly correlationId?: string;
  /**
   * Runs the steps.
   *
   * @returns The properties of the answer, without those that every answer has.
   */
  answer(ask: Ask): Promise<JsonObject>;
  /**
   * Returns a message with a part of the answer: its type and its own properties, without those that every message has.
   */
  part(chunk: Json): JsonObject;
}

/** The id and the options that requests of all types have in common. */
export interface Terms {
  readonly id: string;
  readonly streaming: boolean;
  /** Time limit for the answer, in milliseconds. */
  readonly timeout?: number;
  readonly correlationId?: string;
}

/** The called name, the server and the arguments of a step. */
export interface StepParts {
  readonly name?: string | undefined;
  readonly server?: string | undefined;
  readonly arguments: JsonObject;
}

/** Properties that every request may have, in addition to {@link ENVELOPE}. */
export const TERMS: readonly string[] = ["session_id", "correlation_id", "streaming", "timeout"];
const CALL = [...ENVELOPE, ...TERMS, "arguments", "tool_name", "name", "server"];

/** Reads a request to a capability, in the dialect `own`. The session id has already been checked. */
export function readRequest(
  message: JsonObject,
  operation: string,
  capability: CapabilityName,
): Read<Request> {
  const misspelt = unknownMember(message, CALL);
  if (misspelt !== undefined) return misspelt;
  const terms = readTerms(message);
  if (!terms.ok) return terms;
  const { arguments: given = {}, server } = message;
  if (!isJsonObject(given)) return wrong('"arguments" must be an object');
  const { called } = namingOf(capability);
  const other = called === "name" ? "tool_name" : "name";
  // If both spellings were allowed, a token could limit one property while a plugin reads the other.
  if (message[other] !== undefined) {
    return wrong(`messages of ${capability} say "${called}", and not "${other}"`);
  }
  const name = message[called];
  if (name !== undefined && !isText(name)) {
    return wrong(`"${called}" must be a string of 1 to ${MAX_ID} characters`);
  }
  if (server !== undefined && !isText(server)) {
    return wrong(`"server" must be a string of 1 to ${MAX_ID} characters`);
  }
  const step = stepOf(operation, capability, { name, server, arguments: given });
  if (!step.ok) return step;
  return {
    ok: true,
    value: {
      ...terms.value,
      type: operation,
      answer: async (ask) => ({ ok: true, data: await ask(step.value) }),
      part: (data) => ({ type: `${operation}/event`, data }),
    },
  };
}

/** Reads the common options of a request. */
export function readTerms(message: JsonObject): Read<Terms> {
  const { correlation_id: correlationId, streaming = false, timeout } = message;
  const id = idOf(message);
  if (id === "") return idWrong();
  if (typeof streaming !== "boolean") return wrong('"streaming" must be true or false');
  if (timeout !== undefined && (typeof timeout !== "number" || !(timeout > 0))) {
    return wrong('"timeout" must be a number of seconds above 0');
  }
  if (correlationId !== undefined && !isText(correlationId)) {
    return wrong(`"correlation_id" must be a string of 1 to ${MAX_ID} characters`);
  }
  return {
    ok: true,
    value: {
      id,
      streaming,
      ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
      ...(correlationId === undefined ? {} : { correlationId }),
    },
  };
}

/** Makes a step. Refuses a message if the call that is judged could differ from the call that the plugin runs. */
export function stepOf(
  operation: string,
  capability: CapabilityName,
  { name, server, arguments: given }: StepParts,
): Read<Step> {
  const { called, server: hasServer } = namingOf(capability);
  if (server !== undefined && !hasServer) {
    return wrong(`messages of ${capability} have no "server"`);
  }
  const own: JsonObject = {
    ...(name === undefined ? {} : { [called]: name }),
    ...(server === undefined ? {} : { server }),
  };
  const hidden: { [member: string]: Json } = {};
  // Constraints on `tool_name`, `name` and `server` apply to the message's own properties, so an argument must not have
  // one of these names.
  for (const member of hasServer ? [called, "server"] : [called]) {
    const apart = `arguments.${member}`;
    if (hasServer && Object.hasOwn(given, apart)) {
      return wrong(`an argument cannot be called "${apart}"`);
    }
    const argument = Object.hasOwn(given, member) ? given[member] : undefined;
    if (argument === undefined) continue;
    // A tool of an MCP server can have an argument called `tool_name` or `server`. Such an argument is judged under the
    // name `arguments.tool_name` or `arguments.server`.
    if (!hasServer || own[member] === undefined) {
      return wrong(`"${member}" is a property of the message itself; "arguments" cannot have one`);
    }
    hidden[apart] = argument;
  }
  return {
    ok: true,
    value: {
      operation,
      arguments: given,
      judged: { ...given, ...hidden, ...own },
      ...(name === undefined ? {} : { name }),
      ...(server === undefined ? {} : { server }),
    },
  };
}

/**
 * Returns the limits on the properties of a message's `arguments`, by their names in `arguments`. Leaves out limits on
 * properties of the message itself, such as `tool_name`; see {@link stepOf}.
 */
export function ofArguments(
  { limited, closed }: OperationAuthority,
  capability: CapabilityName,
): OperationAuthority {
  const { called, server: hasServer } = namingOf(capability);
  const members = hasServer ? [called, "server"] : [called];
  const nameOf = (judged: string): readonly [string] | readonly [] => {
    if (members.includes(judged)) return [];
    const apart = hasServer
      ? members.find((member) => judged === `arguments.${member}`)
      : undefined;
    return [apart ?? judged];
  };
  const own = [...limited].flatMap(([argument, domain]) => {
    const [top, ...inside] = readArgumentName(argument) ?? [argument];
    return nameOf(top).map((name) => [argumentName([name, ...inside]), domain] as const);
  });
  return { limited: new Map(own), closed: closed?.flatMap(nameOf) };
}
