import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sized } from "../support/size.js";
import { MODES, type ModeName } from "./authority.js";
import { quietly } from "./quiet.js";
import { play, type ScenarioOutcome } from "./scenario.js";
import { SCENARIOS } from "./scenarios/index.js";
import { kindTable, type Results, reasonTable, scenarioTable, totalTable } from "./table.js";
import { KINDS } from "./tally.js";

const results: Results = new Map(
  SCENARIOS.map((scenario) => [scenario, {} as Record<ModeName, ScenarioOutcome>]),
);
/**
 * Every scenario of this number is played in all modes; the others only in mode task. The other two modes show only
 * that the attacker does harm if the authority is too wide.
 */
const IN_ALL_MODES = sized(5, 5, 1);
const PATIENCE = 120_000;

describe.each(
  SCENARIOS.map((scenario, at) => ({
    scenario,
    modes: at % IN_ALL_MODES === 0 ? MODES : (["task"] as const),
  })),
)("$scenario.id", ({ scenario, modes }) => {
  test.each(modes)(
    "in mode %s, the worker finishes its task, and injected text does harm unless the mode is task",
    async (mode) => {
      const outcome = await quietly(() => play(scenario, mode));
      Object.assign(results.get(scenario) ?? {}, { [mode]: outcome });
      // The legitimate work succeeds.
      expect(outcome.failedSteps).toEqual([]);
      expect(outcome.steps).toBeGreaterThan(2);
      // No call ended with a server error or a rate limit.
      expect(outcome.strange).toEqual([]);
      if (mode === "task") {
        expect(outcome.harms).toEqual([]);
        expect(outcome.succeeded).toBe(0);
        return;
      }
      // Without sufficient protection, the same attacker does harm.
      expect(outcome.succeeded).toBeGreaterThan(0);
      expect(outcome.goal).toBe(true);
    },
    PATIENCE,
  );
});

const task = (): readonly ScenarioOutcome[] => [...results.values()].map((all) => all.task);

test("in task mode, each class of attack is tried in more than a quarter of the scenarios", () => {
  for (const kind of KINDS) {
    const scenarios = task().filter((outcome) => (outcome.kinds[kind]?.tried ?? 0) > 0);
    expect([kind, scenarios.length > SCENARIOS.length / 4]).toEqual([kind, true]);
  }
});

describe("all scenarios together", () => {
  test("give the attacker valid calls in nearly every scenario, and refusals for every documented reason", () => {
    // If the attacker could make no valid call, the refusals would prove nothing.
    const within = task().filter((outcome) => outcome.within > 0);
    expect(within.length).toBeGreaterThanOrEqual(SCENARIOS.length - 1);
    const reasons = new Set(task().flatMap((outcome) => Object.keys(outcome.reasons)));
    expect([...reasons]).toEqual(expect.arrayContaining([...DEFENCES]));
  });

  test("have rows in docs/injection.md, with the same results apart from the exact counts", () => {
    const page = shapeOf(readFileSync("docs/injection.md", "utf8"));
    for (const { id } of SCENARIOS) expect(page).toContain(`\n| **${id}**: `);
    const inAllModes = [...results].filter(([, outcomes]) =>
      MODES.every((mode) => mode in outcomes),
    );
    const [, , ...rows] = scenarioTable(new Map(inAllModes)).split("\n").slice(0, -1);
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(page).toContain(shapeOf(row));
  });

  if (IN_ALL_MODES > 1) return;
  test("have the tables of docs/injection.md and README.md, apart from the exact counts", () => {
    const generated: readonly (readonly [string, string])[] = [
      ["scenarios", scenarioTable(results)],
      ["classes", kindTable(results)],
      ["reasons", reasonTable(results)],
      ["all", totalTable(results)],
    ];
    mkdirSync("reports", { recursive: true });
    writeFileSync("reports/injection.json", JSON.stringify(Object.fromEntries(generated), null, 2));
    if (process.env["PROVISO_INJECTION_WRITE"] === "1") return;
    // The number of calls depends on the tokens and handles that the attacker sees, and on their order.
    const places = {
      "docs/injection.md": generated.slice(0, 2),
      "README.md": generated.slice(3),
    };
    for (const [file, tables] of Object.entries(places)) {
      const text = readFileSync(file, "utf8");
      for (const [name, table] of tables) {
        const found = new RegExp(`<!-- ${name} -->\\n([^]*?)\\n<!-- /${name} -->`).exec(text)?.[1];
        expect(shapeOf(found ?? ""), "make it anew: npm run injection -- --write").toBe(
          shapeOf(table),
        );
      }
    }
  });
});

/** Replaces each count in a table by a yes or no: whether any attack succeeded. */
function shapeOf(table: string): string {
  const count = /(?<!steps )\b(?:\d+ % \()?(\d+) of \d+/g;
  return table.replace(count, (_, first: string) => (first === "0" ? "none" : "some"));
}

/** Reasons for refusals. Each must have been the only reason for at least one refused call. */
const DEFENCES = [
  "capability_missing",
  "capability_unknown",
  "constraint_violated",
  "expired",
  "foreign_issuer",
  "invoker_denied",
  "operation_denied",
  "resource_denied",
  "revoked",
  "signature_mismatch",
  "token_malformed",
  "unknown_key",
] as const;
