import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { check, worse } from "../../bench/check.mjs";
import { each, here, inTurns, median, ratio } from "../../bench/measure.mjs";
import { svg } from "../../bench/plot.mjs";
import { type Results, shown, summary, withResults } from "../../bench/report.mjs";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const results = JSON.parse(read("bench/results.json")) as Results;

describe("the benchmark harness", () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
  ])("gives for %j the median %d", (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test("throws a TypeError for the median of an empty array", () => {
    expect(() => median([])).toThrow(TypeError);
  });

  test("takes the median of the rounds' ratios, not the ratio of the medians", () => {
    expect(ratio({ a: [1, 100, 6], b: [1, 10, 1] }, "a", "b")).toBe(6);
    expect(ratio({ a: [2, 40, 3], b: [1, 10, 6] }, "a", "b")).toBe(2);
    expect(ratio({ a: [1] }, "a", "missing")).toBeUndefined();
  });

  test("lets contenders take turns in alternating order, after a warm-up round that does not count", async () => {
    const order: string[] = [];
    const contender = (name: string) => ({
      name,
      sample: async () => order.push(name),
    });
    const rounds = await inTurns([contender("a"), contender("b")], { rounds: 2, milliseconds: 0 });
    expect(order.join("")).toBe("baabba");
    expect(rounds).toEqual({ a: [3, 6], b: [4, 5] });
  });

  test("cycles through the items that each() is given", () => {
    const seen: number[] = [];
    const next = each([1, 2], (one) => seen.push(one));
    for (let at = 0; at < 3; at++) next();
    expect(seen).toEqual([1, 2, 1]);
  });

  test("ends the run if a benchmarked operation fails", async () => {
    const failing = here("failing", () => {
      throw new Error("refused");
    });
    await expect(inTurns([failing], { rounds: 1, milliseconds: 1 })).rejects.toThrow("refused");
  });
});

describe("the check against committed results", () => {
  const committed = { "cold: speed to npm macaroon": 2, "refused: time to allowed": 2, peer: 1 };

  test("allows speeds 15 % lower and times 15 % higher, and skips a missing peer", () => {
    const [speed, time] = ["cold: speed to npm macaroon", "refused: time to allowed"];
    expect(worse(committed, { [speed]: 1.71, [time]: 2.29 })).toEqual([]);
    expect(worse(committed, { [speed]: 9, [time]: 0.1 })).toEqual([]);
    expect(worse(committed, { [speed]: 1.69, [time]: 2.31 })).toEqual([speed, time]);
  });

  test.each([
    ["once if nothing is worse", [{ peer: 1 }], []],
    [
      "twice if something is worse, and passes if nothing is worse the second time",
      [{ peer: 2 }, { peer: 1 }],
      [],
    ],
    [
      "twice, and fails if the same figure is worse both times",
      [{ peer: 2 }, { peer: 2 }],
      ["peer"],
    ],
  ])("measures %s", async (_, runs, failed) => {
    let at = 0;
    const answer = await check({ peer: 1 }, async () => runs[at++] ?? {});
    expect(answer.failed).toEqual(failed);
    expect(at).toBe(runs.length);
  });
});

describe("docs/performance.md", () => {
  test("shows the results of bench/results.json", () => {
    expect(shown(read("docs/performance.md"))).toBe(summary(results).trim());
  });

  test("has plots drawn from the measured figures", () => {
    const plots = results.figures.flatMap((figures) => figures.plots ?? []);
    expect(plots.length).toBeGreaterThan(0);
    for (const plot of plots) expect(read(`docs/bench/${plot.file}.svg`)).toBe(svg(plot));
  });

  test("gets new results in place of the old results, and no other change", () => {
    const document = read("docs/performance.md");
    const changed = withResults(document, { ...results, command: "another" });
    expect(changed).not.toBe(document);
    expect(withResults(changed, results)).toBe(document);
    expect(() => shown("no markers")).toThrow("no markers");
  });
});
