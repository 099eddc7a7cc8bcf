// Formats results as Markdown: every table for the terminal, and the few that docs/performance.md shows between
// its markers.

import { goalRows } from "./goals.mjs";

/** @import { Figures } from "./measure.mjs" */
/** @import { Results } from "./report.mjs" */

const START = "<!-- results: written by `npm run bench` -->";
const END = "<!-- end of results -->";

/** @param {string | number | null} value */
function cell(value) {
  if (value === null) return "";
  return typeof value === "number"
    ? value.toLocaleString("en-US", { maximumFractionDigits: 2 })
    : value;
}

/** @param {readonly string[]} columns @param {readonly (readonly (string | number | null)[])[]} rows */
function table(columns, rows) {
  const line = (/** @type {readonly (string | number | null)[]} */ cells) =>
    `| ${cells.map(cell).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The tables that docs/performance.md shows. bench/results.json has all tables. */
const SHOWN = ["From text to decision", "Calls of the service"];

/**
 * Returns every table of some results, as the command prints them.
 * @param {Results} results
 */
export function markdown(results) {
  const ratios = results.figures.flatMap((one) => Object.entries(one.ratios));
  const all = ["### Ratios", table(["", "ratio"], ratios)];
  return [...headOf(results), ...(ratios.length > 0 ? all : []), ...tablesOf(results.figures)].join(
    "\n\n",
  );
}

/**
 * Returns the goals and the tables of docs/performance.md.
 * @param {Results} results
 */
export function summary(results) {
  const figures = results.figures.filter(({ title }) => SHOWN.includes(title));
  return [...headOf(results), ...tablesOf(figures)].join("\n\n");
}

/** @param {Results} results */
function headOf({ command, machine, versions, size, figures }) {
  const listed = (/** @type {Record<string, string | number>} */ values) =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
  const goals = ["work", "what is measured", "goal", "measured", "met"];
  return [
    `\`${command}\`: medians of ${size.rounds} rounds in turns, ${size.milliseconds} ms each.`,
    `${listed(machine)}; ${listed(versions)}.`,
    "### Goals",
    table(goals, goalRows(figures)),
  ];
}

/** @param {readonly Figures[]} figures */
function tablesOf(figures) {
  return figures.flatMap(({ title, about, columns, rows, plots = [] }) => [
    `### ${title}`,
    about,
    table(columns, rows),
    ...plots.flatMap((plot) => [`![${plot.title}](bench/${plot.file}.svg)`, plot.says]),
  ]);
}

/** Returns the part of a document between the markers. @param {string} document */
export function shown(document) {
  const [from, to] = [document.indexOf(START), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error("the document has no markers for results");
  return document.slice(from + START.length, to).trim();
}

/** @param {string} document @param {Results} results */
export function withResults(document, results) {
  const before = document.slice(0, document.indexOf(START));
  const after = document.slice(document.indexOf(END));
  shown(document);
  return `${before}${START}\n${summary(results)}\n${after}`;
}
