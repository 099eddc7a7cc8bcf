import { existsSync } from "node:fs";

/**
 * Returns the URL of a file in the command's package, whether run from source in `cli/` or from the build in
 * `cli/dist/`.
 *
 * @param path - Relative to the package's folder. Files made by the build are in `dist/`.
 */
export function packageFile(path: string): URL {
  const folder = ["./", "../"]
    .map((up) => new URL(up, import.meta.url))
    .find((one) => existsSync(new URL("package.json", one)));
  return new URL(path, folder ?? import.meta.url);
}
