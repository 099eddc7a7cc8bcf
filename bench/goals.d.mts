import type { Figures } from "./measure.mjs";

export interface Goal {
  work: string;
  /** The name of a ratio or of another value in the figures. */
  measure: string;
  sense: "at least" | "at most";
  goal: number;
}
export const GOALS: readonly Goal[];
export function outcome(goal: Goal, measured: number | undefined): string;
export function goalRows(figures: readonly Figures[]): (string | number | null)[][];
