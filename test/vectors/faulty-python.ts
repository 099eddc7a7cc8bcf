import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import type { Vector } from "../../cli/vectors/file.js";
import { PYTHON, path } from "./support.js";

/** One fault: its name, a file of the Python checker, a string in the file, and the string's replacement. */
export type Fault = readonly [fault: string, file: string, from: string, to: string];

// Time limit in milliseconds. One run tries all faults.
const MINUTES = 600_000;

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
    let answers: readonly (readonly Answered[])[] = [];
    beforeAll(() => {
      answers = answersOf(faults, vectors);
    }, MINUTES);

    test.each(faults.map(([fault], at) => [fault, at] as const))(
      'has the fault "%s" fails a test',
      (_, at) => {
        expect(failures(answers[at], vectors)).not.toEqual([]);
      },
    );

    test("has no fault passes every test", () => {
      const [own] = answersOf([["", "card", "class Card:", "class Card:"]], vectors);
      expect(failures(own, vectors)).toEqual([]);
    });
  });
}

/** Returns the answers to the vectors with each fault, from one Python process. */
function answersOf(
  faults: readonly Fault[],
  vectors: readonly Vector[],
): readonly (readonly Answered[])[] {
  const asked = {
    folder: path("python"),
    requests: vectors.map(({ request }) => JSON.stringify(request)),
    faults: faults.map(([, ...fault]) => fault),
  };
  const script = fileURLToPath(new URL("faulty_checkers.py", import.meta.url));
  const options = { input: JSON.stringify(asked), encoding: "utf8", maxBuffer: 2 ** 29 } as const;
  const { stdout, stderr, status } = spawnSync(PYTHON, ["-B", script], options);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns the `tcId` of each vector that the answers fail. */
function failures(
  answers: readonly Answered[] | undefined,
  vectors: readonly Vector[],
): readonly number[] {
  expect(answers).toHaveLength(vectors.length);
  return vectors.flatMap((vector, at) => {
    const { status } = judge(vector, { kind: "answer", value: answers?.[at] ?? {} });
    return status === "passed" ? [] : [vector.test.tcId];
  });
}
