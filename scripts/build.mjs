// Builds the package: src/ file by file, for those who import it, and the command as a bundle.
// Loading the command's seventy small modules one by one took half of its start-up time; bundled, it
// loads three or four (docs/performance.md).
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeManual } from "./man.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const tsc = fileURLToPath(new URL("../node_modules/typescript-native/bin/tsc", import.meta.url));

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });

const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);

const { metafile } = await build({
  metafile: true,
  absWorkingDir: root,
  entryPoints: ["cli/main.ts"],
  outdir: "dist/cli",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minify: true,
  keepNames: true,
  legalComments: "eof",
  // Optional packages: loaded only by what opens a store, serves an agent, or calls one.
  external: Object.keys(manifest.peerDependencies).filter(
    (name) => !["kysely", "lru-cache"].includes(name),
  ),
  // commander is CommonJS, and asks for Node's modules with `require`.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  logLevel: "warning",
});

// What is bundled keeps its licence.
const bundled = new Set(
  Object.keys(metafile.inputs).flatMap(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  ),
);
const notices = [...bundled].sort().map((name) => {
  const folder = new URL(`../node_modules/${name}/`, import.meta.url);
  const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (licence === undefined) throw new Error(`${name} is bundled, but has no licence file`);
  return `${name}\n\n${readFileSync(new URL(licence, folder), "utf8").trim()}\n`;
});
writeFileSync(
  new URL("../dist/cli/THIRD-PARTY-NOTICES.txt", import.meta.url),
  notices.join(`\n${"-".repeat(72)}\n\n`),
);

await writeManual(manifest);
