import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { usageError } from "./exit.js";

/** The choice of a verb that opens the stores' database. */
export interface DatabaseChoice {
  /** A file, or an address of PostgreSQL; `proviso.db` in the home unless given. */
  readonly database?: string;
}

const FORM = "postgres://USER@HOST:PORT/DATABASE";

/** Adds `--database` to a verb. */
export function addDatabase(command: Command): void {
  const help = `the database, a file or ${FORM}; proviso.db in the home unless given (env: PROVISO_DATABASE, for an address with a password)`;
  command.addOption(new Option("--database <place>", help));
}

/**
 * The place of a database: a path, absolute, or an address as it was given.
 *
 * @param folder - Where a path starts from, absolute.
 * @throws CliError for what is neither; it does not show the text, which may hold a password.
 */
export function databaseAt(text: string, folder: string): string {
  if (text === "") throw usageError("--database is empty", `name a file or ${FORM}`);
  const [scheme] = /^[a-z][a-z\d+.-]+:\/\//i.exec(text) ?? [];
  if (scheme === undefined) return resolve(folder, text);
  if (/^postgres(ql)?:\/\/$/.test(scheme) && URL.canParse(text)) return text;
  throw usageError("this is not the address of a database", `it is like ${FORM}`);
}
