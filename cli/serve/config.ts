import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ParseError } from "jsonc-parser";
import { duplicateKey, outlineJson } from "../../src/bytes/json.js";
import { errorCode, isErrno, reasonFor } from "../../src/system/error-code.js";
import { absolutePath, type Context } from "../context.js";
import { CliError, EXIT, environmentError } from "../exit.js";
import { quoted } from "../output.js";
import type { AgentConfig } from "./agent-config.js";
import { type ConfigParts, type ConfigProblem, checkForm } from "./schema.js";

/** A valid configuration, and its location. */
export interface ReadConfig<Config = AgentConfig> {
  readonly config: Config;
  /** The file's name as given by the user. */
  readonly file: string;
  /** The absolute path of the folder that relative paths start from. */
  readonly folder: string;
}

/**
 * Reads a configuration.
 *
 * @throws CliError as {@link readPart} does.
 */
export async function readConfig<Part extends "config" | "session" | "gate">(
  context: Context,
  part: Part,
  file: string,
): Promise<ReadConfig<ConfigParts[Part]>> {
  const path = absolutePath(context, file);
  const { value: config } = await readPart(path, part, file);
  return { config, file, folder: dirname(path) };
}

/**
 * Reads a file that has a schema. Returns its text and its contents, with the defaults of the schema filled in.
 *
 * @throws CliError `config_unreadable`, `config_malformed`, or `config_invalid`, which lists every violation of
 *   the schema.
 */
export async function readPart<Part extends keyof ConfigParts>(
  path: string,
  part: Part,
  file: string = path,
): Promise<{ readonly value: ConfigParts[Part]; readonly text: string }> {
  const { value, text } = await readJsonFile(path, file);
  const form = await checkForm(value, part);
  if (!form.ok) throw invalidConfig(file, form.problems);
  return { value: form.value, text };
}

/** Returns a problem with a field. */
export function problemAt(path: string, what: string): ConfigProblem {
  return { path, message: `${path}: ${what}` };
}

/** Converts a `TypeError` of the library to a problem. The library's message begins with the name of the field. */
export function problemFrom(error: unknown): ConfigProblem {
  if (!(error instanceof TypeError)) throw error;
  const { message } = error;
  return { path: /^[^\s:]*/.exec(message)?.[0] ?? "", message };
}

/**
 * Calls `make` with values from a file, and converts errors of `make` to errors about the file.
 *
 * @param placed - Replaces the library's name of a field in an error message by the name that the file uses.
 * @throws CliError `config_invalid` if `make` throws a `TypeError` whose message begins with a field.
 */
export async function fromConfig<T>(
  file: string,
  make: () => T | Promise<T>,
  placed: (message: string) => string = (message) => message,
): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw invalidConfig(file, [problemFrom(new TypeError(placed(error.message)))]);
  }
}

/** @throws CliError `config_invalid` if `problems` is not empty. */
export function refuseConfig(file: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw invalidConfig(file, problems);
}

/** Returns the error for a file with problems. */
export function invalidConfig(file: string, problems: readonly ConfigProblem[]): CliError {
  const count = problems.length === 1 ? "one thing is" : `${problems.length} things are`;
  const hint = "the JSON Schemas in schemas/, which editors understand, say what each field may be";
  return new CliError({
    code: "config_invalid",
    message: `${file}: ${count} wrong`,
    hint,
    exitCode: EXIT.environment,
    details: { problems },
  });
}

/** Largest configuration, in bytes. A policy of ten thousand rules fits. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;

/**
 * Reads a JSON file. Returns its value and its text. Error messages never quote the text, which may contain
 * tokens.
 *
 * @param name - The name of the file in messages; by default, its path.
 * @throws CliError `config_unreadable`, or `config_malformed` with line and column.
 */
async function readJsonFile(
  path: string,
  name: string = path,
): Promise<{ readonly value: unknown; readonly text: string }> {
  const text = readText(path, name);
  const configError = (offset: number, what: string, hint: string): CliError => {
    const before = text.slice(0, offset).split("\n");
    const place = `${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    return environmentError("config_malformed", `${place}: ${what}`, hint);
  };
  if (outlineJson(text).depth > MAX_DEPTH) {
    throw configError(0, `nested more than ${MAX_DEPTH} deep`, "no configuration is that deep");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const offset = await faultIn(text);
    throw configError(offset, "this is not JSON", adviceFor(text, offset));
  }
  const twin = duplicateKey(text);
  if (twin !== undefined) {
    throw configError(twin.offset, `${quoted(twin.key)} is there twice`, "keep one of the two");
  }
  return { value, text };
}

function readText(path: string, name: string): string {
  try {
    const fd = openSync(path, "r");
    try {
      const stat = fstatSync(fd);
      if (stat.isDirectory()) throw unreadable(name, "it is a folder");
      if (stat.size > MAX_BYTES) throw unreadable(name, "it is larger than 4 MiB");
      return readFileSync(fd, "utf8").replace(/^\ufeff/, "");
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isErrno(error) || error.name === "CliError") throw error;
    throw unreadable(name, reasonFor(errorCode(error), "read"));
  }
}

function unreadable(path: string, why: string): CliError {
  const hint = "name a JSON file that this user may read";
  return environmentError("config_unreadable", `${path}: ${why}`, hint);
}

/**
 * Returns the offset of the first syntax error in a JSON text. `JSON.parse` does not always report the offset,
 * and its message quotes the text.
 */
async function faultIn(text: string): Promise<number> {
  const { parse } = await import("jsonc-parser");
  const faults: ParseError[] = [];
  parse(text, faults, { disallowComments: true });
  return faults[0]?.offset ?? text.length;
}

function adviceFor(text: string, offset: number): string {
  const here = text.charAt(offset);
  if (here === "") return "it stops in the middle; something is not closed";
  if (here === "/" || here === "#") return "JSON has no comments; take them out";
  if (here === "'") return 'strings and names are written in double quotes: "..."';
  if (/[}\]]/.test(here) && /,\s*$/.test(text.slice(0, offset))) {
    return "take out the comma before it";
  }
  return "an editor that knows JSON shows what is wrong here";
}
