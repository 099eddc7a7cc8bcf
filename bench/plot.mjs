// Draws lines as an SVG picture on logarithmic axes, in the light or dark colours that the reader has chosen.

/** @import { Plot } from "./measure.mjs" */

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [780, 410, 60, 50, 300, 50];
const COLOURS = ["#1f77d0", "#d9641a", "#2a9d50", "#b0399c", "#a58a00", "#7a7a7a"];

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/**
 * A logarithmic scale that includes zero.
 * @param {readonly number[]} values @param {number} from @param {number} to
 */
function scale(values, from, to) {
  const positive = values.filter((value) => value > 0);
  const floor = Math.min(...positive) / (values.includes(0) ? 10 : 1);
  const [low, high] = [Math.log10(floor), Math.log10(Math.max(...positive) * 1.001)];
  const place = (/** @type {number} */ value) =>
    from + ((Math.log10(Math.max(value, floor)) - low) / (high - low)) * (to - from);
  const marks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const digit of [1, 2, 5]) {
      const mark = digit * 10 ** power;
      if (Math.log10(mark) >= low && Math.log10(mark) <= high)
        marks.push(Number(mark.toPrecision(3)));
    }
  }
  const step = Math.ceil(marks.length / 8);
  return { place, marks: marks.filter((_, at) => at % step === 0) };
}

/** @param {Plot} plot */
export function svg({ title, x, y, lines }) {
  const points = lines.flatMap((line) => line.points);
  const across = scale(
    points.map(([at]) => at),
    LEFT,
    WIDTH - RIGHT,
  );
  const up = scale(
    points.map(([, value]) => value),
    HEIGHT - BOTTOM,
    TOP,
  );
  const n = (/** @type {number} */ value) => value.toFixed(1);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    "<style>",
    "  rect { fill: #fff } text { fill: #222; font: 12px sans-serif } .axis { stroke: #ddd }",
    "  @media (prefers-color-scheme: dark) { rect { fill: #0d1117 } text { fill: #ddd } .axis { stroke: #333 } }",
    "</style>",
    `<rect width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text x="${LEFT}" y="20">${escaped(title)}</text>`,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escaped(x)}</text>`,
    `<text x="8" y="${TOP - 14}">${escaped(y)}</text>`,
  ];
  for (const mark of across.marks) {
    const at = n(across.place(mark));
    parts.push(
      `<line class="axis" x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`,
      `<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${mark.toLocaleString("en-US")}</text>`,
    );
  }
  for (const mark of up.marks) {
    const at = up.place(mark);
    parts.push(
      `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(at)}" y2="${n(at)}"/>`,
      `<text x="${LEFT - 6}" y="${n(at + 4)}" text-anchor="end">${mark.toLocaleString("en-US")}</text>`,
    );
  }
  for (const [at, { name, points: all }] of lines.entries()) {
    const colour = COLOURS[at % COLOURS.length];
    const path = all.map(([a, b]) => `${n(across.place(a))},${n(up.place(b))}`).join(" ");
    const row = TOP + 12 + at * 20;
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<line x1="${WIDTH - RIGHT + 12}" x2="${WIDTH - RIGHT + 28}" y1="${row - 4}" y2="${row - 4}" stroke="${colour}" stroke-width="2"/>`,
      `<text x="${WIDTH - RIGHT + 34}" y="${row}">${escaped(name)}</text>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}
