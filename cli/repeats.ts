import type { Command } from "commander";
import { usageError } from "./exit.js";
import { collect } from "./restrictions.js";

/**
 * Makes every option that has one value refuse a second one. Commander would take the last in
 * silence, and `verify --op delete --op retrieve` would judge one of the two.
 */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if (!(option.required || option.optional) || option.parseArg === collect) continue;
    const flag = option.long ?? option.flags;
    let given = 0;
    command.on(`option:${option.name()}`, () => {
      given++;
      if (given === 2) throw usageError(`${flag} is given twice`, "give it once; it has one value");
    });
  }
  for (const child of command.commands) refuseRepeats(child);
}
