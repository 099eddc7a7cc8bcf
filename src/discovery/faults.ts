import { type Json, quotedName } from "../bytes/json.js";
import type { DiscoveryDenial } from "./denial.js";

/** Collects the faults of a card while the card is read; at most 100, since a card may be hostile. */
export interface Faults {
  readonly list: readonly DiscoveryDenial[];
  /**
   * @param rule - The specific cause, such as `too_deep`.
   * @param path - JSON Pointer to the place of the fault.
   */
  add(rule: string, path: string, message: string, more?: FaultDetails): void;
}

interface FaultDetails {
  readonly expected?: Json;
  readonly actual?: Json;
  readonly nearest?: string | undefined;
}

/** Maximum number of faults that are collected. */
const MOST = 100;

export function createFaults(): Faults {
  const list: DiscoveryDenial[] = [];
  return {
    list,
    add(rule, path, message, { nearest, ...more } = {}) {
      const text = `${shownPath(path)}: ${message}`;
      // A claim that is read again for each interface is reported once.
      if (list.length >= MOST || list.some((one) => one.message === text)) return;
      const near = nearest === undefined ? {} : { nearest };
      list.push({
        code: "card_malformed",
        rule,
        path: bounded(path),
        message: text,
        ...more,
        ...near,
      });
    },
  };
}

/** Returns the JSON Pointer (RFC 6901) to a property of the value at `base`. */
export function pointer(base: string, ...steps: readonly (string | number)[]): string {
  return steps.reduce<string>(
    (path, step) => `${path}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    base,
  );
}

const MAX_POINTER = 2048;
const MAX_SHOWN = 200;

/** Returns the pointer. A pointer that is too long for any real card becomes the pointer to the whole card. */
export function bounded(path: string): string {
  return path.length > MAX_POINTER ? "" : path;
}

/** Formats a pointer for messages: shortened, with control characters replaced. */
export function shownPath(path: string): string {
  if (path === "") return "the card";
  const start = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}...` : path;
  return start.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** Formats a JSON value for messages: a string shortened and in quotes, an object or array by its type. */
export function shown(value: Json): string {
  if (typeof value === "string") return quotedName(value);
  if (value === null || typeof value !== "object") return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
