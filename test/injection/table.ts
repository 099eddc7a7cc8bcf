import { MODES, type ModeName } from "./authority.js";
import type { Scenario, ScenarioOutcome } from "./scenario.js";
import { type Count, KINDS } from "./tally.js";

/** The outcomes of all scenarios in every mode. */
export type Results = ReadonlyMap<Scenario, Readonly<Record<ModeName, ScenarioOutcome>>>;

/** The column headings. */
const NAMES: Readonly<Record<ModeName, string>> = {
  ambient: "ambient authority",
  session: "session-wide capabilities",
  task: "task-scoped capabilities",
};

/** Returns the table of scenarios and modes in Markdown. */
export function scenarioTable(results: Results): string {
  const rows = [...results].map(([{ id, title }, outcomes]) => [
    `**${id}**: ${lowered(title)}`,
    ...MODES.map((mode) => cell(outcomes[mode])),
  ]);
  const total = MODES.map((mode) => cell(sumOf([...results.values()].map((all) => all[mode]))));
  return markdown(
    ["scenario", ...MODES.map((mode) => NAMES[mode])],
    [...rows, ["**all**", ...total.map((text) => `**${text}**`)]],
  );
}

/** Returns the sums of all scenarios in percent, for the README. */
export function totalTable(results: Results): string {
  const sums = MODES.map((mode) => sumOf([...results.values()].map((all) => all[mode])));
  return markdown(
    ["", ...MODES.map((mode) => NAMES[mode])],
    [
      ["calls that did harm", ...sums.map((sum) => percent(sum.succeeded, sum.tried))],
      ["legitimate steps that worked", ...sums.map((sum) => percent(sum.stepsDone, sum.steps))],
    ],
  );
}

/** Returns the table of attack classes and modes. */
export function kindTable(results: Results): string {
  const rows = KINDS.map((kind) => [
    kind,
    ...MODES.map((mode) => {
      const counts = [...results.values()].map((all) => all[mode].kinds[kind]);
      return ofTried(total(counts));
    }),
  ]);
  return markdown(["what is tried", ...MODES.map((mode) => NAMES[mode])], rows);
}

/** Returns, for task mode, how many calls were refused for a single reason, by reason. */
export function reasonTable(results: Results): string {
  const counts = new Map<string, number>();
  for (const { task } of results.values()) {
    for (const [code, count] of Object.entries(task.reasons)) {
      counts.set(code, (counts.get(code) ?? 0) + count);
    }
  }
  const rows = [...counts].sort().map(([code, count]) => [`\`${code}\``, String(count)]);
  return markdown(["only reason", "calls"], rows);
}

interface Figures {
  readonly tried: number;
  readonly succeeded: number;
  readonly steps: number;
  readonly stepsDone: number;
}

function cell({ tried, succeeded, steps, stepsDone }: Figures): string {
  return `${succeeded} of ${tried}; steps ${stepsDone} of ${steps}`;
}

/** Formats a percentage; anything above 0 is at least 1 %. */
function percent(part: number, whole: number): string {
  const rounded = Math.round((100 * part) / whole);
  return `${part > 0 ? Math.max(rounded, 1) : 0} % (${part} of ${whole})`;
}

function ofTried({ tried, succeeded }: Count): string {
  return tried === 0 ? "" : `${succeeded} of ${tried}`;
}

function sumOf(all: readonly Figures[]): Figures {
  const sum = { tried: 0, succeeded: 0, steps: 0, stepsDone: 0 };
  for (const { tried, succeeded, steps, stepsDone } of all) {
    sum.tried += tried;
    sum.succeeded += succeeded;
    sum.steps += steps;
    sum.stepsDone += stepsDone;
  }
  return sum;
}

function total(counts: readonly (Readonly<Count> | undefined)[]): Count {
  const sum = { tried: 0, succeeded: 0 };
  for (const count of counts) {
    sum.tried += count?.tried ?? 0;
    sum.succeeded += count?.succeeded ?? 0;
  }
  return sum;
}

function lowered(title: string): string {
  return `${title.slice(0, 1).toLowerCase()}${title.slice(1)}`;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
