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

export const BIG: string = "x".repeat(2048);
const THIRDS: readonly Third[] = Array.from({ length: 9 }, (_, at) => third(`ask ${at}`));

/** A macaroon of exactly `size` bytes in the v2 binary form, `rest` included. */
export function sized(size: number, before: readonly string[], rest: readonly Built[] = []): Built {
  const others = rest.reduce((sum, one) => sum + writeV2(one).length, 0);
  for (let filler = 2048; filler > 0; filler--) {
    const built = chain(KEY, "id", [...before, "x".repeat(filler)]);
    if (writeV2(built).length + others === size) return built;
  }
  throw new Error(`no macaroon of ${size} bytes`);
}

export function caveats(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `caveat ${at}`);
}

/** A macaroon with `count` third-party caveats, and their discharges. */
export function asking(count: number): Built[] {
  const asked = THIRDS.slice(0, count);
  const root = chain(KEY, "id", asked);
  return [root, ...asked.map((one) => bind(root, dischargeOf(one)))];
}

/** A macaroon and a discharge that together have `size` bytes. */
export function together(size: number): Built[] {
  const [ask] = THIRDS as [Third];
  for (let filler = 2048; filler > 0; filler--) {
    const root = chain(KEY, "id", [ask, BIG, BIG]);
    const discharge = bind(root, dischargeOf(ask, [BIG, "x".repeat(filler)]));
    const all = [root, discharge];
    if (all.reduce((sum, one) => sum + writeV2(one).length, 0) === size) return all;
  }
  throw new Error(`no pair of ${size} bytes`);
}

/** A JSON text padded with spaces to `length` UTF-16 code units. */
export function padded(built: Built, length: number): Presented {
  return text(JSON.stringify(jsonV2(built)).padEnd(length, " "), built);
}

/** Two UTF-16 code units, four bytes and one code point each. */
export const ASTRAL: Built = located(chain(KEY, "id"), "\u{1f600}".repeat(500));
export const LOCATION: string = "l".repeat(2000);

/** A hop with an array of `count` members. */
export function members(count: number): string {
  return `{"operations":[${Array.from({ length: count }, (_, at) => `"${at}"`).join()}]}`;
}

export function holds(caveat: string): Presented {
  return as("v2", chain(KEY, "id", [caveat]));
}

export function array(count: number): string {
  return `[${Array.from({ length: count }, (_, at) => `"${at}"`).join()}]`;
}

export function discharged(ask: Third): Built[] {
  const root = chain(KEY, "id", [ask]);
  return [root, bind(root, dischargeOf(ask))];
}

export function withDischarge(links: readonly string[]): Built[] {
  const [ask] = THIRDS as [Third];
  const root = chain(KEY, "id", [ask]);
  return [root, bind(root, dischargeOf(ask, links))];
}
