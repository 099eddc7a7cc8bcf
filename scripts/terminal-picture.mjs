// Draws terminal output with SGR colour codes as an SVG picture. The picture is light or dark, as the reader
// prefers.

// The picture is only as wide as its longest line needs, since narrow pages shrink wide pictures.
const MAX_COLUMNS = 80;
const MIN_COLUMNS = 60;
const FONT = 14;
const LINE = 20;
// Letters of most monospaced fonts are 0.6 em wide. The rest is a margin for wider fonts.
const LETTER = FONT * 0.62;
const MARGIN = 16;

/** The CSS class that each SGR code of the command sets. */
const STYLES = new Map([
  ["1", "bold"],
  ["2", "dim"],
  ["31", "red"],
  ["32", "green"],
  ["33", "yellow"],
]);
/** @type {Map<string, readonly string[]>} */
const ENDS = new Map([
  ["0", [...STYLES.values()]],
  ["22", ["bold", "dim"]],
  ["39", ["red", "green", "yellow"]],
]);

const CSS = `
    rect { fill: #f6f8fa; stroke: #d1d9e0 }
    text { fill: #1f2328; font: ${FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
    .bold { font-weight: 700 }
    .dim { fill: #59636e }
    .red { fill: #b3261e }
    .green { fill: #116329 }
    .yellow { fill: #7d4e00 }
    @media (prefers-color-scheme: dark) {
      rect { fill: #161b22; stroke: #3d444d }
      text { fill: #e6edf3 }
      .dim { fill: #9198a1 }
      .red { fill: #ff8a80 }
      .green { fill: #7ee787 }
      .yellow { fill: #e3b341 }
    }
  `;

/**
 * Draws a text as the contents of a terminal.
 * @param {string} title - A description of the picture for screen readers.
 * @param {string} text - Lines of at most 80 columns, with SGR codes.
 * @returns {string} The SVG file.
 * @throws TypeError if a line is too long, or has an unknown SGR code.
 */
export function draw(title, text) {
  const lines = styledLines(text);
  const columns = Math.max(MIN_COLUMNS, ...lines.map(lengthOf));
  if (columns > MAX_COLUMNS) throw new TypeError(`a line of "${title}" has ${columns} columns`);
  const width = Math.ceil(columns * LETTER) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const drawn = lines.map((spans, at) => {
    const y = MARGIN + at * LINE + 15;
    return `  <text x="${MARGIN}" y="${y}" xml:space="preserve">${spans.map(spanElement).join("")}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <style>${CSS}</style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${drawn.join("\n")}
</svg>
`;
}

/** @typedef {{ readonly text: string, readonly classes: readonly string[] }} Span */

/**
 * Returns the width of a line in columns.
 * @param {readonly Span[]} spans
 */
function lengthOf(spans) {
  return spans.reduce((sum, { text }) => sum + [...text].length, 0);
}

/**
 * @param {string} text
 * @returns {Span[][]}
 */
function styledLines(text) {
  /** @type {Set<string>} */
  const on = new Set();
  return text.split("\n").map((line) => {
    /** @type {Span[]} */
    const spans = [];
    // The elements at odd indexes are the captured codes; the others are text.
    for (const [at, part] of line.split(SGR).entries()) {
      if (at % 2 === 1) setStyle(on, part);
      else if (part !== "") spans.push({ text: part, classes: [...on] });
    }
    return spans;
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: SGR codes begin with one.
const SGR = /\u001b\[(\d+)m/;

/**
 * @param {Set<string>} on
 * @param {string} code
 */
function setStyle(on, code) {
  const style = STYLES.get(code);
  const ends = ENDS.get(code);
  if (style !== undefined) on.add(style);
  else if (ends !== undefined) for (const end of ends) on.delete(end);
  else throw new TypeError(`no class is for the SGR code ${code}`);
}

/** @param {Span} span */
function spanElement({ text, classes }) {
  const inner = escaped(text);
  return classes.length === 0 ? inner : `<tspan class="${classes.join(" ")}">${inner}</tspan>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
