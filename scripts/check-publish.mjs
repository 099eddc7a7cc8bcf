// Refuses to publish unfinished packages. `npm publish` runs this script for each package, and so does a
// release (CONTRIBUTING.md, "Releasing"). The packages must be built before.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The files that each package must contain, by the package's folder. */
const PACKAGES = {
  ".": ["dist/src/index.js", "dist/src/index.d.ts", "CHANGELOG.md"],
  cli: [
    "dist/main.cjs",
    "dist/man/proviso.1",
    "dist/quickstart/quickstart.mjs",
    "dist/schemas/agent-config.schema.json",
    "dist/spec-vectors/check.json",
    "dist/THIRD-PARTY-NOTICES.txt",
  ],
  "spec-vectors": ["macaroon.json", "check.json", "capability-discovery.json"],
};

/** @param {string} path */
const read = (path) => readFileSync(path, "utf8");
const { version, repository, bugs, homepage } = JSON.parse(read("package.json"));
const { GITHUB_REF_NAME: tag } = process.env;

/** @type {string[]} */
const problems = [];
const address = /^git\+(https:\/\/\S+)\.git$/.exec(repository?.url ?? "")?.[1];
if (address === undefined) {
  problems.push(
    "the repository's address is not filled in: npm run repository -- https://HOST/OWNER/NAME",
  );
} else if (bugs?.url !== `${address}/issues` || homepage !== `${address}#readme`) {
  problems.push(
    `bugs and homepage are not those of the repository: npm run repository -- ${address}`,
  );
}
if (read("docs/install.md").includes("URL-OF-THIS-REPOSITORY")) {
  problems.push("docs/install.md does not say where to clone from; npm run repository fills it in");
}
if (!read("CHANGELOG.md").includes(`\n## [${version}]`)) {
  problems.push(`CHANGELOG.md has no section [${version}]`);
}
if (tag?.startsWith("v") && tag !== `v${version}`) {
  problems.push(`the tag is ${tag}, and the package's version is ${version}`);
}
const packages = packed();
for (const [folder, needed] of Object.entries(PACKAGES)) {
  const manifest = JSON.parse(read(join(folder, "package.json")));
  if (manifest.version !== version) {
    problems.push(`${manifest.name} has version ${manifest.version}, and proviso ${version}`);
  }
  if (manifest.repository?.url !== repository?.url) {
    problems.push(`${manifest.name} names another repository than proviso`);
  }
  const files = packages.get(manifest.name) ?? [];
  const missing = ["README.md", "LICENSE", ...needed].filter((path) => !files.includes(path));
  if (missing.length > 0) {
    problems.push(`${manifest.name} would lack ${missing.join(", ")}: npm run build`);
  }
}
for (const problem of problems) console.error(`not published: ${problem}`);
if (problems.length > 0) process.exitCode = 1;

/**
 * Returns the files that npm would pack, by the package's name.
 * @returns {Map<string, string[]>}
 */
function packed() {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const all = ["--workspaces", "--include-workspace-root"];
  const { stdout, stderr } = spawnSync("npm", [...args, ...all], { encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  /** @type {{ name: string, files: { path: string }[] }[]} */
  const found = JSON.parse(stdout);
  return new Map(found.map(({ name, files }) => [name, files.map(({ path }) => path)]));
}
