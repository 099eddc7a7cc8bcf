import { renameSync, rmSync } from "node:fs";
import type { PackedTable } from "../../revocation/packed/packed-table.js";
import { removeAbandoned, syncDirectoryOf, temporaryName } from "../../storage/new-file.js";
import { StorageError } from "../../storage/storage-error.js";
import type { TableDatabase } from "../database.js";
import type { Progress } from "./list-file.js";
import type { RevocationRows, RevocationState } from "./rows.js";

// Reading millions of rows takes a minute, so that a process which has read many keeps what it made of them in a
// file. The database decides: it knows each file by its digest and says which state it holds. A file that
// it does not know, such as one that is newer than a database brought back from a backup, is as good as none.

/** Loaded where there is a file, or is to be one: it needs the runtime's cryptography, which takes its time. */
function listFile(): Promise<typeof import("./list-file.js")> {
  return import("./list-file.js");
}

/** What is revoked, as of a state of the list. */
export interface SavedList {
  readonly table: PackedTable;
  readonly state: RevocationState;
}

/** Where a list is saved. */
export interface SavedPlace {
  readonly database: TableDatabase;
  readonly rows: RevocationRows;
  readonly path: string;
}

/** The list that was saved there, if there is one that the database knows. */
export async function readSavedList(
  { database, rows, path }: SavedPlace,
  progress: Progress,
): Promise<SavedList | undefined> {
  const known = await database.read((db) => rows.saved(db));
  if (known.size === 0) return undefined;
  let state: RevocationState | undefined;
  const isKnown = (digest: string): boolean => {
    state = known.get(digest);
    return state !== undefined;
  };
  try {
    const { readListFile } = await listFile();
    const table = await readListFile(path, isKnown, progress);
    return state && { table, state };
  } catch {
    // Whatever is wrong with it, the database has all that it could have.
    return undefined;
  }
}

/**
 * Saves a list, whole or not at all at every moment. Where it cannot, what was saved before stays: it costs time
 * alone.
 */
export async function saveList(
  { database, rows, path }: SavedPlace,
  { table, state }: SavedList,
): Promise<void> {
  if (!(await database.hasRoom())) return;
  const temporary = temporaryName(path);
  try {
    removeAbandoned(path);
    const { writeListFile } = await listFile();
    const digest = await writeListFile(temporary, table);
    await database.write((db) => rows.noteSaved(db, digest, state));
    renameSync(temporary, path);
    syncDirectoryOf(path);
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (!(error instanceof StorageError) && !isOfSystem) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
