import { accessSync, constants, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, isErrno, reasonFor } from "../src/system/error-code.js";
import { type CliError, environmentError, usageError } from "./exit.js";
import { printable } from "./output.js";

/**
 * Writes a file of mode 0600, whole or not at all. Replaces the contents of the file.
 *
 * @param named - The name of the file in messages.
 * @throws CliError if the file cannot be written. The file is then unchanged.
 */
export async function putFile(path: string, text: string, named: string = path): Promise<void> {
  const { putPrivateFile } = await import("../src/storage/new-file.js");
  assertNoFolder(path, named);
  try {
    putPrivateFile(path, text, renameSync);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw notWritten(named, error);
  }
}

function notWritten(named: string, error: unknown): CliError {
  const message = `could not write ${printable(named)}: ${reasonFor(errorCode(error), "write")}`;
  const hint = "check the folder, its permissions and the space on the disk";
  return environmentError("output_failed", message, hint);
}

/**
 * Checks that this user may write a file at a path, before the work whose result goes into the file.
 *
 * @throws CliError if the file's folder is missing, or this user may not write to it.
 */
export function assertWritable(path: string): void {
  assertNoFolder(path);
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw notWritten(path, error);
  }
}

/** @throws CliError if a path at which a file is to be written is a folder. */
export function assertNoFolder(path: string, named: string = path): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw usageError(`${printable(named)} is a folder`, "name a file in it");
}
