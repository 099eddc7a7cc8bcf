import { type Command, InvalidArgumentError, Option } from "commander";
import { MAX_HEADER_LENGTH } from "../../src/auth/bearer.js";
import { readDuration } from "../../src/caveats/time.js";
import type { Context } from "../context.js";
import { CliError, EXIT, usageError } from "../exit.js";
import { namingSource, readTokenArgument } from "../token-argument.js";
import { type GlobalOptions, toText } from "../verb.js";

/** Options of every verb that reads an agent's card. */
export interface CardOptions extends GlobalOptions {
  /** Time limit for reading the card, in milliseconds. */
  readonly timeout?: number;
  readonly insecure?: boolean;
}

export interface RemoteOptions extends CardOptions {
  readonly accessToken?: string;
  readonly binding?: "jsonrpc" | "rest";
  readonly allowOrigin?: string;
  /** True if every call is to declare ambient authority. */
  readonly ambient?: boolean;
}

/** The help for an agent's URL, which is the same in every verb. */
export const URL_HELP = "the agent's address, or that of its Agent Card, ending in .json";

/** The time to wait for an answer by default, in milliseconds. */
export const DEFAULT_TIMEOUT = 60_000;
const MAX_TIMEOUT = 3_600_000;

export function addCardOptions(command: Command): Command {
  return command
    .option("--timeout <duration>", "how long to wait for an answer; 60s unless given", toTimeout)
    .option("--insecure", "allow plain http to other machines: tokens travel in clear");
}

export function addRemoteOptions(command: Command): Command {
  command
    .option(
      "--access-token <source>",
      "your OAuth access token for this agent: @FILE, or - for standard input; the variable " +
        "PROVISO_ACCESS_TOKEN unless given",
      toText,
    )
    .addOption(
      new Option(
        "--binding <name>",
        "how to talk to the agent; what its card prefers unless given",
      ).choices(["jsonrpc", "rest"]),
    )
    .option(
      "--allow-origin <url>",
      "another origin that tokens may go to if the agent's card names it",
      toText,
    );
  return addCardOptions(command);
}

function toTimeout(text: string): number {
  const milliseconds = (readDuration(text) ?? 0) * 1000;
  if (milliseconds >= 1000 && milliseconds <= MAX_TIMEOUT) return milliseconds;
  throw new InvalidArgumentError("Give a duration from 1s to 1h, such as 10s.");
}

const ACCESS_TOKEN_VARIABLE = "PROVISO_ACCESS_TOKEN";

// The syntax of a bearer token: RFC 6750, section 2.1.
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

const ADVICE =
  "write it to a file and give @FILE, or - for standard input, or set PROVISO_ACCESS_TOKEN: " +
  "what is typed stays in the shell's history and in the list of processes";

/**
 * Returns the OAuth access token that identifies the user to an agent. It comes from a file, standard input or
 * the environment; `undefined` if none of these has a token.
 *
 * @param argument - The value of `--access-token`.
 * @throws CliError if the argument is itself a token, or if the token cannot be read or is not a bearer token.
 *   The message never shows the token.
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
  const [code, message] = ["access_token_malformed", `${source}: ${what}`];
  throw new CliError({ code, message, exitCode: EXIT.malformed, hint });
}

function problemWith(text: string): readonly [what: string, hint: string] | undefined {
  if (text === "") return ["there is no access token", "get one from the authorization server"];
  if (text.startsWith("{")) {
    return ["this is JSON, not an access token alone", 'take its "access_token" property'];
  }
  if (text.length > MAX_HEADER_LENGTH) {
    return [`an access token has at most ${MAX_HEADER_LENGTH} characters`, "check what it is"];
  }
  if (!BEARER.test(text)) {
    return ["this has characters that no access token has", "give the token alone, on one line"];
  }
  return undefined;
}
