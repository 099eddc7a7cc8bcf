import type { Figures, Size } from "./measure.mjs";

export interface Results {
  command: string;
  machine: Record<string, string | number>;
  versions: Record<string, string>;
  size: Size;
  figures: Figures[];
}
export function markdown(results: Results): string;
export function summary(results: Results): string;
export function shown(document: string): string;
export function withResults(document: string, results: Results): string;
