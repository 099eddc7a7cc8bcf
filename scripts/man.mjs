// Writes the manual page, cli/dist/man/proviso.1, from the help of the built command. `npm run build` runs this
// script.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const command = new URL("../cli/dist/", import.meta.url);

/** No example is longer than this many characters, so none is broken into two lines. */
const COLUMNS = "100";

/** @typedef {(words: readonly string[]) => Promise<string>} Help */

/**
 * Loads the command into this process. A separate process for each of about fifty help texts would take
 * seconds.
 *
 * @returns {Promise<Help>}
 */
async function loadHelp() {
  const { run } = await import(new URL("program.cjs", command).href);
  return async (words) => {
    let text = "";
    const stdout = {
      isTerminal: false,
      /** @param {Uint8Array} bytes */
      write(bytes) {
        text += Buffer.from(bytes).toString("utf8");
      },
    };
    const status = await run([...words, "--help"], {
      stdin: { isTerminal: false, read: () => 0 },
      stdout,
      stderr: stdout,
      env: { COLUMNS },
      cwd: root,
      userFolder: "/nonexistent",
    });
    if (status !== 0) throw new Error(`proviso ${words.join(" ")} --help: ${text}`);
    return text.trimEnd();
  };
}

/**
 * Escapes text for roff.
 * @param {string} text
 */
function plain(text) {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replace(/^\./gm, "\\&.");
}

/** @typedef {{ title: string, lines: readonly string[] }} Block */

/**
 * Splits a help text into blocks: the usage, paragraphs, lists and examples. Usage and paragraphs have no
 * title.
 * @param {string} help
 * @returns {Block[]}
 */
function blocksOf(help) {
  return help.split(/\n{2,}/).map((text) => {
    const [first = "", ...lines] = text.split("\n");
    const title = /^([A-Z][A-Za-z ]*):$/.exec(first)?.[1];
    return title === undefined ? { title: "", lines: [first, ...lines] } : { title, lines };
  });
}

/**
 * Returns the entries of a list. Each entry has a term, and the text beside and below the term.
 * @param {readonly string[]} lines
 */
function entriesOf(lines) {
  /** @type {{ term: string, text: string }[]} */
  const entries = [];
  for (const line of lines) {
    const [, term, text = ""] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    const last = entries.at(-1);
    if (term !== undefined) entries.push({ term, text });
    else if (last !== undefined) last.text = `${last.text} ${line.trim()}`.trim();
  }
  return entries;
}

/**
 * @param {Block} block
 * @returns {string[]}
 */
function bodyOf({ title, lines }) {
  if (title === "") return [".PP", plain(lines.map((line) => line.trim()).join(" "))];
  if (lines.every((line) => line.startsWith("  $ "))) {
    return [".PP", ".nf", ...lines.map((line) => plain(line.slice(2))), ".fi"];
  }
  return entriesOf(lines).flatMap(({ term, text }) => [
    ".TP",
    `\\fB${plain(term)}\\fR`,
    plain(text),
  ]);
}

/**
 * Returns the text below a verb's heading: usage, description, lists and examples.
 * @param {string} help
 */
function verbBody(help) {
  const [usage, ...others] = blocksOf(help);
  const shown = others.filter(({ title }) => title !== "Global Options");
  return [
    ".PP",
    `\\fB${plain((usage?.lines[0] ?? "").replace(/^Usage: /, ""))}\\fR`,
    ...shown.flatMap((block) => [
      ...(block.title === "" ? [] : [".PP", `${plain(block.title)}:`]),
      ...bodyOf(block),
    ]),
  ];
}

/**
 * Returns the verbs that a help text lists.
 * @param {string} help
 */
function verbsIn(help) {
  const commands = blocksOf(help).find(({ title }) => title === "Commands");
  const names = entriesOf(commands?.lines ?? []).map(({ term }) => term.split(" ")[0] ?? "");
  return names.filter((name) => name !== "help");
}

/**
 * Returns the manual page, in roff.
 *
 * @param {Help} help
 * @param {string} version
 */
async function manualPage(help, version) {
  const whole = await help([]);
  const [, description, ...blocks] = blocksOf(whole);
  /** @param {string} title */
  const block = (title) => {
    const found = blocks.find((one) => one.title === title);
    if (found === undefined) throw new Error(`the help has no "${title}"`);
    return bodyOf(found);
  };
  const notes = blocks.filter(({ title }) => title === "").flatMap(bodyOf);
  const verbs = [];
  for (const name of verbsIn(whole)) {
    const text = await help([name]);
    verbs.push(`.SH PROVISO ${plain(name.toUpperCase())}`, ...verbBody(text));
    for (const below of verbsIn(text)) {
      verbs.push(
        `.SS proviso ${plain(`${name} ${below}`)}`,
        ...verbBody(await help([name, below])),
      );
    }
  }
  const lines = [
    `.TH PROVISO 1 "" "proviso ${plain(version)}" "User Commands"`,
    ".SH NAME",
    "proviso \\- capabilities for agents: mint, narrow, check, revoke",
    ".SH SYNOPSIS",
    "\\fBproviso\\fR \\fIcommand\\fR [\\fIoptions\\fR]",
    ".SH DESCRIPTION",
    plain((description?.lines ?? []).join(" ")),
    ...notes,
    ".SH OPTIONS",
    ...block("Options"),
    ".SH COMMANDS",
    ...block("Commands"),
    ...verbs,
    ".SH EXIT STATUS",
    ...block("Exit codes"),
    ".SH ENVIRONMENT",
    ...block("Environment"),
    ".SH EXAMPLES",
    ...block("The common path"),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * Writes the manual page.
 *
 * @param {string} version
 */
export async function writeManual(version) {
  const page = await manualPage(await loadHelp(), version);
  mkdirSync(new URL("man/", command), { recursive: true });
  writeFileSync(new URL("man/proviso.1", command), page);
}
