import { isWellFormed } from "../bytes/utf8.js";

/** Code points, as ranges from the first to the last of each. */
type Ranges = readonly (readonly [first: number, last: number])[];

/** Control characters, and the separators of lines and paragraphs. */
const CONTROLS: Ranges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x2029],
];

/** `Default_Ignorable_Code_Point` of Unicode 17.0. */
const IGNORABLE: Ranges = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfff8],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Code points beyond ASCII whose NFKC form in Unicode 17.0 has one of `/ . \ : % ~`. */
const LOOKALIKES: Ranges = [
  [0x2024, 0x2026],
  [0x2100, 0x2101],
  [0x2105, 0x2106],
  [0x2488, 0x249b],
  [0x2a74, 0x2a74],
  [0x33c2, 0x33c2],
  [0x33c7, 0x33c7],
  [0x33d8, 0x33d8],
  [0xfe13, 0xfe13],
  [0xfe19, 0xfe19],
  [0xfe30, 0xfe30],
  [0xfe52, 0xfe52],
  [0xfe55, 0xfe55],
  [0xfe68, 0xfe68],
  [0xfe6a, 0xfe6a],
  [0xff05, 0xff05],
  [0xff0e, 0xff0f],
  [0xff1a, 0xff1a],
  [0xff3c, 0xff3c],
  [0xff5e, 0xff5e],
  [0x1f100, 0x1f100],
];

/** The code points that no segment of a path may have, beside `/`, `\`, `:` and `%` (docs/spec.md, section 5.2). */
export const EXCLUDED_FROM_PATHS: Ranges = [...CONTROLS, ...IGNORABLE, ...LOOKALIKES];

/** The spaces with which no segment begins or ends. */
const SPACES: Ranges = [
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];

/** The ranges as part of a regular expression's character class. */
function classOf(ranges: Ranges): string {
  return ranges
    .map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`)
    .join("");
}

const SPACE = classOf(SPACES);

/** Whatever a path does not have, beside lone surrogates; `/` alone is one all the same. */
const FLAW: RegExp = new RegExp(
  [
    `[\\\\:%${classOf(EXCLUDED_FROM_PATHS)}]`,
    // An empty segment, or none at all.
    "//|/$|^$",
    "^/?~",
    `(?:^|/)[${SPACE}]`,
    `[${SPACE}.](?:/|$)`,
  ].join("|"),
  "u",
);

/**
 * Returns whether a string is a path in the strict form (docs/spec.md, section 5.2). The form is narrower than
 * what file systems read, so that POSIX programs that open a path as it is take it for one file.
 */
export function isPath(text: string): boolean {
  return text === "/" || (isWellFormed(text) && !FLAW.test(text));
}

/** Returns whether a path is a folder, or lies below it. Both are in the strict form. */
export function isBelow(folder: string, path: string): boolean {
  if (folder === "/") return path.startsWith("/");
  return path === folder || path.startsWith(`${folder}/`);
}
