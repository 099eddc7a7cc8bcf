/**
 * Where resources come from: a folder of Markdown files, tables of SQLite or PostgreSQL.
 *
 * @packageDocumentation
 */
export { type FolderOptions, openFolder } from "./folder.js";
export { ResourceError, type ResourceErrorCode } from "./resource-error.js";
export { ResourceFolder } from "./resource-folder.js";
export { openTables, type TableSource, type TablesOptions } from "./table.js";
export type { Collection } from "./table-columns.js";
