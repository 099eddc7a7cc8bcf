import { existsSync } from "node:fs";

/**
 * A file of this package, wherever this code stands: in `cli/` as source, in `dist/cli/` as built.
 *
 * @param path - From the package's own folder.
 */
export function packageFile(path: string): URL {
  const folder = ["../", "../../"]
    .map((up) => new URL(up, import.meta.url))
    .find((one) => existsSync(new URL("package.json", one)));
  return new URL(path, folder ?? import.meta.url);
}
