import { readValue, splitList } from "./argument-value.js";
import { usageError } from "./exit.js";
import { quoted } from "./output.js";

/**
 * Reads names separated by commas. A name that contains a comma, or begins or ends with white space, must be in
 * double quotes.
 *
 * @throws CliError if a part in double quotes is not a JSON string, or a part beside a comma is empty.
 */
export function readNames(option: string, texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) =>
    splitList(text).map((item, _at, { length }) => {
      if (item === "" && length > 1) {
        throw usageError(
          `${option} ${quoted(text)}: a name is missing beside a comma`,
          "write it like a,b",
        );
      }
      if (!item.startsWith('"')) return item;
      const name = readValue(item, (problem, hint) =>
        usageError(`${option} ${quoted(item)}: ${problem}`, hint),
      );
      return String(name);
    }),
  );
}
