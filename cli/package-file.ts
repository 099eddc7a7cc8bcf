import { existsSync } from "node:fs";

/**
 * Returns the URL of a file in this package, whether the program runs from the source in `cli/` or from the
 * build in `cli/dist/`.
 *
 * @param path - The path, relative to the package's folder. The build writes its files to `dist/`.
 */
export function packageFile(path: string): URL {
  const folder = ["./", "../"]
    .map((up) => new URL(up, import.meta.url))
    .find((one) => existsSync(new URL("package.json", one)));
  return new URL(path, folder ?? import.meta.url);
}
