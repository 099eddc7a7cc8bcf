// Builds the packages: `proviso`, src/ file by file, in dist/; and `proviso-cli`, the command as a bundle of few files,
// in cli/dist/ with all that it reads, since npm packs nothing from outside a package's own folder.
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
 * The command starts the faster the fewer files it loads: one has what every verb needs, one more what verbs need that
 * read tokens alone, one more what those need that open a home. Whatever else is loaded later has files of its own.
 * They are CommonJS, since Node takes some 20 ms more to start with modules.
 *
 * @returns {Promise<readonly string[]>} the modules that are in it
 */
async function bundleCommand() {
  /** @type {import("rolldown").CodeSplittingGroup[]} */
  const groups = [
    // Without main.ts, which runs when it is loaded: the manual loads program.ts alone.
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
 * Writes a bundle of modules for Node. The packages that the command depends on stay outside of it. The others are
 * small, and would take longer to load file by file.
 *
 * @param {readonly string[]} input
 * @param {import("rolldown").OutputOptions} output
 * @returns {Promise<readonly string[]>} the modules that are in it
 */
async function bundle(input, output) {
  const outside = Object.keys(manifest.dependencies);
  const bundle = await rolldown({
    cwd: root,
    input: [...input],
    platform: "node",
    transform: { target: "node20.19" },
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    // A module that one verb needs always and another at times is loaded with the first.
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
 * The quickstart and its agent's skills, each with what it imports of the library, and the agent's other files.
 *
 * @returns {Promise<readonly string[]>} the modules that are in them
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

/** Bundled code keeps its licences. @param {readonly string[]} modules */
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
