// Most JSON in tokens is plain: canonical, in ASCII, without escapes, its numbers whole. One pass over the bytes
// shows it, with nothing built; what is not plain may be canonical all the same, and json.ts decides.

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

// Every whole number of so many digits is a double, and its canonical form is these digits.
const MAX_DIGITS = 15;
const LITERALS: readonly Uint8Array[] = /* @__PURE__ */ ["true", "false", "null"].map((word) =>
  Uint8Array.from(word, (letter) => letter.charCodeAt(0)),
);

/** What plain JSON is held to. */
export interface PlainBounds {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number;
  /** Members of one array. */
  readonly members: number;
}

/** What is read only once it is within bounds, whatever they are. */
const UNBOUNDED: PlainBounds = /* @__PURE__ */ Object.freeze({ depth: 64, members: Infinity });

/**
 * Whether `bytes` from `start` to `end` are plain JSON within bounds. If so, they are the canonical form
 * (RFC 8785) of what `JSON.parse` makes of them, no name occurs twice, and nothing exceeds the bounds. If not, any
 * of these may hold.
 */
export function isPlainJson(
  bytes: Uint8Array,
  start: number,
  end: number,
  bounds: PlainBounds = UNBOUNDED,
): boolean {
  return valueEnd(bytes, start, end, bounds, bounds.depth) === end;
}

/** Where the value that starts at `at` ends; -1 if it is not plain. */
function valueEnd(
  bytes: Uint8Array,
  at: number,
  end: number,
  bounds: PlainBounds,
  depth: number,
): number {
  const first = at < end ? (bytes[at] as number) : 0;
  if (first === QUOTE) return stringEnd(bytes, at + 1, end);
  if (first === OPENING_BRACE) return depth < 1 ? -1 : objectEnd(bytes, at + 1, end, bounds, depth);
  if (first === OPENING_BRACKET)
    return depth < 1 ? -1 : arrayEnd(bytes, at + 1, end, bounds, depth);
  if (first >= ZERO && first <= NINE) return numberEnd(bytes, at, end);
  return literalEnd(bytes, at, end);
}

/** @param at - After the opening brace. */
function objectEnd(
  bytes: Uint8Array,
  at: number,
  end: number,
  bounds: PlainBounds,
  depth: number,
): number {
  if (bytes[at] === CLOSING_BRACE) return at + 1;
  let before = -1;
  for (let from = at; from < end; ) {
    if (bytes[from] !== QUOTE) return -1;
    const afterName = stringEnd(bytes, from + 1, end);
    if (afterName < 0 || bytes[afterName] !== COLON) return -1;
    if (before >= 0 && !ascend(bytes, before, from + 1)) return -1;
    before = from + 1;
    const next = valueEnd(bytes, afterName + 1, end, bounds, depth - 1);
    if (next < 0) return -1;
    if (bytes[next] === CLOSING_BRACE) return next + 1;
    if (bytes[next] !== COMMA) return -1;
    from = next + 1;
  }
  return -1;
}

/** @param at - After the opening bracket. */
function arrayEnd(
  bytes: Uint8Array,
  at: number,
  end: number,
  bounds: PlainBounds,
  depth: number,
): number {
  // An array without members counts as one of one.
  if (bounds.members < 1) return -1;
  if (bytes[at] === CLOSING_BRACKET) return at + 1;
  let from = at;
  for (let count = 1; count <= bounds.members && from < end; count++) {
    const next = valueEnd(bytes, from, end, bounds, depth - 1);
    if (next < 0) return -1;
    if (bytes[next] === CLOSING_BRACKET) return next + 1;
    if (bytes[next] !== COMMA) return -1;
    from = next + 1;
  }
  return -1;
}

/** @param at - After the opening quote. */
function stringEnd(bytes: Uint8Array, at: number, end: number): number {
  for (let i = at; i < end; i++) {
    const code = bytes[i] as number;
    if (code === QUOTE) return i + 1;
    if (code < 0x20 || code > 0x7e || code === BACKSLASH) return -1;
  }
  return -1;
}

function numberEnd(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] === ZERO) return at + 1;
  let i = at + 1;
  while (i < end && (bytes[i] as number) >= ZERO && (bytes[i] as number) <= NINE) i++;
  return i - at <= MAX_DIGITS ? i : -1;
}

function literalEnd(bytes: Uint8Array, at: number, end: number): number {
  for (const word of LITERALS) {
    if (at + word.length <= end && word.every((code, i) => bytes[at + i] === code))
      return at + word.length;
  }
  return -1;
}

/** Whether one name comes before another; both start at the offsets and end with a quote. */
function ascend(bytes: Uint8Array, one: number, other: number): boolean {
  for (let i = 0; ; i++) {
    const a = bytes[one + i] as number;
    const b = bytes[other + i] as number;
    // A name that ends here comes before all that go on.
    if (a === QUOTE || b === QUOTE) return b !== QUOTE;
    if (a !== b) return a < b;
  }
}
