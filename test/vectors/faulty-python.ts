import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import type { Vector } from "../../cli/vectors/file.js";
import { type LinesProgram, startPython } from "./differential/python.js";

/** One fault: its name, a file of the Python checker, a string in the file, and the string's replacement. */
export type Fault = readonly [fault: string, file: string, from: string, to: string];

/** Number of vectors that the checker answers at a time. After a failed vector, it gets no more. */
const BATCH = 40;

type Answered = { readonly [name: string]: unknown };

/**
 * Tests that the Python checker passes all vectors if it has no fault, and fails at least one vector with each fault.
 */
export function failATest(
  checker: string,
  faults: readonly Fault[],
  vectors: readonly Vector[],
): void {
  describe(`${checker} that`, () => {
    let python: LinesProgram;
    beforeAll(() => {
      python = startPython("../faulty_checkers.py");
    });
    afterAll(() => python.close());

    test.each(faults)('has the fault "%s" fails a test', async (...fault) => {
      expect(await failures(python, fault, vectors)).not.toEqual([]);
    });

    test("has no fault passes every test", async () => {
      const none: Fault = ["", "card", "class Card:", "class Card:"];
      expect(await failures(python, none, vectors)).toEqual([]);
    });
  });
}

/** Returns the `tcId` of each failed vector of the first batch that has any. */
async function failures(
  python: LinesProgram,
  [, ...fault]: Fault,
  vectors: readonly Vector[],
): Promise<readonly number[]> {
  for (let at = 0; at < vectors.length; at += BATCH) {
    const batch = vectors.slice(at, at + BATCH);
    const requests = batch.map(({ request }) => JSON.stringify(request));
    const [answers] = (await python.ask([{ fault, requests }])) as [readonly Answered[]];
    expect(answers).toHaveLength(batch.length);
    const failed = batch.filter(
      (vector, index) =>
        judge(vector, { kind: "answer", value: answers[index] ?? {} }).status !== "passed",
    );
    if (failed.length > 0) return failed.map(({ test: { tcId } }) => tcId);
  }
  return [];
}
