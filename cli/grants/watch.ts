import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "../../src/agent/registry/registry.js";
import type { Context } from "../context.js";
import { printJson, printLine, stdoutPaint } from "../output.js";
import type { GlobalOptions } from "../verb.js";
import { type ListChoice, listed, listedLine, standing } from "./list.js";

/** Milliseconds between two looks: the agent is another process. */
const INTERVAL = 1000;

/**
 * Prints what is listed, and from then on each approval and grant that is new or changes, until the command
 * is stopped.
 */
export async function watch(
  context: Context,
  registry: Registry,
  options: GlobalOptions & ListChoice,
): Promise<void> {
  const signal = context.untilStopped();
  const paint = stdoutPaint(context);
  const known = new Map<string, string>();
  while (!signal.aborted) {
    // What comes to its end is worth a line too, if it has been seen before.
    const all = await listed(registry, { ...options, all: true });
    const open = await idsOf(registry, options);
    for (const one of all) {
      const stands = standing(one);
      const before = known.get(one.id);
      if (before === stands || (before === undefined && !open.has(one.id))) continue;
      known.set(one.id, stands);
      if (options.json === true) printJson(context, one);
      else printLine(context, listedLine(one, paint, Date.now()));
    }
    await pause(INTERVAL, undefined, { signal }).catch(() => {});
  }
}

async function idsOf(registry: Registry, options: ListChoice): Promise<ReadonlySet<string>> {
  return new Set((await listed(registry, options)).map(({ id }) => id));
}
