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

/** Begins with the longest files, then in vitest's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
