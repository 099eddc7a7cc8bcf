import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { Json, JsonObject } from "../../../../bytes/json.js";
import { assertMembers, meant } from "../../../../checks/members.js";
import { texts } from "../../../../issuer/grant.js";
import { PluginError } from "../../plugin.js";
import { memberOf } from "../arguments.js";
import { type Environment, environmentOf } from "../environment.js";
import { assertName, objectSchema } from "../plugin-options.js";

/** A program that peers may start, and the parameters that they may set. No shell is involved. */
export interface ProcProgram extends Environment {
  /** The path of the program, or a name to look up in this process's PATH when the plugin is created. */
  readonly command: string;
  /**
   * Arguments of the program, in which `{NAME}` is replaced by the value of a parameter. An argument is left out if its
   * parameter is not given. Write an optional value in the same argument as its option, such as `--topic={topic}`;
   * otherwise the option could remain without a value.
   */
  readonly args?: readonly string[] | undefined;
  /**
   * JSON Schemas of the parameters, by name; no parameters unless given. A parameter must be a number, a boolean or a
   * string. The schema of a string needs a `pattern`, an `enum` or a `const`; a `pattern` must match the whole string.
   */
  readonly parameters?: { readonly [name: string]: JsonObject } | undefined;
  /** Names of the parameters that must be given. */
  readonly required?: readonly string[] | undefined;
  /** A description that helps users and models to choose a program. */
  readonly description?: string | undefined;
  /** The working directory of the program; by default, that of this process. */
  readonly cwd?: string | undefined;
}

/** A validated program. */
export interface ReadyProgram {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the parameters, an object. */
  readonly input: JsonObject;
  /** The absolute path of the program. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string };
}

const MEMBERS = [
  "command",
  "args",
  "parameters",
  "required",
  "description",
  "cwd",
  "env",
  "inherit",
];
/** Matches a placeholder in an argument, such as `{topic}`, and captures the parameter's name. */
export const PLACE: RegExp = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** @throws TypeError naming the field that is wrong, such as `programs.ticker.args[1]`. */
export function readyProgram(name: string, program: ProcProgram): ReadyProgram {
  const where = `programs.${name}`;
  assertName(name, "programs");
  assertMembers(program, MEMBERS, where);
  const { parameters = {}, description = "", cwd } = program;
  const args = allTexts(program.args ?? [], `${where}.args`);
  const properties: { [parameter: string]: JsonObject } = {};
  for (const [parameter, schema] of Object.entries(parameters)) {
    const place = `${where}.parameters.${parameter}`;
    // The message has a property `name`, so a parameter must not have that name.
    if (parameter === "name") throw new TypeError(`${place}: a parameter cannot be called "name"`);
    properties[parameter] = boundedSchema(schema, place);
    if (args.some((arg) => arg.includes(`{${parameter}}`))) continue;
    throw new TypeError(`${place}: no argument has {${parameter}} in it`);
  }
  for (const [at, arg] of args.entries()) {
    for (const [, parameter = ""] of arg.matchAll(PLACE)) {
      if (Object.hasOwn(parameters, parameter)) continue;
      const what = `there is no parameter "${parameter}"${meant(parameter, Object.keys(parameters))}`;
      throw new TypeError(`${where}.args[${at}]: ${what}`);
    }
  }
  const required = texts(program.required ?? [], `${where}.required`);
  const stray = required.find((parameter) => !Object.hasOwn(parameters, parameter));
  if (stray !== undefined) {
    throw new TypeError(`${where}.required: there is no parameter "${stray}"`);
  }
  assertNoBareOption(args, required, `${where}.args`);
  return {
    name,
    description,
    args,
    cwd,
    input: objectSchema(properties, required),
    command: commandOf(program, where),
    env: environmentOf(program, where),
  };
}

/** @throws TypeError if an option's value is a separate argument that may be left out. */
function assertNoBareOption(
  args: readonly string[],
  required: readonly string[],
  where: string,
): void {
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1] ?? "";
    if (!/^-[^={]+$/.test(before) || before === "--" || arg.startsWith("-")) continue;
    const names = [...arg.matchAll(PLACE)].map(([, parameter = ""]) => parameter);
    const optional = names.find((parameter) => !required.includes(parameter));
    if (optional === undefined) continue;
    const joined = before.startsWith("--") ? `${before}=${arg}` : `${before}${arg}`;
    throw new TypeError(
      `${where}[${at}]: without "${optional}", "${before}" would be left without its value; write ` +
        `"${joined}" as one argument, require "${optional}", or put "--" between if it is no value`,
    );
  }
}

/** Validates a parameter's schema. A string becomes part of a command line, so a schema must limit strings. */
function boundedSchema(schema: JsonObject, where: string): JsonObject {
  const { type, pattern, ...others } = schema;
  if (type === "number" || type === "integer" || type === "boolean") return schema;
  if (type !== "string") {
    throw new TypeError(`${where}.type: must be "string", "number", "integer" or "boolean"`);
  }
  if (typeof pattern === "string") return { type, pattern: `^(?:${pattern})$`, ...others };
  if (Array.isArray(schema["enum"]) || typeof schema["const"] === "string") return schema;
  throw new TypeError(`${where}: a string needs "pattern", "enum" or "const"`);
}

/**
 * Builds a program's arguments from the parameters of a call.
 *
 * @throws PluginError `arguments_invalid` if the program would read a value as an option, or if a value cannot be part
 *   of a command line.
 */
export function argumentsFor({ args }: ReadyProgram, given: JsonObject): readonly string[] {
  const filled: string[] = [];
  for (const arg of args) {
    const names = [...arg.matchAll(PLACE)].map(([, name = ""]) => name);
    if (names.some((name) => memberOf(given, name) === undefined)) continue;
    const text = arg.replace(PLACE, (_, name: string) => textOf(memberOf(given, name), name));
    if (text.startsWith("-") && !arg.startsWith("-")) {
      const message = `argument ${names[0]} begins with "-", which the program would take for an option`;
      throw new PluginError("arguments_invalid", message);
    }
    filled.push(text);
  }
  return filled;
}

function textOf(value: Json | undefined, name: string): string {
  const plain =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (plain && !String(value).includes("\0")) return String(value);
  throw new PluginError("arguments_invalid", `argument ${name} cannot be an argument of a program`);
}

function commandOf({ command, cwd = "." }: ProcProgram, where: string): string {
  if (typeof command !== "string" || command === "") {
    throw new TypeError(`${where}.command: must name a program`);
  }
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  const paths = /[/\\]/.test(command)
    ? [resolve(cwd, command)]
    : folders.map((folder) => join(folder, command));
  const found = paths.find(isProgram);
  if (found !== undefined) return found;
  throw new TypeError(`${where}.command: there is no program "${command}"`);
}

/** Returns whether a path is a file that this user can execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function allTexts(value: readonly string[], where: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${where}: must be an array of strings`);
  for (const [at, item] of value.entries()) {
    if (typeof item === "string" && !item.includes("\0")) continue;
    throw new TypeError(`${where}[${at}]: must be a string without NUL`);
  }
  return value;
}
