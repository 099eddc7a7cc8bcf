import { type Command, InvalidArgumentError, Option } from "commander";
import type { HopInit } from "../src/caveats/hop.js";
import type { Flag } from "../src/caveats/hop-rule.js";
import { HOP_KEYS, HOP_RULES, type HopKey } from "../src/caveats/hop-rules.js";
import { readDuration } from "../src/caveats/time.js";
import { usageError } from "./exit.js";
import { quoted } from "./output.js";
import { collect, toText } from "./verb.js";

/** The restrictions that a verb accepts. */
interface Restrictions {
  /** The properties of a hop that the verb has flags for. The default is every property with a flag. */
  readonly keys?: readonly HopKey[];
  /** Help texts of flags, by property, where this verb's text differs from the table's. */
  readonly help?: { readonly [Key in HopKey]?: string };
}

/** Adds a flag to a verb for each property of a hop that has a flag. */
export function addRestrictions(command: Command, { keys, help = {} }: Restrictions = {}): Command {
  for (const [key, { kind, form, help: words }] of flagsOf(keys)) {
    command.addOption(withParser(new Option(form, help[key] ?? words), kind));
  }
  return command;
}

function withParser(option: Option, kind: Flag["kind"]): Option {
  if (kind === "count") return option.argParser(toCount);
  // `refuseRepeats` recognizes a repeatable option by the parser `collect`.
  const isRepeated = ["list", "limits", "closed-lists"].includes(kind);
  return isRepeated ? option.argParser(collect) : option.argParser(toText);
}

function flagsOf(keys: readonly HopKey[] = HOP_KEYS): readonly (readonly [HopKey, Flag])[] {
  return keys.flatMap((key) => {
    const { flag } = HOP_RULES[key];
    return flag === undefined ? [] : [[key, flag] as const];
  });
}

/**
 * Converts the options to a hop. A parser is loaded only if its option is given, so that an attenuation with
 * few options starts faster. Durations are kept for the library to read; if `moments` is true, they become
 * times.
 *
 * @throws CliError if an expression or a time is invalid.
 */
export async function restrictionsFrom(
  options: object,
  { moments = false }: { readonly moments?: boolean } = {},
): Promise<HopInit> {
  const given = new Map(Object.entries(options));
  const hop: { [key: string]: unknown } = {};
  for (const [key, { kind, form }] of flagsOf()) {
    const option = new Option(form);
    const value: unknown = given.get(option.attributeName());
    if (value === undefined) continue;
    if (kind === "limits" && Array.isArray(value)) {
      const { readLimits } = await import("./limit-expression.js");
      Object.assign(hop, readLimits(value));
    } else if (kind === "closed-lists" && Array.isArray(value)) {
      const { readClosedLists } = await import("./closed-list-expression.js");
      hop[key] = readClosedLists(value);
    } else if (kind === "moment") {
      hop[key] = await timeFrom(option.long ?? key, String(value), moments);
    } else if (key === "operations" && Array.isArray(value)) {
      const { readNames } = await import("./name-list.js");
      hop[key] = readNames(flagOf(key), value);
    } else {
      if (key === "resourceHandles" && Array.isArray(value)) assertNoLists(flagOf(key), value);
      hop[key] = value;
    }
  }
  return hop;
}

/** Refuses two handles in one value: together they would be the handle of a resource that does not exist. */
function assertNoLists(option: string, values: readonly string[]): void {
  const list = values.find((value) => /^rh_[^,]*,\s*rh_/.test(value));
  if (list === undefined) return;
  throw usageError(
    `${option} ${quoted(list)}: a value is one handle`,
    "repeat the option for each handle",
  );
}

/**
 * Returns the flag for a property of a hop, such as `--not-before` for `notBefore`; the property itself if it
 * has no flag.
 */
export function flagOf(key: HopKey): string {
  return HOP_RULES[key].flag?.form.split(" ", 1).join() ?? key;
}

async function timeFrom(option: string, text: string, moments: boolean): Promise<string | Date> {
  const { momentFrom } = await import("./moment.js");
  const moment = momentFrom(option, text, Date.now());
  return moments || readDuration(text) === undefined ? moment : text;
}

/**
 * Makes a token. If the token would be too large, throws an error that names the flags.
 *
 * @param what - The contents of the flags; the beginning of a sentence.
 * @param flags - The flags that the user can shorten.
 */
export function withinSize<T>(call: () => T, what: string, flags: string): T {
  try {
    return call();
  } catch (error) {
    const [, over, size] =
      (error instanceof Error &&
        /^(a caveat|the token) has (\d+ bytes; .*)$/.exec(error.message)) ||
      [];
    if (size === undefined) throw error;
    const message =
      over === "a caveat" ? `${what} take ${size}` : `with ${what} the token has ${size}`;
    throw usageError(message, `shorten ${flags} or the lists`);
  }
}

function toCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number, such as 0 or 2.");
}
