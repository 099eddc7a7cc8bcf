import { resolve } from "node:path";
import type { Authenticator } from "../../src/agent/caller.js";
import { createFixedTokens, type FixedToken } from "../../src/auth/fixed-tokens.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import { KeysUnavailableError } from "../../src/auth/keys-unavailable.js";
import { environmentError } from "../exit.js";
import { invalidConfig, problemFrom, type ReadConfig, refuseConfig } from "./config.js";
import { readJsonFile } from "./json.js";
import { schemaProblems } from "./schema.js";

/** Who callers are, and what the operator must be told about it. */
export interface Callers {
  readonly authenticator: Authenticator;
  /** Present where whoever knows a fixed token is somebody. */
  readonly warning?: string;
}

/**
 * The authenticator that a configuration asks for.
 *
 * @throws CliError `config_invalid`, what reading a file of tokens throws, or `keys_unavailable` if a
 *   file of keys can not be read.
 */
export async function openCallers(read: ReadConfig): Promise<Callers> {
  const { authentication } = read.config;
  if ("development" in authentication) return developmentCallers(read, authentication.development);
  const { jwks, ...others } = authentication;
  const isPath = typeof jwks === "string" && !URL.canParse(jwks);
  const keys = isPath ? resolve(read.folder, jwks) : jwks;
  try {
    return { authenticator: await createJwtAuthenticator({ ...others, jwks: keys }) };
  } catch (error) {
    if (error instanceof KeysUnavailableError) {
      const hint = '"authentication.jwks" is a URL, or a path from the configuration\'s folder';
      throw environmentError("keys_unavailable", error.message, hint);
    }
    throw invalidConfig(read.file, [problemFrom(error, "authentication.")]);
  }
}

async function developmentCallers(
  read: ReadConfig,
  given: readonly FixedToken[] | string,
): Promise<Callers> {
  let tokens = given;
  let [file, prefix] = [read.file, "authentication.development"];
  if (typeof tokens === "string") {
    [file, prefix] = [resolve(read.folder, tokens), ""];
    const { value } = await readJsonFile(file);
    refuseConfig(file, await schemaProblems(value, "developmentTokens"));
    // The schema has just said that they are.
    tokens = value as readonly FixedToken[];
  }
  try {
    let warning = "";
    const announce = (message: string): void => {
      warning = message;
    };
    const authenticator = createFixedTokens(tokens, { development: true, announce });
    return { authenticator, warning };
  } catch (error) {
    const message = problemFrom(error).message.replace(/\btokens(?=\[)/g, prefix);
    throw invalidConfig(file, [{ path: message.split(":")[0] ?? "", message }]);
  }
}
