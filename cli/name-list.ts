import { readValue, splitList } from "./argument-value.js";
import { usageError } from "./exit.js";
import { quoted } from "./output.js";

/**
 * Reads names with commas between. A name with a comma, or in which white space at an end counts, stands in double quotes.
 *
 * @throws CliError if what stands in quotes is not a JSON string.
 */
export function readNames(option: string, texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) =>
    splitList(text).map((item) => {
      if (!item.startsWith('"')) return item;
      const name = readValue(item, (problem, hint) =>
        usageError(`${option} ${quoted(item)}: ${problem}`, hint),
      );
      return String(name);
    }),
  );
}
