// Builds the package: src/ file by file, for importers, and the command as bundles: one file for each verb that
// has to start fast, and one in chunks for all others (docs/performance.md).
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

/** @satisfies {import("esbuild").BuildOptions} */
const COMMON = {
  metafile: true,
  absWorkingDir: root,
  entryPoints: ["cli/main.ts"],
  bundle: true,
  platform: "node",
  target: "node20.19",
  minify: true,
  keepNames: true,
  legalComments: "eof",
  // Optional packages, loaded only to open a store, to serve an agent, or to call one.
  external: Object.keys(manifest.peerDependencies).filter(
    (name) => !["@noble/curves", "kysely", "lru-cache"].includes(name),
  ),
  logLevel: "warning",
};

const whole = await build({
  ...COMMON,
  outdir: "dist/cli",
  entryNames: "all",
  outExtension: { ".js": ".mjs" },
  splitting: true,
  format: "esm",
  // commander is CommonJS, and loads Node's modules with `require`.
  banner: {
    js: 'import { createRequire as requireAt } from "node:module"; const require = requireAt(import.meta.url);',
  },
});

/**
 * Removes code that a verb never loads from its file: the other verbs, help on all of them, and commander's way
 * to start other programs, for which Node would load its sockets.
 * @param {string} verb
 * @returns {import("esbuild").Plugin}
 */
function only(verb) {
  const table = `import * as verb from "./verbs/${verb}.js"; export const VERBS = { ${verb}: () => verb };`;
  return {
    name: "only",
    setup(bundle) {
      bundle.onLoad({ filter: /\/cli\/verbs\.ts$/ }, () => ({ contents: table }));
      bundle.onLoad({ filter: /\/cli\/(overview|completion\/candidates)\.ts$/ }, () => ({
        contents: "",
      }));
      bundle.onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
        importer.includes("/commander/") ? { path, namespace: "left-out" } : undefined,
      );
      bundle.onLoad({ filter: /./, namespace: "left-out" }, () => ({ contents: "" }));
      // Its tables take longer than a check, and only handles need them.
      bundle.onResolve({ filter: /^@noble\/ciphers\/aes\.js$/ }, (found) =>
        found.pluginData === "itself"
          ? undefined
          : { path: found.path, namespace: "later", pluginData: found.resolveDir },
      );
      bundle.onLoad({ filter: /./, namespace: "later" }, ({ path, pluginData }) => ({
        contents: `export const ecb = (...given) => require(${JSON.stringify(path)}).ecb(...given);`,
        resolveDir: pluginData,
        pluginData: "itself",
      }));
    },
  };
}

// Pipelines run these for each token. Loading the command's many modules one by one took most of their start,
// and CommonJS avoids Node's ES module loader.
const QUICK = ["attenuate", "inspect", "verify"];
const quick = await Promise.all(
  QUICK.map((verb) =>
    build({
      ...COMMON,
      outfile: `dist/cli/${verb}.js`,
      format: "cjs",
      // Keeps names unminified: restoring them with `keepNames` takes a call for each function.
      keepNames: false,
      minify: false,
      minifySyntax: true,
      minifyWhitespace: true,
      define: { "import.meta.url": "moduleUrl" },
      banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
      plugins: [only(verb)],
    }),
  ),
);
writeFileSync(new URL("../dist/cli/package.json", import.meta.url), '{ "type": "commonjs" }\n');
writeFileSync(
  new URL("../dist/cli/main.js", import.meta.url),
  `#!/usr/bin/env node
const verb = process.argv[2];
if (${JSON.stringify(QUICK)}.includes(verb)) require(\`./\${verb}.js\`);
else import("./all.mjs");
`,
  { mode: 0o755 },
);

// Bundled code keeps its licences.
const bundled = new Set(
  [whole, ...quick]
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
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
