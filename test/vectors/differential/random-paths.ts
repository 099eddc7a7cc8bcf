import { EXCLUDED_FROM_PATHS } from "../../../src/caveats/path-form.js";
import type { Random } from "../../fuzz/random.js";

const SEGMENTS = [
  "a",
  "data",
  "data2",
  "b.c",
  "..a",
  "a..b",
  "~b",
  "a b",
  "-",
  "*",
  "é",
  "日本",
  "😀",
];
/** Segments that no path in the strict form contains, but that some readers treat as another segment. */
const ESCAPES = [
  "",
  ".",
  "..",
  "...",
  "~",
  "~root",
  "a.",
  "a ",
  " a",
  "a\\b",
  "C:",
  "a:b",
  "%2e%2e",
  "..;",
  "a\0",
  "\n",
];
const SPACES = [0x20, 0xa0, 0x1680, 0x2000, 0x200a, 0x202f, 0x205f, 0x3000];
/** The first and last character of all excluded ranges, and their neighbours; also some surrogates. */
const EDGES = [
  ...[...EXCLUDED_FROM_PATHS, ...SPACES.map((one) => [one, one] as const)].flatMap(
    ([first, last]) => [Math.max(first - 1, 0), first, last, last + 1],
  ),
  0x2f,
  0x5c,
  0x3a,
  0x25,
  0x7e,
  0x2e,
  0xd800,
  0xdfff,
  0xe000,
  0x10ffff,
];

/** Generates a segment of a path; one time in `odd`, a string that is nearly a segment. */
export function randomSegment(random: Random, odd = 8): string {
  const plain = random.pick(SEGMENTS);
  if (!random.once(odd)) return plain;
  if (random.once(2)) return random.pick(ESCAPES);
  const at = random.pick([0, 1, plain.length]);
  const inserted = random.once(4) ? random.below(0x11_0000) : random.pick(EDGES);
  return plain.slice(0, at) + String.fromCodePoint(inserted) + plain.slice(at);
}

/** Generates a path. The smaller `odd` is, the more often the result is only nearly a path. */
export function randomPath(random: Random, odd = 8): string {
  const text = random.many(1 + random.below(3), () => randomSegment(random, odd)).join("/");
  if (random.once(4 * odd))
    return random.pick(["/", "", "//", `/${"a".repeat(4094 + random.below(4))}`]);
  return (random.once(3) ? "" : "/") + text + (random.once(2 * odd) ? "/" : "");
}

/** Generates a path that is often `folder` or below it, and often beside it. */
export function pathNear(random: Random, folder: string): string {
  switch (random.below(10)) {
    case 0:
      return folder;
    case 1:
      return `${folder}${random.pick(["2", "/", "//", ".", " ", "/..", "/../x", "/./x", "\0", "%2f"])}`;
    case 2:
      return folder.slice(0, random.below(folder.length + 1));
    case 3:
      return folder.startsWith("/") ? folder.slice(1) : `/${folder}`;
    case 4:
      return randomPath(random);
    case 5:
      return random.pick([
        folder.toUpperCase(),
        folder.normalize("NFD"),
        `/${folder}`,
        `./${folder}`,
      ]);
    default:
      return `${folder === "/" ? "" : folder}/${randomSegment(random)}`;
  }
}
