// Converts the process messages of A2E's SDK to calls of proc/start, proc/read and proc/stop. The command line is
// matched against the configured arguments of a listed program, which gives the values of the program's parameters.
// These values are judged, and the program is started with them.

import { isJsonObject, isTexts, type Json, type JsonObject } from "../../../../bytes/json.js";
import { shown } from "../../../../caveats/scalar.js";
import { isPluginError, PluginError, type SdkMessage, type SessionPlugin } from "../../plugin.js";
import { memberOf, optionalText, optionalWhole, textArgument } from "../arguments.js";
import type { Processes } from "./processes.js";
import { PLACE, type ReadyProgram } from "./program.js";

const MAX_TIMEOUT = Number.MAX_SAFE_INTEGER;

/** Returns the handlers for the SDK's messages about processes. */
export function procSdk(
  programs: ReadonlyMap<string, ReadyProgram>,
  processes: Processes,
): NonNullable<SessionPlugin["sdk"]> {
  return {
    "proc/spawn": (message) => spawn(message, programs, processes),
    "proc/status": (message) => status(message, processes),
    "proc/kill": (message) => kill(message, processes),
  };
}

async function spawn(
  { members, call, session }: SdkMessage,
  programs: ReadonlyMap<string, ReadyProgram>,
  processes: Processes,
): Promise<JsonObject> {
  const timeout = optionalWhole(members, "timeout", [0, MAX_TIMEOUT]) ?? 0;
  const [name, line] = commandOf(members);
  const program = programs.get(name);
  const parameters = program === undefined ? undefined : parametersFrom(program, line);
  let started: Json;
  try {
    // If the command line does not match, pass it on as the argument `cmd`: the call is then judged before the
    // program's schema refuses it.
    started = await call("proc/start", { name, arguments: parameters ?? { cmd: line } });
  } catch (error) {
    const isUnread = isPluginError(error) && error.code === "arguments_invalid";
    if (program === undefined || parameters !== undefined || !isUnread) throw error;
    throw invalid(
      `${shown(name)} has no place for these arguments; proc/list shows its parameters`,
    );
  }
  const process = isJsonObject(started) ? started["process"] : undefined;
  if (typeof process !== "string") throw new Error("proc/start gives no process");
  if (timeout > 0) processes.endAfter(session, process, timeout * 1000);
  return { proc_id: process, ok: true, error: "" };
}

async function status(message: SdkMessage, processes: Processes): Promise<JsonObject> {
  const read = await call(message, processes, "proc/read", { limit: 4 });
  const { exitCode = null, signal = null } = read;
  const state = stateOf(read);
  const how = exitCode === null ? `signal ${String(signal)}` : `exit code ${String(exitCode)}`;
  const id = memberOf(message.members, "proc_id") ?? "";
  return { proc_id: id, status: state, error: state === "failed" ? how : "" };
}

async function kill(message: SdkMessage, processes: Processes): Promise<JsonObject> {
  const signal = optionalText(message.members, "signal") ?? "SIGTERM";
  if (signal !== "SIGTERM") {
    throw invalid("signal must be SIGTERM, which SIGKILL follows if the process goes on");
  }
  return { ok: true, state: stateOf(await call(message, processes, "proc/stop", {})) };
}

/** Returns the state of a process in the SDK's words. */
function stateOf({ state, exitCode, reason }: JsonObject): string {
  if (state === "running") return "running";
  if (reason !== undefined) return "killed";
  return exitCode === 0 ? "completed" : "failed";
}

/**
 * Calls an operation on a process. The call names the program of the process, since a token may allow only one program.
 */
async function call(
  message: SdkMessage,
  processes: Processes,
  operation: string,
  more: JsonObject,
): Promise<JsonObject> {
  const process = textArgument(message.members, "proc_id");
  const name = processes.programOf(message.session, process);
  const answer = await message.call(operation, { name, arguments: { process, ...more } });
  return isJsonObject(answer) ? answer : {};
}

/** Splits a command line into a program's name and its arguments. */
function commandOf(members: JsonObject): readonly [name: string, line: readonly string[]] {
  const cmd = memberOf(members, "cmd");
  const stdin = optionalText(members, "stdin_mode") ?? "pipe";
  if (!isTexts(cmd) || cmd[0] === undefined) {
    throw invalid("cmd must be an array of strings that begins with a program of proc/list");
  }
  for (const member of ["cwd", "env"]) {
    if (members[member] === undefined) continue;
    throw invalid(`${member} must be empty: the host's configuration has it`);
  }
  if (stdin !== "pipe" && stdin !== "null") throw invalid('stdin_mode must be "pipe" or "null"');
  return [cmd[0], cmd.slice(1)];
}

/**
 * Matches command-line arguments against a program's configured arguments. Returns the parameters; `undefined` if an
 * argument does not match. The command line may leave out configured arguments that contain no parameter, since the
 * program gets them anyway.
 */
function parametersFrom(
  { args, input: { properties } }: ReadyProgram,
  line: readonly string[],
): JsonObject | undefined {
  const schemas = properties === undefined || !isJsonObject(properties) ? {} : properties;
  const parameters = new Map<string, Json>();
  let at = 0;
  for (const template of args) {
    const text = line[at];
    const values = text === undefined ? undefined : valuesIn(template, text);
    if (values === undefined) continue;
    for (const [name, value] of values) parameters.set(name, typed(value, schemas[name]));
    at++;
  }
  return at === line.length ? Object.fromEntries(parameters) : undefined;
}

/**
 * Matches an argument against a template. Returns the value of each parameter as a string; `undefined` if the argument
 * does not match.
 */
function valuesIn(template: string, text: string): ReadonlyMap<string, string> | undefined {
  const [start = "", ...places] = template.split(PLACE);
  const texts = new Map<string, string>();
  if (!text.startsWith(start)) return undefined;
  let at = start.length;
  // Each step reads a parameter's name, and the template's characters up to the next parameter.
  for (let place = 0; place < places.length; place += 2) {
    const [name = "", after = ""] = places.slice(place, place + 2);
    const isLast = place + 2 === places.length;
    const end = isLast ? text.length - after.length : text.indexOf(after, at);
    if (end < at || !text.startsWith(after, end)) return undefined;
    texts.set(name, text.slice(at, end));
    at = end + after.length;
  }
  return at === text.length ? texts : undefined;
}

/**
 * Converts a string to a number or a boolean, if the parameter has this type and the string is the value's canonical
 * form. Otherwise returns the string unchanged.
 */
function typed(text: string, schema: Json | undefined): Json {
  const type = schema !== undefined && isJsonObject(schema) ? schema["type"] : undefined;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  const number = Number(text);
  const isNumber = type === "number" || type === "integer";
  return isNumber && Number.isFinite(number) && String(number) === text ? number : text;
}

function invalid(message: string): PluginError {
  return new PluginError("arguments_invalid", message);
}
