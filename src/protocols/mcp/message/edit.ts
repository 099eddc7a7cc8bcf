import { inexactNumber } from "../../../bytes/exact-json.js";
import { closingQuote, type Json } from "../../../bytes/json.js";

/** The path of a value in a message: property names and array indices from the root. */
export type Path = readonly (string | number)[];

/** A change of one value. */
export interface Edit {
  readonly path: Path;
  /** The new value; `undefined` removes the property or the array element. */
  readonly value: Json | undefined;
}

/** A property of an object or an element of an array, with its position in the text. */
interface Member {
  readonly key: string | number;
  /** Offset of the opening quote of the property name, or of the array element. */
  readonly start: number;
  /** Offset of the value. */
  readonly valueStart: number;
  /** Offset after the value. */
  readonly end: number;
}

/** A part of the text with its replacement. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Changes by key: a new value, or changes within the value. */
type EditTree = Map<string | number, EditTree | { readonly value: Json | undefined }>;

const SCALAR = /[^\s,\]}]*/y;
const SPACE = /[\t\n\r ]*/y;

/**
 * Changes values in a text, and keeps every character outside these values. Adds a missing property at the end of its
 * object. An edit has no effect if it removes a missing property, or if its path leads through a missing value.
 *
 * @param text - A JSON text that `JSON.parse` accepts, without duplicate properties.
 * @throws TypeError if a path is empty, or leads into a value that another edit replaces.
 */
export function edit(text: string, edits: readonly Edit[]): string {
  const cuts = cutsWithin(text, skipSpace(text, 0), treeOf(edits));
  let written = "";
  let at = 0;
  for (const cut of cuts) {
    written += text.slice(at, cut.start) + cut.text;
    at = cut.end;
  }
  return written + text.slice(at);
}

/** Returns the exact text of a value; `undefined` if the path leads to no value. */
export function textAt(text: string, path: Path): string | undefined {
  let start = skipSpace(text, 0);
  let end = endOfValue(text, start);
  for (const key of path) {
    const member = membersOf(text, start).find((one) => one.key === key);
    if (member === undefined) return undefined;
    start = member.valueStart;
    end = member.end;
  }
  return text.slice(start, end);
}

/**
 * Returns the first number in a value that a double does not represent exactly as written, such as 9007199254740993.
 * The gate would judge the rounded number, but the server may read the exact one.
 */
export function inexactNumberIn(text: string, path: Path): string | undefined {
  const value = textAt(text, path);
  return value === undefined ? undefined : inexactNumber(value);
}

function treeOf(edits: readonly Edit[]): EditTree {
  const root: EditTree = new Map();
  for (const { path, value } of edits) {
    const last = path.at(-1);
    if (last === undefined) throw new TypeError("edits: a path must name a property");
    let tree = root;
    for (const key of path.slice(0, -1)) {
      const inner = tree.get(key) ?? new Map();
      if (!(inner instanceof Map)) throw overlapping(path);
      tree.set(key, inner);
      tree = inner;
    }
    if (tree.has(last)) throw overlapping(path);
    tree.set(last, { value });
  }
  return root;
}

function overlapping(path: Path): TypeError {
  return new TypeError(`edits: two of them change ${JSON.stringify(path)}`);
}

/** Returns the replacements in the object or array at offset `open`, in the order of the text. */
function cutsWithin(text: string, open: number, tree: EditTree): readonly Cut[] {
  const members = membersOf(text, open);
  const isRemoved = ({ key }: Member): boolean => {
    const change = tree.get(key);
    return change !== undefined && !(change instanceof Map) && change.value === undefined;
  };
  const lastKept = members.findLastIndex((member) => !isRemoved(member));
  const cuts: Cut[] = [];
  for (const [at, member] of members.entries()) {
    const { key, start, valueStart, end } = member;
    const change = tree.get(key);
    if (change === undefined) continue;
    if (change instanceof Map) {
      for (const cut of cutsWithin(text, valueStart, change)) cuts.push(cut);
    } else if (change.value !== undefined) {
      cuts.push({ start: valueStart, end, text: JSON.stringify(change.value) });
    } else if (at < lastKept) {
      // The cut includes the comma after the property or element.
      cuts.push({ start, end: members[at + 1]?.start ?? end, text: "" });
    } else {
      // The cut includes the comma before the property or element.
      cuts.push({ start: members[at - 1]?.end ?? start, end, text: "" });
    }
  }
  const added = addition(text, open, tree, members, lastKept === -1);
  return added === undefined ? cuts : [...cuts, added];
}

/** Returns the insertion of the properties that the object at offset `open` does not have. */
function addition(
  text: string,
  open: number,
  tree: EditTree,
  members: readonly Member[],
  isEmpty: boolean,
): Cut | undefined {
  if (text.charAt(open) !== "{") return undefined;
  const known = new Set(members.map(({ key }) => key));
  const properties: string[] = [];
  for (const [key, change] of tree) {
    if (known.has(key) || change instanceof Map || change.value === undefined) continue;
    properties.push(`${JSON.stringify(String(key))}:${JSON.stringify(change.value)}`);
  }
  if (properties.length === 0) return undefined;
  const at = members.at(-1)?.end ?? open + 1;
  return { start: at, end: at, text: (isEmpty ? "" : ",") + properties.join(",") };
}

/**
 * Lists the properties of the object, or the elements of the array, at offset `open`; returns an empty list for any
 * other value.
 */
function membersOf(text: string, open: number): readonly Member[] {
  const bracket = text.charAt(open);
  if (bracket !== "{" && bracket !== "[") return [];
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (at < text.length && text.charAt(at) !== "}" && text.charAt(at) !== "]") {
    const start = at;
    let key: string | number = members.length;
    if (bracket === "{") {
      const quote = closingQuote(text, at + 1);
      key = String(JSON.parse(text.slice(at, quote + 1)));
      const colon = skipSpace(text, quote + 1);
      at = skipSpace(text, colon + 1);
    }
    const end = endOfValue(text, at);
    members.push({ key, start, valueStart: at, end });
    at = skipSpace(text, end);
    if (text.charAt(at) === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** Returns the offset after the value at `start`. The function is not recursive, so any depth is safe. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = closingQuote(text, at + 1);
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (depth === 0) return after(SCALAR, text, at);
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, at: number): number {
  return after(SPACE, text, at);
}

/**
 * Returns the offset after the match of a sticky pattern at offset `at`. The pattern must also match the empty string.
 */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}
