import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";
import { buildIfStale } from "./built.js";

const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = join(ROOT, "src");
const BUILT = join(ROOT, "dist", "src");

/**
 * Gives tests each module of `src/` as it was built, from the present sources: Node loads it by itself, with
 * no transformation, and it runs a tenth faster. The build is that of the whole run, before the first test.
 */
export function builtSources(): Plugin {
  return {
    name: "proviso:built-sources",
    enforce: "pre",
    configureServer: buildIfStale,
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith(".") || !id.endsWith(".js")) return undefined;
      const path = relative(SOURCES, join(dirname(importer), id));
      return path.startsWith("..") ? undefined : { id: join(BUILT, path), external: true };
    },
  };
}
