export interface Size {
  rounds: number;
  milliseconds: number;
}
export interface Contender {
  name: string;
  /** Works for about this many milliseconds; returns nanoseconds per operation. */
  sample: (milliseconds: number) => Promise<number>;
}
/** Nanoseconds of each round, by the name of the contender. */
export type Rounds = Record<string, number[]>;
export interface Plot {
  /** The name of the picture's file in `docs/bench`, without the extension. */
  file: string;
  title: string;
  x: string;
  y: string;
  /** The caption of the picture. */
  says: string;
  lines: { name: string; points: [number, number][] }[];
}
/** The result of a part of the benchmark: a table, ratios and other values by name, and lines to draw. */
export interface Figures {
  title: string;
  about: string;
  columns: string[];
  rows: (string | number | null)[][];
  ratios: Record<string, number>;
  /** Values for goals that are not ratios, such as milliseconds or bytes. */
  values?: Record<string, number>;
  plots?: Plot[];
}
export function median(values: readonly number[]): number;
export function ratio(rounds: Rounds, first: string, second: string): number | undefined;
export function here(name: string, operation: () => unknown): Contender;
export function inTurns(contenders: readonly Contender[], size: Size): Promise<Rounds>;
/** A contender that times itself: returns milliseconds per operation. */
export function timed(name: string, operation: () => Promise<number>): Contender;
export function rounded(value: number): number;
export function each<T>(pool: readonly T[], operation: (one: T) => unknown): () => unknown;
export function microseconds(rounds: Rounds, name: string): number | null;
