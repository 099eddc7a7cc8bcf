import type { Plot } from "./measure.mjs";

export function svg(plot: Plot): string;
