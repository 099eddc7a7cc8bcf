import {
  type Built,
  bind,
  chain,
  dischargeOf,
  located,
  type Third,
  third,
} from "../build/chain.js";
import { jsonV2, writeV2 } from "../build/forms.js";
import { as, KEY, type Presented, text } from "./macaroon-test.js";

/** A caveat of the maximum length. */
export const BIG: string = "x".repeat(8192);
/** An identifier of the maximum length. */
export const LONGEST_ID: string = "i".repeat(2048);
const THIRDS: readonly Third[] = Array.from({ length: 9 }, (_, at) => third(`ask ${at}`));

/** Returns a macaroon of exactly `size` bytes in the v2 binary form. */
export function sized(size: number, before: readonly string[]): Built {
  const [built] = filled(size, (filler) => [chain(KEY, "id", [...before, filler])]);
  return built as Built;
}

export function caveats(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `caveat ${at}`);
}

/** Returns a macaroon with `count` third-party caveats, followed by their discharges. */
export function asking(count: number): Built[] {
  const asked = THIRDS.slice(0, count);
  const root = chain(KEY, "id", asked);
  return [root, ...asked.map((one) => bind(root, dischargeOf(one)))];
}

/** Returns a macaroon and a discharge that together have `size` bytes. */
export function together(size: number): Built[] {
  const [ask] = THIRDS as [Third];
  return filled(size, (filler) => {
    const root = chain(KEY, "id", [ask, "x".repeat(5000)]);
    return [root, bind(root, dischargeOf(ask, [filler]))];
  });
}

/**
 * Returns macaroons that together have exactly `size` bytes. `make` builds them with a filler, whose length is
 * searched.
 */
export function filled(size: number, make: (filler: string) => Built[]): Built[] {
  const bytesOf = (all: readonly Built[]): number =>
    all.reduce((sum, one) => sum + writeV2(one).length, 0);
  // A longer field needs up to two more bytes for its length.
  const most = size - bytesOf(make(""));
  for (let length = most; length > most - 3; length--) {
    const all = make("x".repeat(length));
    if (bytesOf(all) === size) return all;
  }
  throw new Error(`no macaroons of ${size} bytes`);
}

/** Pads a JSON text with spaces to `length` UTF-16 code units. */
export function padded(built: Built, length: number): Presented {
  return text(JSON.stringify(jsonV2(built)).padEnd(length, " "), built);
}

/**
 * A macaroon whose location has 500 characters. Each character has two UTF-16 code units and four bytes, but is
 * one code point.
 */
export const ASTRAL: Built = located(chain(KEY, "id"), "\u{1f600}".repeat(500));
export const LOCATION: string = "l".repeat(2000);

/** Returns a hop with an array of `count` elements. */
export function members(count: number): string {
  return `{"operations":[${Array.from({ length: count }, (_, at) => `"${at}"`).join()}]}`;
}

export function holds(caveat: string): Presented {
  return as("v2", chain(KEY, "id", [caveat]));
}

export function array(count: number): string {
  return `[${Array.from({ length: count }, (_, at) => `"${at}"`).join()}]`;
}

export function discharged(ask: Third, identifier = "id"): Built[] {
  const root = chain(KEY, identifier, [ask]);
  return [root, bind(root, dischargeOf(ask))];
}

export function withDischarge(links: readonly string[], ask: Third = third("ask 0")): Built[] {
  const root = chain(KEY, "id", [ask]);
  return [root, bind(root, dischargeOf(ask, links))];
}
