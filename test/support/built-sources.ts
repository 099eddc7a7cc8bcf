import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";
import { buildIfStale } from "./built.js";

const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = join(ROOT, "src");
const BUILT = join(ROOT, "dist", "src");

/**
 * Replaces each module of `src/` by its built version: Node loads it without transformation, and tests run a tenth
 * faster. The build is made once per run, from the current sources, before the first test.
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
