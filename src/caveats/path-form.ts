import { isWellFormed } from "../bytes/utf8.js";

/** Ranges of code points. Each range includes its first and its last code point. */
type Ranges = readonly (readonly [first: number, last: number])[];

/** Control characters, and line and paragraph separators. */
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

/** Code points beyond ASCII whose NFKC form in Unicode 17.0 contains one of `/ . \ : % ~`. */
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

/** Code points that no path may contain, besides `\`, `:` and `%` (docs/spec.md, section 5.2). */
export const EXCLUDED_FROM_PATHS: Ranges = [...CONTROLS, ...IGNORABLE, ...LOOKALIKES];

/** Spaces that no segment may begin or end with. */
const SPACES: Ranges = [
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];

/** Formats ranges for a character class of a regular expression. */
function classOf(ranges: Ranges): string {
  return ranges
    .map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`)
    .join("");
}

const SPACE = classOf(SPACES);

/**
 * Matches everything that a path must not contain, except lone surrogates. It also matches the path `/`, which {@link
 * isPath} allows.
 */
const FLAW: RegExp = new RegExp(
  [
    `[\\\\:%${classOf(EXCLUDED_FROM_PATHS)}]`,
    // An empty segment, or an empty path.
    "//|/$|^$",
    "^/?~",
    `(?:^|/)[${SPACE}]`,
    `[${SPACE}.](?:/|$)`,
  ].join("|"),
  "u",
);

/**
 * Returns whether a string is a path in the strict form (docs/spec.md, section 5.2). The form is narrower than
 * what file systems accept, so that all POSIX programs that open such a path open the same file.
 */
export function isPath(text: string): boolean {
  return text === "/" || (isWellFormed(text) && !FLAW.test(text));
}

/** Returns the segments of a path, without empty segments and `.`. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** Returns whether `path` is `folder` or below it. Both must be in the strict form. */
export function isBelow(folder: string, path: string): boolean {
  if (folder === "/") return path.startsWith("/");
  return path === folder || path.startsWith(`${folder}/`);
}
