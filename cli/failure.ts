import { CommanderError } from "commander";
import { TokenError } from "../src/bytes/token-error.js";
import { ClientError, type ClientErrorCode } from "../src/client/client-error.js";
import { HomeError } from "../src/home/home-error.js";
import { StorageError } from "../src/storage/storage-error.js";
import { isErrno } from "../src/system/error-code.js";
import type { Context } from "./context.js";
import {
  CliError,
  type CliErrorInit,
  EXIT,
  type ExitCode,
  environmentError,
  usageError,
} from "./exit.js";
import { missingPackage } from "./missing-package.js";
import { escapedJson, printable, say, withoutTokens } from "./output.js";
import { adviceForToken } from "./refusal.js";
import { adviceForStorage, HOME_ADVICE } from "./storage-advice.js";

const IS_IT_AN_AGENT =
  "check the address: that of an agent, or of its card, which ends in .json; and that it is an agent";

const HINTS: { readonly [Code in ClientErrorCode]: string } = {
  address_invalid:
    "give the agent's address, such as https://agent.example, or http://127.0.0.1:8080 on this " +
    "machine; --access-token identifies you",
  address_insecure: "use https://; or --insecure, on a network without eavesdroppers",
  origin_foreign: "allows it, if you trust that place with your tokens",
  address_refused: "if you trust that place, allow it: --allow-host HOST:PORT",
  unreachable: "check the address, the port and the network, and that the agent is running",
  tls_failed: "check the address; NODE_EXTRA_CA_CERTS=FILE adds an authority of your own",
  not_http: "check the port; or is it https://?",
  timed_out: "try again, or wait longer: --timeout 5m",
  redirected: "if you trust that place, give its address instead",
  not_found: IS_IT_AN_AGENT,
  not_json: IS_IT_AN_AGENT,
  answer_malformed: IS_IT_AN_AGENT,
  answer_too_large: "ask for less at once",
};

/**
 * Writes an error and its hint to standard error, and returns the exit code.
 *
 * @param command - The command that failed, such as `proviso mint`; for the hint.
 */
export function reportFailure(
  context: Context,
  error: unknown,
  command: string,
  json: boolean,
): ExitCode {
  const { details = {}, ...found } = failureOf(missingPackage(error) ?? error);
  const failure =
    found.hint === undefined && found.exitCode === EXIT.usage
      ? { ...found, hint: `${command} --help shows how it is used` }
      : found;
  if (json) {
    say(context, escapedJson({ error: { ...failure, ...details } }));
    return failure.exitCode;
  }
  say(context, `proviso: ${printable(failure.message)}`);
  for (const line of linesFrom(details["problems"])) say(context, `  ${printable(line)}`);
  if (failure.hint !== undefined) say(context, `hint: ${printable(failure.hint)}`);
  return failure.exitCode;
}

function failureOf(error: unknown): CliErrorInit {
  if (error instanceof CliError) {
    const { code, hint, exitCode, details } = error;
    // The message quotes the command line. A user may have typed a token in the wrong place.
    const message = exitCode === EXIT.usage ? withoutTokens(error.message) : error.message;
    return { code, message, hint, exitCode, details };
  }
  if (error instanceof TokenError) {
    const { code, message, offset } = error;
    const hint = adviceForToken(code);
    return { code, message, hint, exitCode: EXIT.malformed, details: { offset } };
  }
  if (error instanceof StorageError) {
    const { code, message, path } = error;
    const hint = adviceForStorage(error);
    return { code, message, hint, exitCode: EXIT.environment, details: { path } };
  }
  if (error instanceof HomeError) {
    const { code, message } = error;
    return { code, message, hint: HOME_ADVICE[code], exitCode: EXIT.environment };
  }
  if (error instanceof ClientError) return failureOf(clientFailure(error));
  if (error instanceof CommanderError) return usageFailure(error);
  if (isErrno(error)) {
    const hint = "check the folder, its permissions and the space on the disk";
    return { code: "system", message: error.message, hint, exitCode: EXIT.environment };
  }
  const message = `a fault in proviso itself: ${String(error)}`;
  return { code: "fault", message, hint: "please report this", exitCode: EXIT.fault };
}

function usageFailure(error: CommanderError): CliErrorInit {
  const shared = { code: "usage", exitCode: EXIT.usage };
  if (error.code === "commander.help") return { ...shared, message: "a command is missing" };
  const own = ownWords(error);
  if (own !== undefined) return { ...shared, ...own };
  const [first = "", ...rest] = error.message.split("\n");
  const message = withoutTokens(first.replace(/^error: /, ""));
  const suggestion = /^\(Did (.*)\)$/.exec(rest.join(" "))?.[1];
  if (suggestion === undefined) return { ...shared, message };
  return { ...shared, message, hint: withoutTokens(`did ${suggestion}`) };
}

/** Returns a plainer message for an error of commander; `undefined` if commander's own message is plain. */
function ownWords({ code, message }: CommanderError): Pick<CliErrorInit, "message"> | undefined {
  if (code === "commander.excessArguments") {
    const [, verb, most, given] =
      /'(.*)'\. Expected (\d+) arguments? but got (\d+)/.exec(message) ?? [];
    if (verb === undefined) return undefined;
    const takes =
      most === "0" ? "no argument" : most === "1" ? "one argument" : `${most} arguments`;
    return {
      message: `${verb} takes ${takes}, and ${given === "1" ? "one is" : `${given} are`} given`,
    };
  }
  if (code === "commander.missingArgument") {
    const [, name] = /'(.*)'/.exec(message) ?? [];
    return name === undefined ? undefined : { message: `<${name}> is missing` };
  }
  return undefined;
}

function linesFrom(problems: unknown): string[] {
  if (!Array.isArray(problems)) return [];
  return problems.map((problem: { readonly message?: unknown }) => String(problem.message));
}

/** Converts a ClientError to an error for the user. An unusable URL is a usage error. */
function clientFailure({ code, message, origin }: ClientError): CliError {
  const hint = HINTS[code];
  if (code === "origin_foreign") return usageError(message, `--allow-origin ${origin} ${hint}`);
  const isUsage = code === "address_invalid" || code === "address_insecure";
  return isUsage ? usageError(message, hint) : environmentError(code, message, hint);
}
