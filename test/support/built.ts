import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** The built command, as it is published. */
export const MAIN: string = join(ROOT, "cli", "dist", "main.cjs");

/** The last file that the build writes. */
const LAST: string = join(ROOT, "cli", "dist", "man", "proviso.1");

/** The sources of the build. */
const SOURCES = [
  "src",
  "cli",
  "examples",
  "schemas",
  "scripts",
  "spec-vectors",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/**
 * Builds the package unless the build is newer than all of its sources.
 *
 * @throws Error if the build fails.
 */
export function buildIfStale(): void {
  const built = statSync(LAST, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...SOURCES.flatMap((name) => changesBelow(join(ROOT, name))));
  if (built > newest) return;
  console.log("dist is older than its sources: building");
  const { status } = spawnSync(process.execPath, [join(ROOT, "scripts", "build.mjs")], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the package could not be built, so no test was run");
}

/**
 * Returns the time of the last modification of each file and folder at or below a path, in milliseconds since 1970.
 * The time of a folder shows that a file was removed.
 */
function changesBelow(path: string): number[] {
  const found = statSync(path);
  if (!found.isDirectory()) return [found.mtimeMs];
  const names = readdirSync(path).filter((name) => name !== "dist");
  return [found.mtimeMs, ...names.flatMap((name) => changesBelow(join(path, name)))];
}
