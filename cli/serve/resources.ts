import { resolve } from "node:path";
import { openFolder } from "../../src/sources/folder.js";
import { ResourceError } from "../../src/sources/resource-error.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";
import type { TableSource } from "../../src/sources/table.js";
import { openTables } from "../../src/sources/table.js";
import { isAddress } from "../../src/storage/database.js";
import { environmentError } from "../exit.js";
import { fromConfig, type ReadConfig } from "./config.js";

export interface OpenResources {
  readonly source: ResourceFolder | TableSource;
  /** The absolute path of the database file; absent if the database is not a file. */
  readonly path?: string;
  close(): void | Promise<void>;
}

/**
 * Opens the resources that a configuration names.
 *
 * @param warn - Called with a problem of a resource file, for the operator.
 * @returns `undefined` if the configuration names no resources.
 * @throws CliError `config_invalid`, or a CliError with the code of a `ResourceError`.
 */
export async function openResources(
  { config, file, folder }: ReadConfig,
  warn: (message: string) => void,
): Promise<OpenResources | undefined> {
  const { resources } = config;
  if (resources === undefined) return undefined;
  try {
    if ("folder" in resources) {
      const path = resolve(folder, resources.folder);
      return { source: await openFolder(path, { onProblem: warn }), path, close: () => {} };
    }
    const { collections, database } = resources;
    const path = isAddress(database) ? database : resolve(folder, database);
    const open = () => openTables({ database: path, collections });
    const source = await fromConfig(file, open, (words) => `resources.${words}`);
    return { source, ...(isAddress(database) ? {} : { path }), close: () => source.close() };
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    const unavailable = error.code === "source_unavailable";
    const hint = unavailable
      ? "install proviso-cli again"
      : '"resources" in the configuration names a folder or a database, from its own folder';
    throw environmentError(error.code, error.message, hint);
  }
}
