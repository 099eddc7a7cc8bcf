import { MAX_RESOURCE_NAME_BYTES } from "../agent/resources/filter.js";

/** UTF-8 bytes of a file's or a folder's name, as file systems have it. */
const MAX_SEGMENT_BYTES = 255;
/** UTF-8 bytes of a new file's name, with room for that of the temporary file. */
const MAX_NEW_NAME_BYTES = 200;

const TEXT_FILE = /\.(?:md|txt)$/i;
const CONTROL = /\p{Cc}/u;
// On Windows a colon leads to a drive or to another stream of the file.
const FORBIDDEN = process.platform === "win32" ? /[\\/:]/ : /[\\/]/;

/** What a name in a folder leads to: a path's segments, from the folder down. */
export interface FolderName {
  readonly kind: "item" | "collection";
  /** The collection first. */
  readonly segments: readonly string[];
}

/**
 * Reads a name: `reports/2025/q3.md` is an item, `reports/` a collection. Undefined for what no
 * resource can be called, among it all that could lead out of the folder or to a hidden file.
 */
export function readFolderName(name: string): FolderName | undefined {
  if (Buffer.byteLength(name) > MAX_RESOURCE_NAME_BYTES) return undefined;
  const kind = name.endsWith("/") ? "collection" : "item";
  const segments = (kind === "collection" ? name.slice(0, -1) : name).split("/");
  if (!segments.every(isSegment)) return undefined;
  if (kind === "collection") return segments.length === 1 ? { kind, segments } : undefined;
  return segments.length > 1 && isTextFile(name) ? { kind, segments } : undefined;
}

/** Whether this can be the name of a file or folder that is seen: not hidden, and one segment. */
export function isSegment(name: string): boolean {
  const sound = name !== "" && name.isWellFormed() && !name.startsWith(".");
  if (!sound || CONTROL.test(name) || FORBIDDEN.test(name)) return false;
  return Buffer.byteLength(name) <= MAX_SEGMENT_BYTES;
}

/** Whether a file is taken for a text, by the ending of its name. */
export function isTextFile(name: string): boolean {
  return TEXT_FILE.test(name);
}

/** Whether a file of this name can be made. */
export function isNewFileName(name: string): boolean {
  return isSegment(name) && isTextFile(name) && Buffer.byteLength(name) <= MAX_NEW_NAME_BYTES;
}
