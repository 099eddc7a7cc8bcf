import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));
const BUNDLES = join(ROOT, "reports", "children");

/** Rooms of the tests that start programs of their own, from `children/`. */
const ROOMS = ["stores", "storage", "protocols/a2a", "protocols/revocations"];

/** A program of a room's `children/`, as {@link bundleChildren} left it. */
export function childProgram(room: string, name: string): string {
  return join(BUNDLES, room, "children", `${name}.mjs`);
}

/**
 * Bundles those programs with what they import of the built package, as the build bundles the command:
 * they start in a third of the time. Done before the first test, after the build.
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
