import { isObject, isTexts } from "../../src/bytes/json.js";
import type { ExpectedDenial } from "./file.js";

type Value = { readonly [name: string]: unknown };

/** Formats an answer about cards, chains or registries as one line; `undefined` if it is malformed. */
export function discoveryLine(
  op: "discover" | "chain" | "registry",
  value: Value,
): string | undefined {
  const { result, denials, rules } = value;
  if (op === "discover" && result === "usable") return usable(value);
  if (op !== "registry" && result === "refused") {
    return isDenials(denials, op) ? refused(denials, op) : undefined;
  }
  if (op === "discover") return undefined;
  if (result === "valid") return result;
  if (op !== "registry" || result !== "invalid" || !isNumbers(rules)) return undefined;
  return `invalid: rules ${[...new Set(rules)].sort().join(", ")}`;
}

function usable({ interface: chosen, version, warnings }: Value): string | undefined {
  if (!isObject(chosen) || typeof version !== "string" || !isTexts(warnings)) return undefined;
  const { url, binding } = chosen;
  if (typeof url !== "string" || typeof binding !== "string") return undefined;
  const codes = [...new Set(warnings)].sort();
  const warned = codes.length === 0 ? "" : `, warnings ${codes.join(" ")}`;
  return `usable: ${binding} at ${url}, version ${version}${warned}`;
}

/**
 * Formats the reasons of a refusal as a set of codes with their links. If a card is malformed, its further
 * reasons are ignored: they depend on how much of the card a reader could parse.
 */
function refused(denials: readonly ExpectedDenial[], op: "discover" | "chain"): string {
  const places = denials.map(({ code, link }) => ({
    code,
    link: op === "chain" ? link : undefined,
  }));
  const malformed = new Set(
    places.flatMap(({ code, link }) => (code === "card_malformed" ? [link] : [])),
  );
  const counted = places.filter(
    ({ code, link }) => code === "card_malformed" || !malformed.has(link),
  );
  const texts = counted.map(({ code, link }) => (link === undefined ? code : `${code} at ${link}`));
  return `refused: ${[...new Set(texts)].sort().join(", ")}`;
}

function isDenials(value: unknown, op: "discover" | "chain"): value is readonly ExpectedDenial[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isDenial(one, op));
}

function isDenial(value: unknown, op: "discover" | "chain"): boolean {
  if (!isObject(value)) return false;
  const { code, link } = value;
  return typeof code === "string" && (op === "discover" || Number.isSafeInteger(link));
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger);
}
