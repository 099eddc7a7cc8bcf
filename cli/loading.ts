import type { Context } from "./context.js";
import { sayOver } from "./output.js";

/** Milliseconds after which it is worth saying. */
const SOON = 1000;

/** Shows on a terminal how much of a long revocation list has been read, and removes that again. */
export function loadingShown(context: Pick<Context, "stderr">): (part: number) => void {
  const began = performance.now();
  let shown: number | undefined;
  return (part) => {
    const percent = Math.floor(part * 100);
    const isDone = percent === 100;
    if (!context.stderr.isTerminal || percent === shown) return;
    if (isDone ? shown === undefined : performance.now() - began < SOON) return;
    shown = percent;
    sayOver(context, isDone ? "\u001b[K" : `reading the revocation list: ${percent} %`);
  };
}
