import { MAX_RESOURCE_NAME_BYTES } from "../agent/resources/filter.js";

/** Longest name of a file or folder in bytes of UTF-8, as in file systems. */
const MAX_SEGMENT_BYTES = 255;
/** Longest name of a new file in bytes of UTF-8, which leaves room for the name of the temporary file. */
const MAX_NEW_NAME_BYTES = 200;

const TEXT_FILE = /\.(?:md|txt)$/i;
const CONTROL = /\p{Cc}/u;
// On Windows a colon refers to a drive or to another stream of the file.
const FORBIDDEN = process.platform === "win32" ? /[\\/:]/ : /[\\/]/;

/** A parsed name: the segments of a path within the folder. */
export interface FolderName {
  readonly kind: "item" | "collection";
  /** The collection first. */
  readonly segments: readonly string[];
}

/**
 * Parses a name: `reports/2025/q3.md` is an item, `reports/` a collection. Returns `undefined` for names that
 * no resource can have, including all that could lead outside the folder or to a hidden file.
 */
export function readFolderName(name: string): FolderName | undefined {
  if (Buffer.byteLength(name) > MAX_RESOURCE_NAME_BYTES) return undefined;
  const kind = name.endsWith("/") ? "collection" : "item";
  const segments = (kind === "collection" ? name.slice(0, -1) : name).split("/");
  if (!segments.every(isSegment)) return undefined;
  if (kind === "collection") return segments.length === 1 ? { kind, segments } : undefined;
  return segments.length > 1 && isTextFile(name) ? { kind, segments } : undefined;
}

/** Returns whether a string can name a visible file or folder: one segment, not hidden. */
export function isSegment(name: string): boolean {
  const sound = name !== "" && name.isWellFormed() && !name.startsWith(".");
  if (!sound || CONTROL.test(name) || FORBIDDEN.test(name)) return false;
  return Buffer.byteLength(name) <= MAX_SEGMENT_BYTES;
}

/** Returns whether a file counts as a text, by the extension of its name. */
export function isTextFile(name: string): boolean {
  return TEXT_FILE.test(name);
}

/** Returns whether a file with this name can be made. */
export function isNewFileName(name: string): boolean {
  return isSegment(name) && isTextFile(name) && Buffer.byteLength(name) <= MAX_NEW_NAME_BYTES;
}
