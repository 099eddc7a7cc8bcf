import { dirname, resolve } from "node:path";
import type { Context } from "../context.js";
import { CliError, EXIT } from "../exit.js";
import type { AgentConfig } from "./agent-config.js";
import { readJsonFile } from "./json.js";
import { type ConfigParts, type ConfigProblem, checkForm } from "./schema.js";

/** A configuration that is well formed, and where it stands. */
export interface ReadConfig {
  readonly config: AgentConfig;
  /** The file, as it was named. */
  readonly file: string;
  /** The folder that its paths start from, absolute. */
  readonly folder: string;
}

/**
 * Reads a configuration.
 *
 * @throws CliError as {@link readPart}.
 */
export async function readAgentConfig({ cwd }: Context, file: string): Promise<ReadConfig> {
  const path = resolve(cwd, file);
  const { value: config } = await readPart(path, "config", file);
  return { config, file, folder: dirname(path) };
}

/**
 * What a file holds that the schema has a form for, with the schema's defaults; and its text.
 *
 * @throws CliError `config_unreadable`, `config_malformed`, or `config_invalid` with everything in
 *   which it fails the schema.
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

/** A problem with a field. */
export function problemAt(path: string, what: string): ConfigProblem {
  return { path, message: `${path}: ${what}` };
}

/** The problem that a `TypeError` of the library reports, which begins with the field. */
export function problemFrom(error: unknown): ConfigProblem {
  if (!(error instanceof TypeError)) throw error;
  const { message } = error;
  return { path: /^[^\s:]*/.exec(message)?.[0] ?? "", message };
}

/**
 * Makes something of what stands in a file.
 *
 * @param placed - The library's words with the field as the file has it; as they are unless given.
 * @throws CliError `config_invalid` where `make` throws a `TypeError` that begins with a field.
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

/** @throws CliError `config_invalid` if there are problems. */
export function refuseConfig(file: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw invalidConfig(file, problems);
}

/** A file in which things are wrong. */
export function invalidConfig(file: string, problems: readonly ConfigProblem[]): CliError {
  const count = problems.length === 1 ? "one thing is" : `${problems.length} things are`;
  const hint = "the JSON Schemas in schemas/, which editors understand, say what each field may be";
  return new CliError({
    ...{ code: "config_invalid", message: `${file}: ${count} wrong`, hint },
    ...{ exitCode: EXIT.environment, details: { problems } },
  });
}
