import type { Node, ParseError } from "jsonc-parser";
import type { Json } from "../bytes/json.js";
import { pointer } from "./faults.js";

/** A fault or remark about a card. */
export interface CardFinding {
  readonly severity: FindingSeverity;
  /** The stable code of the finding. */
  readonly code: CardFindingCode;
  /** JSON Pointer to the part of the card; empty for the whole card. */
  readonly path: string;
  /** The line of that part in the text, counted from 1. */
  readonly line: number;
  /** The column of that part, counted from 1 in UTF-16 code units. */
  readonly column: number;
  /** A description of the finding, for people. It begins with the place in the card. */
  readonly message: string;
}

/** The severity of a finding. */
export type FindingSeverity =
  /**
   * No caller can rely on this part of the card: it violates A2A's schema or the discovery contract, or it
   * names something that does not exist.
   */
  | "error"
  /** Callers accept the card, but some callers overlook a property, or are at risk. */
  | "warning"
  /** Worth knowing, but not a fault. */
  | "remark";

type CardFindingCode =
  | "too_large"
  | "too_deep"
  | "not_json"
  /** An object has a property twice. */
  | "name_repeated"
  /** The card violates the schema of its version, or the params of the discovery contract violate their schema. */
  | "schema"
  /** A property that the card's version does not have. */
  | "member_unknown"
  /** A violation of the contract, found by {@link readCard}. */
  | "contract"
  /** A name in the card refers to nothing, or to two things. */
  | "reference"
  | "capability_deprecated"
  | "capability_incomplete"
  /** The card declares a capability that depends on delegates, but does not name its delegates. */
  | "delegates_absent"
  | "contract_absent"
  /** A card of A2A before 1.0. */
  | "version_older"
  | "address_insecure"
  | "media_type"
  /** More findings exist than are listed. */
  | "more";

/** A finding whose line is not yet known. */
export type Remark = Omit<CardFinding, "line" | "column">;

/** Adds line and column to findings. */
export interface Locator {
  locate(remark: Remark): CardFinding;
  at(offset: number, remark: Remark): CardFinding;
}

export function createLocator(text: string, root: Node | undefined): Locator {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const at = (offset: number, remark: Remark): CardFinding => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { ...remark, line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
  return { at, locate: (remark) => at(offsetOf(root, remark.path), remark) };
}

/**
 * Returns the offset of a pointer's target: of an array's element, or of a property's name. If the target is
 * missing, returns the offset of the innermost part that exists.
 */
function offsetOf(root: Node | undefined, path: string): number {
  let node = root;
  let offset = root?.offset ?? 0;
  for (const step of stepsOf(path)) {
    if (node?.type === "array") {
      node = node.children?.[Number(step)];
      if (node === undefined) return offset;
      offset = node.offset;
    } else {
      const property = node?.children?.findLast((one) => one.children?.[0]?.value === step);
      if (property === undefined) return offset;
      offset = property.offset;
      node = property.children?.[1];
    }
  }
  return offset;
}

function stepsOf(path: string): readonly string[] {
  return path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns every repeated property name in the objects of a document, with the offset of the repetition. */
export function repeatedNames(
  root: Node,
): readonly { readonly path: string; readonly name: string; readonly offset: number }[] {
  const found: { readonly path: string; readonly name: string; readonly offset: number }[] = [];
  const open: { readonly node: Node; readonly path: string }[] = [{ node: root, path: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    const names = new Set<string>();
    for (const [at, child] of (node.children ?? []).entries()) {
      if (node.type !== "object") {
        open.push({ node: child, path: pointer(path, at) });
        continue;
      }
      const [key, value] = child.children ?? [];
      const name = String(key?.value);
      if (names.has(name)) found.push({ path: pointer(path, name), name, offset: child.offset });
      names.add(name);
      if (value !== undefined) open.push({ node: value, path: pointer(path, name) });
    }
  }
  return found;
}

/** A parsed text: its value and syntax tree, or the offset at which it stops being JSON. */
export type Parsed =
  | { readonly ok: true; readonly value: Json; readonly root: Node }
  | { readonly ok: false; readonly offset: number };

export async function parseText(text: string): Promise<Parsed> {
  const { parseTree } = await import("jsonc-parser");
  const faults: ParseError[] = [];
  const root = parseTree(text, faults, { disallowComments: true });
  try {
    const value: Json = JSON.parse(text);
    return root === undefined ? { ok: false, offset: 0 } : { ok: true, value, root };
  } catch {
    return { ok: false, offset: faults[0]?.offset ?? text.length };
  }
}
