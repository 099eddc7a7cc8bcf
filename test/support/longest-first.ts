import { BaseSequencer, type TestSpecification } from "vitest/node";

// The files that take longest, in their order: one that began last would run alone at the end.
const LONGEST = [
  "package/install",
  "injection/injection",
  "examples/documents-agent",
  "stores/revocations/revocation-durability",
  "stores/tasks/task-store",
  "protocols/a2a/restart",
  "vectors/kit",
  "fuzz/linear",
  "stores/ledger/notes",
  "fuzz/tokens",
  "fuzz/damage",
  "protocols/a2a/callers",
];

/** The project of short files, which fill the end of a run. */
const LAST = "pure";

/**
 * Begins with the longest files, then in vitest's own order, project by project: where the next file is of another
 * project, a worker ends, and with it all that it has loaded.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      if (at !== -1) return at;
      return LONGEST.length + (project.name === LAST ? 1 : 0);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
