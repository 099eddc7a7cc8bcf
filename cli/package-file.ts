import { existsSync } from "node:fs";

/**
 * Returns the path of a file of the command's package, from source in `cli/` as well as from the build in `cli/dist/`.
 *
 * @param path - Relative to the package's folder. Files that the build puts there are in `dist/`.
 */
export function packageFile(path: string): URL {
  const folder = ["./", "../"]
    .map((up) => new URL(up, import.meta.url))
    .find((one) => existsSync(new URL("package.json", one)));
  return new URL(path, folder ?? import.meta.url);
}
