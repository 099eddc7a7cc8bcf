import { styleText } from "node:util";
import type { Context } from "./context.js";

/** Colours for one stream, or the text as it is where colours are not wanted. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>
>;

/**
 * Colours only for a terminal. `NO_COLOR` (any value) and `TERM=dumb` turn them off, `FORCE_COLOR`
 * turns them on where nothing has turned them off.
 */
export function stdoutPaint({ env, stdout }: Context): Paint {
  return paintIf(wantsColour(env, stdout.isTerminal));
}

/** Colours for what is told beside the data, by the same rules. */
export function stderrPaint({ env, stderr }: Context): Paint {
  return paintIf(wantsColour(env, stderr.isTerminal));
}

function wantsColour(env: Context["env"], terminal: boolean): boolean {
  if (isSet(env["NO_COLOR"])) return false;
  const forced = env["FORCE_COLOR"];
  if (isSet(forced)) return forced !== "0" && forced !== "false";
  return terminal && env["TERM"] !== "dumb";
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

function paintIf(colour: boolean): Paint {
  const paint = (format: keyof Paint) => (text: string) =>
    // Whether the stream takes colours is decided above; Node would look at its own.
    colour ? styleText(format, text, { validateStream: false }) : text;
  return {
    ...{ bold: paint("bold"), dim: paint("dim") },
    ...{ red: paint("red"), green: paint("green"), yellow: paint("yellow") },
  };
}
