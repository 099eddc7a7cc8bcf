import { type Flag, NOTES } from "../definitions/notes.js";

/** The properties that every vector file has. */
export interface VectorFile {
  readonly specification: string;
  readonly specificationVersion: number;
  readonly schema: string;
  /** The version of the files' format. Each change that readers of the files must follow increments it. */
  readonly schemaVersion: number;
  readonly header: readonly string[];
  readonly numberOfTests: number;
  /** Explanations of the flags that occur in the file's tests. */
  readonly notes: { readonly [flag: string]: { bugType: string; description: string } };
  readonly testGroups: readonly Group[];
}

interface Group {
  readonly tests: readonly object[];
}

export function fileOf(
  header: readonly string[],
  testGroups: readonly Group[],
  schema = "vectors.schema.json",
): VectorFile {
  const tests = testGroups.flatMap((group) => group.tests);
  const used = new Set(tests.flatMap((test) => ("flags" in test ? (test.flags as Flag[]) : [])));
  const notes = Object.entries(NOTES).filter(([flag]) => used.has(flag as Flag));
  return {
    specification: "docs/spec.md",
    specificationVersion: 2,
    schema,
    schemaVersion: 2,
    header,
    numberOfTests: tests.length,
    notes: Object.fromEntries(notes),
    testGroups,
  };
}
