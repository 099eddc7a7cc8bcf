import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { GOALS, goalRows, outcome } from "../../bench/goals.mjs";
import * as revocations from "../../bench/parts/revocations.mjs";
import * as service from "../../bench/parts/service.mjs";

const PARTS = new URL("../../bench/parts/", import.meta.url);

const speed = { work: "w", measure: "m", sense: "at least", goal: 3 } as const;
const time = { ...speed, sense: "at most", goal: 5 } as const;

test.each([
  ["a speed below its goal is reported", speed, 2.99, "no"],
  ["a speed at its goal is not reported", speed, 3, "yes"],
  ["a time above its goal is reported", time, 5.01, "no"],
  ["a time at its goal is not reported", time, 5, "yes"],
  ["a goal for something that was not measured is reported", speed, undefined, "not measured"],
])("in the comparison with the goals, %s", (_, goal, measured, expected) => {
  expect(outcome(goal, measured)).toBe(expected);
});

const SERVED: service.Service = {
  about: { connections: 10, rounds: 9, milliseconds: 1, revocations: 5, fsyncMilliseconds: 1 },
  throughput: ["bare", "guarded", "ledger", "durable"].map((kind, at) => ({
    kind,
    perSecond: 100,
    cpuMicroseconds: 10,
    ofBare: 1 - at / 10,
    ofBareByCpu: 1 - at / 20,
  })),
  latency: ["bare", "guarded", "ledger", "durable"].map((kind, at) => ({
    kind,
    perSecond: 50,
    p50: 1,
    p99: 4 + at,
  })),
  concurrency: [1, 10].flatMap((callers) =>
    ["bare", "guarded"].map((kind) => ({ kind, callers, perSecond: 9, p50: callers / 2, p99: 9 })),
  ),
};

describe("the figures of the service benchmark", () => {
  const [throughput, , callers] = service.figuresOf(SERVED);

  test("have, for each variant except the bare server, its ratio to the bare server", () => {
    expect(throughput?.ratios).toMatchObject({
      "service, guarded: speed to bare": 0.9,
      "service, durable: speed to bare by the processor's time": 0.85,
      "service, guarded: time at p99 to bare": 1.25,
    });
    expect(Object.keys(throughput?.ratios ?? {}).join()).not.toContain("service, bare");
  });

  test("have a row for each number of concurrent callers", () => {
    expect(callers?.rows).toEqual([
      [1, 0.5, 0.5],
      [10, 5, 5],
    ]);
  });
});

test("every goal is about a figure that a benchmark measures", () => {
  const listed = revocations.figuresOf({
    entries: 10,
    arrayBuffersPeakPerEntry: 24,
    setHitNanoseconds: 1,
    packedHitNanoseconds: 2,
    packedMissNanoseconds: 1,
    setMissNanoseconds: 1,
    pruneLongestMilliseconds: 4,
  });
  const given = [...service.figuresOf(SERVED), ...listed].flatMap(({ ratios, values = {} }) => [
    ...Object.keys(ratios),
    ...Object.keys(values),
  ]);
  const parts = readdirSync(PARTS)
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => readFileSync(new URL(name, PARTS), "utf8"))
    .join("");
  const written = (measure: string): boolean => parts.includes(`"${measure}"`);
  const measures = GOALS.map(({ measure }) => measure);
  expect(measures.filter((one) => !given.includes(one) && !written(one))).toEqual([]);
  expect(goalRows([]).map((row) => row.at(-1))).toEqual(measures.map(() => "not measured"));
});
