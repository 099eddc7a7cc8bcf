import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { assertMembers } from "../../src/checks/members.js";
import type { SessionCallOptions } from "../../src/protocols/a2e/client-calls.js";
import type { SessionAddress } from "../../src/protocols/a2e/socket.js";
import { readArguments } from "../argument-expression.js";
import { absolutePath, type Context } from "../context.js";
import { asUsage, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { addressIn } from "../serve/settings.js";

/** One call, from a line of input or from the command line. */
export interface SessionCall {
  /** The operation, such as `tool/call`. */
  readonly operation: string;
  readonly options: Pick<SessionCallOptions, "name" | "server" | "arguments" | "timeout">;
}

/** The form of a call, for help texts. */
export const CALL_FORM = "OPERATION [NAME] [argument=value...], such as: tool/call add a=1 b=2";

const MEMBERS = ["type", "tool_name", "name", "server", "arguments", "timeout"];

/**
 * Parses the short form of a call: an operation, a name, and arguments. For `mcp`, the name is a server, or
 * `SERVER/TOOL`.
 *
 * @throws CliError if the text has another form.
 */
export function callFrom(operation: string, words: readonly string[]): SessionCall {
  const [first = "=", ...rest] = words;
  const named = !first.includes("=");
  const given = readArguments(named ? rest : words, operation);
  if (!named) return { operation, options: { arguments: given } };
  if (!operation.startsWith("mcp/"))
    return { operation, options: { name: first, arguments: given } };
  const [server = "", ...tool] = first.split("/");
  const name = tool.length === 0 ? {} : { name: tool.join("/") };
  return { operation, options: { server, ...name, arguments: given } };
}

/**
 * Parses one line: the short form of a call, or a protocol message as a JSON object.
 *
 * @returns The call; `undefined` if the line is empty or begins with `#`.
 * @throws CliError if the text has another form.
 */
export function lineFrom(text: string): SessionCall | undefined {
  const line = text.trim();
  if (line === "" || line.startsWith("#")) return undefined;
  if (line.startsWith("{")) return messageFrom(line);
  // Spaces within double quotes do not end a word.
  const words = line.match(/(?:[^\s"]|"(?:\\.|[^"\\])*"|")+/g) ?? [];
  const [operation = "", ...rest] = words;
  return callFrom(operation, rest);
}

function messageFrom(line: string): SessionCall {
  const message = jsonObject(line);
  asUsage(() => assertMembers(message, MEMBERS, "message"));
  const { type, tool_name: tool, name = tool, server, arguments: given = {}, timeout } = message;
  if (typeof type !== "string") throw usageError('the message has no "type"', CALL_FORM);
  if (!isJsonObject(given)) throw usageError('"arguments" must be an object', CALL_FORM);
  if (timeout !== undefined && (typeof timeout !== "number" || timeout <= 0)) {
    throw usageError('"timeout" must be a number of seconds above 0');
  }
  return {
    operation: type.replace(/\/req$/, ""),
    options: {
      ...textMember("name", name),
      ...textMember("server", server),
      arguments: given,
      ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
    },
  };
}

function textMember(member: "name" | "server", value: Json | undefined) {
  if (value === undefined) return {};
  if (typeof value === "string") return { [member]: value };
  throw usageError(`"${member}" must be a string`, CALL_FORM);
}

function jsonObject(line: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(line);
  } catch {
    throw usageError(`${quoted(line.slice(0, 40))} is not JSON`, CALL_FORM);
  }
  if (isJsonObject(value)) return value;
  throw usageError("a message is a JSON object", CALL_FORM);
}

/** The form of an address, for help texts. */
export const ADDRESS_FORM =
  "HOST:PORT, such as 127.0.0.1:4711, or the path of a socket, such as ./a2e.sock";

/**
 * Parses `HOST:PORT`, or the path of a socket. A path contains a `/` or begins with `unix:`.
 *
 * @throws CliError if the text has another form.
 */
export function addressFrom(context: Pick<Context, "cwd">, text: string): SessionAddress {
  const [, path] = /^(?:unix:)(.+)$/.exec(text) ?? [];
  if (path !== undefined || text.includes("/"))
    return { path: absolutePath(context, path ?? text) };
  return portFrom(text);
}

/**
 * Parses `HOST:PORT`.
 *
 * @throws CliError if the text has another form.
 */
export function portFrom(text: string): Extract<SessionAddress, { port: number }> {
  const address = addressIn(text);
  if (address !== undefined) return address;
  throw usageError(`${quoted(text)} is not an address`, `give ${ADDRESS_FORM}`);
}
