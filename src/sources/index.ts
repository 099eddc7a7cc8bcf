/**
 * Sources of resources: a folder of text files, tables of SQLite or PostgreSQL, or a source of your own.
 *
 * @module proviso/sources
 */
export type {
  FieldCondition,
  QueryDenial,
  QueryResult,
  Resource,
  ResourceFilter,
  ResourceQuery,
  ResourceSource,
} from "../agent/resources/resource.js";
export { type FolderOptions, openFolder } from "./folder.js";
export { ResourceError, type ResourceErrorCode } from "./resource-error.js";
export type { ResourceFolder } from "./resource-folder.js";
export { openTables, type TableSource, type TablesOptions } from "./table.js";
export type { Collection } from "./table-columns.js";
