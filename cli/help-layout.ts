import { type Command, Help } from "commander";

/** Characters of a term that its text stands beside; below one that is longer. */
const LONGEST_TERM = 28;
/** Characters that a text has at least, so that no line is broken by the terminal. */
const NARROWEST_TEXT = 20;
const INDENTS = 4;

const usual = new Help();

/** How wide the column of terms is: no wider than leaves room for the texts. */
export function padWidth(command: Command, help: Help): number {
  const room = (help.helpWidth ?? 80) - INDENTS - NARROWEST_TEXT;
  return Math.min(usual.padWidth(command, help), LONGEST_TERM, room);
}

/** A term with its text beside it, or below it where the term is too long. */
export function formatItem(term: string, width: number, text: string, help: Help): string {
  const format = (left: string): string =>
    Help.prototype.formatItem.call(help, left, width, text, help);
  if (text === "" || help.displayWidth(term) <= width) return format(term);
  return `  ${term}\n${format("")}`;
}
