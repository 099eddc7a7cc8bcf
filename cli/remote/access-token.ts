import { MAX_HEADER_LENGTH } from "../../src/auth/bearer.js";
import type { Context } from "../context.js";
import { CliError, EXIT, usageError } from "../exit.js";
import { namingSource, readTokenArgument } from "../token-argument.js";

/** The variable that holds the caller's access token where no option gives it. */
const ACCESS_TOKEN_VARIABLE = "PROVISO_ACCESS_TOKEN";

// RFC 6750, section 2.1.
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

const ADVICE =
  "write it to a file and give @FILE, or - for standard input, or set PROVISO_ACCESS_TOKEN: " +
  "what is typed stays in the shell's history and in the list of processes";

/**
 * The OAuth access token that tells an agent who calls: from a file, standard input or the environment;
 * `undefined` if none is given.
 *
 * @param argument - What was given to `--access-token`.
 * @throws CliError if it was typed as it is, can not be read, or is no bearer token. Never shows it.
 */
export function readAccessToken(
  context: Context,
  argument: string | undefined,
): string | undefined {
  const variable = context.env[ACCESS_TOKEN_VARIABLE];
  if (argument === undefined) {
    if (variable === undefined || variable === "") return undefined;
    return assertBearer(variable.trim(), ACCESS_TOKEN_VARIABLE);
  }
  if (argument !== "-" && !argument.startsWith("@")) {
    throw usageError("an access token is not typed into a command line", ADVICE);
  }
  const token = namingSource(argument, () => readTokenArgument(context, argument, "access token"));
  return assertBearer(token, argument === "-" ? "standard input" : argument.slice(1));
}

function assertBearer(text: string, source: string): string {
  const problem = problemWith(text);
  if (problem === undefined) return text;
  const [what, hint] = problem;
  throw new CliError({
    code: "access_token_malformed",
    message: `${source}: ${what}`,
    exitCode: EXIT.malformed,
    hint,
  });
}

function problemWith(text: string): readonly [what: string, hint: string] | undefined {
  if (text === "") return ["there is no access token", "get one from the authorization server"];
  if (/^bearer\s/i.test(text)) {
    return ["this is a header's value, not an access token alone", "drop the word Bearer"];
  }
  if (text.startsWith("{")) {
    return ["this is JSON, not an access token alone", 'take its "access_token" member'];
  }
  if (text.length > MAX_HEADER_LENGTH) {
    return [`an access token has at most ${MAX_HEADER_LENGTH} characters`, "check what it is"];
  }
  if (!BEARER.test(text)) {
    return ["this has characters that no access token has", "give the token alone, on one line"];
  }
  return undefined;
}
