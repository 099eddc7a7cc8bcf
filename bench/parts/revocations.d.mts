import type { Figures } from "../measure.mjs";

export function run(size: { quick: boolean }): Promise<Figures[]>;
export function figuresOf(figures: Record<string, number>): Figures[];
