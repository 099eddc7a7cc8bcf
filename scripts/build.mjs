// Builds both packages. `proviso` is src/, compiled file by file into dist/. `proviso-cli` is the command,
// bundled into a few files in cli/dist/. Every file that the command reads is copied there too, since npm packs
// only files in the package's own folder.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { writeManual } from "./man.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "cli", "dist");
const manifest = JSON.parse(readFileSync(join(root, "cli", "package.json"), "utf8"));

for (const folder of ["dist", "cli/dist"]) {
  rmSync(join(root, folder), { recursive: true, force: true });
}
compileLibrary();
writeNotices([...(await bundleCommand()), ...(await bundleQuickstart())]);
copyFiles();
await writeManual(manifest.version);

function compileLibrary() {
  const tsc = join(root, "node_modules/typescript-native/bin/tsc");
  const args = [tsc, "-p", "tsconfig.build.json"];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Bundles the command. The command starts faster if Node has few files to load. One file has the code that
 * every verb needs. A second file has the code of the verbs that only read tokens, a third the code of the
 * verbs that open a home. Modules that are loaded on demand have their own files. All files are CommonJS, since
 * Node takes about 20 ms longer to start with ES modules.
 *
 * @returns {Promise<readonly string[]>} The bundled modules.
 */
async function bundleCommand() {
  /** @type {import("rolldown").CodeSplittingGroup[]} */
  const groups = [
    // main.ts stays outside, since it runs the command when it is loaded. man.mjs loads only program.ts.
    { name: "start", tags: ["$initial"], test: /(?<!cli[\\/]main)\.\w+$/, priority: 2 },
    { name: "tokens", test: verbs("attenuate", "convert", "diff", "inspect"), priority: 1 },
    { name: "home", test: verbs("init", "keys", "mint", "revocations", "revoke", "verify") },
  ];
  const modules = await bundle(["cli/main.ts", "cli/program.ts"], {
    dir: command,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name].cjs",
    codeSplitting: { groups },
  });
  chmodSync(join(command, "main.cjs"), 0o755);
  return modules;
}

/** @param {readonly string[]} names */
function verbs(...names) {
  return new RegExp(`[\\\\/]cli[\\\\/]verbs[\\\\/](?:${names.join("|")})\\.ts$`);
}

/**
 * Writes a bundle of modules for Node. The dependencies in the command's package.json stay outside. Other
 * packages become part of the bundle, since they are small and Node would take longer to load their files one
 * by one.
 *
 * @param {readonly string[]} input
 * @param {import("rolldown").OutputOptions} output
 * @returns {Promise<readonly string[]>} The bundled modules.
 */
async function bundle(input, output) {
  const outside = Object.keys(manifest.dependencies);
  const bundle = await rolldown({
    cwd: root,
    input: [...input],
    platform: "node",
    transform: { target: "node20.19" },
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    // One verb may import a module statically, and another on demand.
    checks: { ineffectiveDynamicImport: false },
    onwarn(warning) {
      throw new Error(warning.message);
    },
  });
  const { output: files } = await bundle.write(output);
  await bundle.close();
  return files.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
}

/**
 * Bundles the quickstart and the skills of its agent, each with the library modules that it imports. Copies the
 * agent's other files.
 *
 * @returns {Promise<readonly string[]>} The bundled modules.
 */
async function bundleQuickstart() {
  const agent = "documents-agent";
  for (const name of ["agent.json", "policy.json", "documents"]) {
    const from = join(root, "examples", agent, name);
    cpSync(from, join(command, "quickstart", agent, name), { recursive: true });
  }
  const programs = ["quickstart.mjs", `${agent}/agent-skills.mjs`];
  const modules = await Promise.all(
    programs.map((path) =>
      bundle([`examples/${path}`], {
        file: join(command, "quickstart", path),
        format: "esm",
        codeSplitting: false,
      }),
    ),
  );
  return modules.flat();
}

/** Writes the licences of the bundled packages. @param {readonly string[]} modules */
function writeNotices(modules) {
  const names = modules.flatMap(
    (file) => /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1] ?? [],
  );
  const notices = [...new Set(names)].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) throw new Error(`${name} is bundled, but has no licence file`);
    return `${name}\n\n${readFileSync(join(folder, licence), "utf8").trim()}\n`;
  });
  const text = notices.join(`\n${"-".repeat(72)}\n\n`);
  writeFileSync(join(command, "THIRD-PARTY-NOTICES.txt"), text);
}

function copyFiles() {
  for (const name of ["agent-config", "session-config", "gate-config"]) {
    const file = `schemas/${name}.schema.json`;
    cpSync(join(root, file), join(command, file));
  }
  for (const name of ["macaroon", "check", "capability-discovery"]) {
    const file = `spec-vectors/${name}.json`;
    cpSync(join(root, file), join(command, file));
  }
  for (const folder of ["cli", "spec-vectors"]) {
    cpSync(join(root, "LICENSE"), join(root, folder, "LICENSE"));
  }
}
