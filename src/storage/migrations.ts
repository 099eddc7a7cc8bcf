import type { MigrationStep } from "./columns.js";

/** What a database holds: told from others by its id, and made by its migrations. */
export interface Schema {
  /** A whole number of 32 bits: `application_id` of an SQLite file. */
  readonly applicationId: number;
  /** `application_id` of formats that came before any release: refused by name. */
  readonly outdated: readonly number[];
  /**
   * Forward only: the first makes the tables, each later one changes what the one before left. A
   * database's format is how many of them it has seen.
   */
  readonly migrations: readonly Migration[];
}

/** Takes a database from one format to the next, in the transaction that also stamps it. */
export type Migration = (step: MigrationStep) => Promise<void>;

/** Runs the migrations that a database of a format lacks, the first of them for format 0. */
export async function migrate(
  { migrations }: Schema,
  format: number,
  step: MigrationStep,
): Promise<void> {
  for (const migration of migrations.slice(format)) await migration(step);
}
