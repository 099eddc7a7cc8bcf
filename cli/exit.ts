/**
 * How the program ends. Rules for all of the command line:
 *
 * - Data goes to standard output, talk to standard error.
 * - Every error says what is wrong, what to do about it, and ends with its own exit code.
 * - A refusal by `verify` and an unrelated pair in `diff` are answers, so they are data.
 */
export const EXIT = {
  /** Done, or allowed. */
  done: 0,
  /** A rule refused it. */
  refused: 1,
  /** The command line is not right. */
  usage: 2,
  /** The token is not well formed. */
  malformed: 3,
  /** The token is not the issuer's own, or not what the caller says it is. */
  notAuthentic: 4,
  /** Revoked, or the revocation list is too old to decide. */
  revoked: 5,
  /** No home, a file that cannot be read, a locked store, a full disk. */
  environment: 6,
  /** Two cards differ: something is announced to end. */
  deprecating: 7,
  /** Two cards differ: something that callers rely on is gone. */
  breaking: 8,
  /** People have to approve it first, and have not decided yet. */
  pending: 9,
  /** A fault in this program. */
  fault: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorInit {
  /** Stable, for programs. */
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** More for `--json`, as members of the error. */
  readonly details?: { readonly [name: string]: unknown };
}

/** An error with the words and the exit code that the user is to see. */
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
}

/** An error in how the command was called. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError({ code: "usage", message, exitCode: EXIT.usage, hint });
}

/** An error of the machine rather than of the command or the token. */
export function environmentError(code: string, message: string, hint: string): CliError {
  return new CliError({ code, message, exitCode: EXIT.environment, hint });
}

/**
 * Runs a call into the library whose `TypeError` means that what the user asked for is not valid.
 *
 * @param inFlags - Puts the flags into the error's message, where it has names of code.
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
