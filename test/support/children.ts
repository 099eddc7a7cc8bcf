import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));
const BUNDLES = join(ROOT, "reports", "children");

/** Folders of tests that start programs from their folder `children/`. */
const ROOMS = ["stores", "storage", "protocols/a2a", "protocols/revocations"];

/** Returns the bundled program of a `children/` folder. */
export function childProgram(room: string, name: string): string {
  return join(BUNDLES, room, "children", `${name}.mjs`);
}

/**
 * Bundles the programs in all `children/` folders with the modules of the built package that they import, as the
 * build bundles the command. Bundled programs start in a third of the time. Runs after the build and before the first
 * test.
 */
export async function bundleChildren(): Promise<void> {
  const manifest: { readonly peerDependencies: { readonly [name: string]: string } } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  await build({
    entryPoints: ROOMS.map((room) => join(ROOT, "test", room, "children", "*.mjs")),
    outbase: join(ROOT, "test"),
    outdir: BUNDLES,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: Object.keys(manifest.peerDependencies).filter((name) => name !== "kysely"),
    logLevel: "warning",
  });
}
