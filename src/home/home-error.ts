import { errorCode, reasonFor } from "../system/error-code.js";

/**
 * The reason why a home cannot be used or created; stable.
 *
 * - `home_missing`: the folder does not exist, or has none of a home's files.
 * - `home_not_folder`: the path of the home is not a folder.
 * - `home_incomplete`: some of a home's files are missing.
 * - `home_unreadable`: this user cannot read the folder or a file in it.
 * - `config_malformed`: `config.json` is not JSON, or a property is wrong.
 * - `home_exists`: the folder is already a home, which is not overwritten.
 * - `folder_in_use`: the folder for a new home contains other files.
 * - `home_unwritable`: the folder cannot be created.
 */
export type HomeErrorCode =
  | "home_missing"
  | "home_not_folder"
  | "home_incomplete"
  | "home_unreadable"
  | "config_malformed"
  | "home_exists"
  | "folder_in_use"
  | "home_unwritable";

/** A home that cannot be used or created. `code` is for programs, `message` for people. */
export class HomeError extends Error {
  override readonly name = "HomeError";
  readonly code: HomeErrorCode;
  /** The folder or the file that has the problem. */
  readonly path: string;

  constructor(code: HomeErrorCode, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
  }
}

/** Maps a system error while reading a home's folder or files to a HomeError. */
export function unreadable(error: NodeJS.ErrnoException, path: string): HomeError {
  const forbidden = error.code === "EACCES" || error.code === "EPERM";
  const message = forbidden
    ? `${path} may not be read by this user`
    : `could not read ${path}: ${reasonFor(errorCode(error), "read")}`;
  return new HomeError("home_unreadable", path, message, error);
}
