/**
 * Exit codes. Rules for the whole command line:
 *
 * - Data goes to standard output, messages to standard error.
 * - Every error says what is wrong and what the user can do. The kind of the error determines the exit code.
 * - If `verify` refuses a token, or `diff` finds that two tokens are unrelated, that is an answer and thus
 *   data.
 */
export const EXIT = {
  /** The command is done, or the call is allowed. */
  done: 0,
  /** A rule refused the request. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The token is not well-formed. */
  malformed: 3,
  /** The token is not authentic, or is not the token that the user claims it is. */
  notAuthentic: 4,
  /** The token is revoked, or the revocation list is too old to decide. */
  revoked: 5,
  /**
   * A problem of the environment. For example, there is no home, a configuration is invalid, an agent cannot be
   * reached, a store is locked, or the disk is full.
   */
  environment: 6,
  /** Two cards differ: the newer one announces the end of something. */
  deprecating: 7,
  /** Two cards differ: the newer one lacks something that clients rely on. */
  breaking: 8,
  /** People must approve the request first, and have not yet decided. */
  pending: 9,
  /** A bug in this program. */
  fault: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorInit {
  /** A stable code, which programs can compare. */
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  /** A hint for the user: the next step. */
  readonly hint?: string | undefined;
  /** Further properties of the error for `--json`. */
  readonly details?: { readonly [name: string]: unknown };
}

/** An error for the user, with its message and exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: { readonly [name: string]: unknown };

  constructor({ code, message, exitCode, hint, details = {} }: CliErrorInit) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
    this.details = details;
  }

  /** Returns the same error, with a place before the message, such as a file and a line. */
  at(place: string): CliError {
    const { code, message, exitCode, hint, details } = this;
    return new CliError({ code, message: `${place}: ${message}`, exitCode, hint, details });
  }
}

/** Returns an error about the command line. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError({ code: "usage", message, exitCode: EXIT.usage, hint });
}

/** Returns an error about the machine rather than the command or the token. */
export function environmentError(code: string, message: string, hint: string): CliError {
  return new CliError({ code, message, exitCode: EXIT.environment, hint });
}

/**
 * Calls the library, and converts a `TypeError` to an error about the user's input.
 *
 * @param inFlags - Replaces the names of properties in the message by flags.
 */
export function asUsage<T>(
  call: () => T,
  hint?: string,
  inFlags: (message: string) => string = (message) => message,
): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof TypeError) throw usageError(inFlags(error.message), hint);
    throw error;
  }
}
