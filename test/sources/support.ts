import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import Database from "libsql";
import { onTestFinished } from "vitest";
import type {
  FieldCondition,
  QueryDenial,
  QueryResult,
  Resource,
  ResourceFilter,
} from "../../src/agent/resources/resource.js";
import type { Scalar } from "../../src/caveats/scalar.js";
import { type FolderOptions, openFolder } from "../../src/sources/folder.js";
import { ResourceError } from "../../src/sources/resource-error.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";
import type { TableSource } from "../../src/sources/table.js";
import { openTables } from "../../src/sources/table.js";
import type { Collection } from "../../src/sources/table-columns.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The table that `REPORTS_SQL` creates, as a collection. */
export const REPORTS: Collection = {
  table: "report",
  name: "id",
  displayName: "title",
  fields: { year: "year", department: "dept", final: "final" },
};
export const REPORTS_SQL = `
  CREATE TABLE report (
    id INTEGER PRIMARY KEY, title TEXT, year INTEGER, dept TEXT, final BOOLEAN
  );
  INSERT INTO report VALUES
    (1, 'First', 2024, 'finance', 0), (2, 'Second', 2025, 'finance', 1), (10, NULL, 2025, NULL, 2);
`;

export function report(fields: { readonly [field: string]: Scalar }, name = "r/1"): Resource {
  return { name, displayName: name, collection: "r", kind: "item", fields };
}

/** Makes a folder with these files. The key of a file is its path. */
export function folderWith(files: { readonly [path: string]: string | Uint8Array }): string {
  const root = join(temporaryFolder(), "documents");
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  return root;
}

export function put(root: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Opens a folder as a source. Returns it with its messages to the operator. */
export async function opened(
  root: string,
  options: FolderOptions = {},
): Promise<{ readonly folder: ResourceFolder; readonly problems: string[] }> {
  const problems: string[] = [];
  const onProblem = (message: string): void => void problems.push(message);
  return { folder: await openFolder(root, { onProblem, ...options }), problems };
}

/** Makes a database. Returns its file, and a connection with which a test can change it. */
export function databaseWith(sql: string): {
  readonly file: string;
  readonly database: Database.Database;
} {
  const file = join(temporaryFolder(), "resources.db");
  const database = new Database(file);
  // No test interrupts the power, and small transactions are faster without syncing.
  database.exec(`PRAGMA synchronous = OFF; ${sql}`);
  onTestFinished(() => void database.close());
  return { file, database };
}

export async function sqliteSource(
  file: string,
  collections: { readonly [collection: string]: Collection },
  maxRows = 100_000,
): Promise<TableSource> {
  const source = await openTables({ database: file, collections, maxRows });
  onTestFinished(() => source.close());
  return source;
}

export function found(result: QueryResult): readonly Resource[] {
  if (result.ok) return result.resources;
  throw new Error(result.denial.message);
}

export function namesFound(result: QueryResult): string[] {
  return found(result).map(({ name }) => name);
}

export function denialOf(result: QueryResult): QueryDenial {
  if (!result.ok) return result.denial;
  throw new Error(`it was answered with ${result.resources.length} resources`);
}

/** Runs `action`, and returns the ResourceError with which it fails. */
export async function resourceError(action: () => unknown): Promise<ResourceError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ResourceError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

// There are few values, so that conditions often match. Some strings have another order in UTF-8 than in
// UTF-16, some differ only in case, a space or a NUL, and some look like numbers.
const TEXTS = ["", "1", "1.0", "a", "A", "a ", "b", "a\0b", "\uff5e", "\u{1f600}", "__proto__"];
const NUMBERS = [-1, -0, 0, 0.5, 1, 2, 10, 1e300, 2 ** 53 - 1];

export const text: fc.Arbitrary<string> = fc.constantFrom(...TEXTS);
export const number: fc.Arbitrary<number> = fc.constantFrom(...NUMBERS);
export const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  number,
  fc.constantFrom<Scalar>(true, false, null),
);

const list: fc.Arbitrary<Scalar[]> = fc.array(scalar, { minLength: 1, maxLength: 4 });
const bounds: fc.Arbitrary<FieldCondition> = fc.oneof(
  fc.record({ min: number }),
  fc.record({ max: text }),
  fc.record({ min: text, max: text }),
  fc.record({ min: number, max: number, in: list }),
);

export const condition: fc.Arbitrary<FieldCondition> = fc.oneof(
  scalar,
  fc.record({ in: list }),
  bounds,
);

/** Generates filters with conditions on some of these fields. */
export function filters(fields: readonly string[]): fc.Arbitrary<ResourceFilter> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...fields), condition), {
      maxLength: 3,
      selector: ([field]) => field,
    })
    .map((entries) => Object.fromEntries(entries));
}
