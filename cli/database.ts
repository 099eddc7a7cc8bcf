import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { isAddress } from "../src/storage/database.js";
import { withoutPassword } from "../src/storage/postgres.js";
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
  if (!isAddress(text) && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return resolve(folder, text);
  try {
    withoutPassword(text);
    return text;
  } catch {
    const hint = `it is like ${FORM}; in a password, write / # ? @ as %2F %23 %3F %40`;
    throw usageError("this is not the address of a database", hint);
  }
}
