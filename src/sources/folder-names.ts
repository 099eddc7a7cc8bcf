import { MAX_RESOURCE_NAME_BYTES } from "../agent/resources/filter.js";

/** Longest name of a file or folder, in bytes of UTF-8. File systems have this limit. */
const MAX_SEGMENT_BYTES = 255;
/**
 * Longest name of a new file, in bytes of UTF-8. The temporary file, whose name is longer, must also be within
 * the limit.
 */
const MAX_NEW_NAME_BYTES = 200;

const TEXT_FILE = /\.(?:md|txt)$/i;
const CONTROL = /\p{Cc}/u;
// On Windows, a colon denotes a drive or another data stream of a file.
const FORBIDDEN = process.platform === "win32" ? /[\\/:]/ : /[\\/]/;

/** A parsed resource name. */
export interface FolderName {
  readonly kind: "item" | "collection";
  /** The path within the folder. Its first segment is the collection. */
  readonly segments: readonly string[];
}

/**
 * Parses the name of a resource: `reports/2025/q3.md` is an item, `reports/` a collection. Returns `undefined`
 * for a name that no resource can have. Such names include every path that could lead out of the folder or to a
 * hidden file.
 */
export function readFolderName(name: string): FolderName | undefined {
  if (Buffer.byteLength(name) > MAX_RESOURCE_NAME_BYTES) return undefined;
  const kind = name.endsWith("/") ? "collection" : "item";
  const segments = (kind === "collection" ? name.slice(0, -1) : name).split("/");
  if (!segments.every(isSegment)) return undefined;
  if (kind === "collection") return segments.length === 1 ? { kind, segments } : undefined;
  return segments.length > 1 && isTextFile(name) ? { kind, segments } : undefined;
}

/** Returns whether a string can be one segment of a path and is not the name of a hidden file. */
export function isSegment(name: string): boolean {
  const sound = name !== "" && name.isWellFormed() && !name.startsWith(".");
  if (!sound || CONTROL.test(name) || FORBIDDEN.test(name)) return false;
  return Buffer.byteLength(name) <= MAX_SEGMENT_BYTES;
}

/** Returns whether the extension of a file is that of a text file. */
export function isTextFile(name: string): boolean {
  return TEXT_FILE.test(name);
}

/** Returns whether a new file may have this name. */
export function isNewFileName(name: string): boolean {
  return isSegment(name) && isTextFile(name) && Buffer.byteLength(name) <= MAX_NEW_NAME_BYTES;
}
