/**
 * Where resources come from: a folder of Markdown files, a table of SQLite.
 *
 * @packageDocumentation
 */
export { type FolderOptions, openFolder } from "./folder.js";
export { ResourceError, type ResourceErrorCode } from "./resource-error.js";
export { ResourceFolder } from "./resource-folder.js";
export { openSqliteResources, type SqliteResourcesOptions } from "./sqlite.js";
export type { SqliteCollection } from "./sqlite-schema.js";
export { SqliteResources } from "./sqlite-source.js";
