// The front matter of the agent's documents: YAML between two lines of dashes.

/** @typedef {import("proviso").Scalar} Scalar */

/**
 * Writes front matter with the lines of dashes. Names and strings are written as JSON, which YAML reads as the
 * same strings.
 *
 * @param {{ readonly [field: string]: Scalar }} fields
 */
export function writeFrontMatter(fields) {
  const lines = Object.entries(fields).map(([field, value]) => `${key(field)}: ${text(value)}\n`);
  return `---\n${lines.join("")}---\n`;
}

/**
 * Splits a file into its front matter, with the lines of dashes, and the text after it.
 *
 * @param {string} file
 */
export function splitFrontMatter(file) {
  const head = /^\ufeff?---[ \t]*\r?\n(?:[\s\S]*?\n)??---[ \t]*(?:\r?\n|$)/.exec(file)?.[0] ?? "";
  return { head, body: file.slice(head.length).replace(/^(?:[ \t]*\r?\n)+/, "") };
}

/** @param {string} field */
function key(field) {
  const plain =
    /^[a-z]\w*$/i.test(field) && !/^(?:true|false|null|yes|no|on|off|[yn])$/i.test(field);
  return plain ? field : text(field);
}

/** @param {Scalar} value */
function text(value) {
  // JSON does not escape these characters. A YAML reader may refuse them, or take them for line ends.
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
