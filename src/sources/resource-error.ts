const MESSAGES = {
  source_missing: "there are no resources here",
  source_unreadable: "the resources cannot be read",
  source_unavailable: "these resources need a package that cannot be loaded",
  source_mismatch: "the resources are not as the configuration says",
  source_too_large: "there are more resources than may be looked through",
  name_invalid: "no resource can have this name",
  text_invalid: "this text cannot be stored",
  collection_missing: "there is no such collection",
  item_missing: "there is no such resource",
  item_exists: "a resource of this name is there already, and it is not overwritten",
  item_unreadable: "the resource cannot be read",
  item_unwritable: "the resource cannot be written; nothing was changed",
  item_too_large: "the resource is too large",
};

/** The reason why a source of resources failed. A code is stable, and is never used for another reason. */
export type ResourceErrorCode = keyof typeof MESSAGES;

/**
 * A failure of a source of resources. Programs read `code`. Only the operator may see `message`, since it names
 * files.
 */
export class ResourceError extends Error {
  override readonly name = "ResourceError";
  /** The code of the problem. */
  readonly code: ResourceErrorCode;
  /** The folder, the file or the resource that has the problem. */
  readonly subject: string;

  /**
   * @param detail - A more exact description of the problem.
   * @param cause - The error of the operating system or the database.
   */
  constructor(code: ResourceErrorCode, subject: string, detail = "", cause?: unknown) {
    const text = `${subject}: ${MESSAGES[code]}${detail === "" ? "" : ` (${detail})`}`;
    super(text, cause === undefined ? undefined : { cause });
    this.code = code;
    this.subject = subject;
  }
}
