import { resolve } from "node:path";
import type { Authenticator } from "../../src/agent/caller.js";
import { createFixedTokens, type FixedToken } from "../../src/auth/fixed-tokens.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import { KeysUnavailableError } from "../../src/auth/key-source.js";
import { environmentError } from "../exit.js";
import { fromConfig, type ReadConfig, readPart } from "./config.js";

/** The authenticator of HTTP clients, and a note for the operator. */
export interface Callers {
  readonly authenticator: Authenticator;
  /** A warning, if a fixed token alone identifies a user. */
  readonly warning?: string;
}

/**
 * Creates the authenticator that a configuration describes.
 *
 * @throws CliError `config_invalid`; `keys_unavailable` if a key file cannot be read; or the error of reading a
 *   token file.
 */
export async function openCallers(read: ReadConfig): Promise<Callers> {
  const { authentication } = read.config;
  if ("development" in authentication) return developmentCallers(read, authentication.development);
  const { jwks, ...others } = authentication;
  const isPath = typeof jwks === "string" && !URL.canParse(jwks);
  const keys = isPath ? resolve(read.folder, jwks) : jwks;
  const make = () => createJwtAuthenticator({ ...others, jwks: keys });
  try {
    const authenticator = await fromConfig(read.file, make, (words) => `authentication.${words}`);
    return { authenticator };
  } catch (error) {
    if (!(error instanceof KeysUnavailableError)) throw error;
    const hint = '"authentication.jwks" is a URL, or a path from the configuration\'s folder';
    throw environmentError("keys_unavailable", error.message, hint);
  }
}

async function developmentCallers(
  read: ReadConfig,
  given: readonly FixedToken[] | string,
): Promise<Callers> {
  const inside = typeof given !== "string";
  const file = inside ? read.file : resolve(read.folder, given);
  const tokens = inside ? given : (await readPart(file, "developmentTokens")).value;
  const place = inside ? "authentication.development" : "";
  let warning = "";
  const announce = (message: string): void => {
    warning = message;
  };
  const authenticator = await fromConfig(
    file,
    () => createFixedTokens(tokens, { development: true, announce }),
    (words) => words.replace(/\btokens(?=\[)/g, place),
  );
  return { authenticator, warning };
}
