import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../context.js";
import type { SecretPlace } from "./agent-config.js";
import { invalidConfig, problemAt, type ReadConfig } from "./config.js";

/** Longest secret, in characters. */
const MAX_SECRET = 4096;

/**
 * Reads a secret from a file or the environment.
 *
 * @param path - The field of the configuration that gives the location, for messages.
 * @throws CliError `config_invalid` if the secret cannot be read.
 */
export function secretAt(
  { env }: Pick<Context, "env">,
  { file, folder }: Pick<ReadConfig<unknown>, "file" | "folder">,
  path: string,
  place: SecretPlace,
): string {
  const secretError = (member: string, what: string): Error =>
    invalidConfig(file, [problemAt(`${path}.${member}`, what)]);
  if ("env" in place) {
    const secret = env[place.env] ?? "";
    if (secret === "") throw secretError("env", `names ${unsetVariable(place.env)}`);
    return secret;
  }
  let text: string;
  try {
    text = readFileSync(resolve(folder, place.file), "utf8");
  } catch {
    throw secretError("file", "cannot be read");
  }
  const secret = text.trim();
  if (secret === "" || secret.length > MAX_SECRET) throw secretError("file", "holds no secret");
  return secret;
}

/** Describes an unset variable. Leaves out a name that could be a secret, written in the wrong place. */
function unsetVariable(name: string): string {
  const isName = /^[A-Z][A-Z0-9_]{0,63}$/.test(name);
  return isName ? `the variable ${name}, which is not set` : "a variable that is not set";
}
