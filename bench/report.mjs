// Results as text: the Markdown that docs/performance.md shows between its markers, and nothing else than
// bench/results.json says.

import { goalRows } from "./goals.mjs";

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

/** @param {Results} results */
export function markdown({ command, machine, versions, size, figures }) {
  const blocks = [
    `\`${command}\`: medians of ${size.rounds} rounds in turns, ${size.milliseconds} ms each.`,
    `${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}; ` +
      `${Object.entries(versions)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")}.`,
  ];
  const goals = ["work", "what is measured", "goal", "measured", "met"];
  blocks.push("### Goals", table(goals, goalRows(figures)));
  const ratios = figures.flatMap((one) => Object.entries(one.ratios));
  if (ratios.length > 0) blocks.push("### Ratios", table(["", "ratio"], ratios));
  for (const { title, about, columns, rows, plots = [] } of figures) {
    blocks.push(`### ${title}`, about, table(columns, rows));
    for (const plot of plots) blocks.push(`![${plot.title}](bench/${plot.file}.svg)`, plot.says);
  }
  return blocks.join("\n\n");
}

/** The part of a document between the markers. @param {string} document */
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
  return `${before}${START}\n${markdown(results)}\n${after}`;
}
