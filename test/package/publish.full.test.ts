import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Run, runProgram } from "../cli/run.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The scripts that prevent the publication of unfinished packages are tried on a copy of the packages.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ADDRESS = "https://code.example/owner/proviso";

const PACKAGES = ["", "cli/", "spec-vectors/"];

/** Copies the built packages, and the scripts that check them. */
function copy(): string {
  const folder = temporaryFolder();
  for (const path of [
    "CHANGELOG.md",
    "docs/install.md",
    "dist/src/index.js",
    "dist/src/index.d.ts",
    "cli/dist",
    ...["macaroon", "check", "capability-discovery"].map((name) => `spec-vectors/${name}.json`),
    ...PACKAGES.flatMap((at) => [`${at}package.json`, `${at}README.md`, `${at}LICENSE`]),
    "scripts/check-publish.mjs",
    "scripts/repository.mjs",
  ]) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  // The copied packages are already built.
  writeFileSync(join(folder, "scripts/build.mjs"), "");
  return folder;
}

function manifestOf(folder: string, at: string): { readonly [name: string]: unknown } {
  return JSON.parse(readFileSync(join(folder, `${at}package.json`), "utf8"));
}

const npm = (cwd: string, args: readonly string[], env = {}): Promise<Run> =>
  runProgram("npm", args, { cwd, env: { HOME: cwd, ...env } });

test("npm publish refuses until the repository's address, the changelog and the tag are right", async () => {
  const folder = copy();
  for (const workspace of [[], ["--workspace", "cli"]]) {
    const args = ["publish", "--dry-run", "--provenance=false", ...workspace];
    const { status, stderr } = await npm(folder, args);
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      "not published: the repository's address is not filled in: npm run repository -- https://HOST/OWNER/NAME",
    );
  }

  const filling = await npm(folder, ["run", "--silent", "repository", "--", ADDRESS]);
  expect(filling).toMatchObject({ status: 0, stderr: "" });
  for (const [at, directory] of [
    ["", undefined],
    ["cli/", "cli"],
    ["spec-vectors/", "spec-vectors"],
  ] as const) {
    expect(manifestOf(folder, at)).toEqual({
      ...manifestOf(ROOT, at),
      homepage: `${ADDRESS}#readme`,
      bugs: { url: `${ADDRESS}/issues` },
      repository: { type: "git", url: `git+${ADDRESS}.git`, directory },
    });
  }
  expect(readFileSync(join(folder, "docs/install.md"), "utf8")).toContain(
    `git clone ${ADDRESS}.git proviso\n`,
  );

  const { version } = manifestOf(folder, "");
  writeFileSync(join(folder, "CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n");
  const check = ["run", "--silent", "check:publish"];
  expect((await npm(folder, check)).stderr).toBe(
    `not published: CHANGELOG.md has no section [${version}]\n`,
  );
  writeFileSync(join(folder, "CHANGELOG.md"), `# Changelog\n\n## [${version}] - 2030-01-31\n`);
  expect((await npm(folder, check, { GITHUB_REF_NAME: "v9.9.9" })).stderr).toBe(
    `not published: the tag is v9.9.9, and the package's version is ${version}\n`,
  );
  expect(await npm(folder, check, { GITHUB_REF_NAME: `v${version}` })).toMatchObject({
    status: 0,
    stderr: "",
  });
});

test("npm run check:publish refuses a package of another version than proviso, and a package that lacks a file", async () => {
  const folder = copy();
  await npm(folder, ["run", "--silent", "repository", "--", ADDRESS]);
  const manifest = manifestOf(folder, "cli/");
  writeFileSync(join(folder, "CHANGELOG.md"), `# Changelog\n\n## [${manifest["version"]}]\n`);
  const other = { ...manifest, version: "9.9.9" };
  writeFileSync(join(folder, "cli/package.json"), JSON.stringify(other));
  rmSync(join(folder, "cli/dist/man"), { recursive: true });
  rmSync(join(folder, "spec-vectors/LICENSE"));
  const { status, stderr } = await npm(folder, ["run", "--silent", "check:publish"]);
  expect(status).toBe(1);
  expect(stderr.split("\n")).toEqual([
    `not published: proviso-cli has version 9.9.9, and proviso ${manifest["version"]}`,
    "not published: proviso-cli would lack dist/man/proviso.1: npm run build",
    "not published: proviso-vectors would lack LICENSE: npm run build",
    "",
  ]);
});

test("npm run repository changes the repository's address, and refuses a malformed address", async () => {
  const folder = copy();
  await npm(folder, ["run", "--silent", "repository", "--", `${ADDRESS}-old`]);
  await npm(folder, ["run", "--silent", "repository", "--", ADDRESS]);
  expect(readFileSync(join(folder, "docs/install.md"), "utf8")).toContain(
    `git clone ${ADDRESS}.git proviso\n`,
  );
  for (const wrong of ["", "git@code.example:owner/proviso.git", `${ADDRESS}.git`]) {
    const { status } = await npm(folder, ["run", "--silent", "repository", "--", wrong]);
    expect(status).toBe(2);
  }
});

test("the section Versions of docs/entries.md names each package entry once", () => {
  const { exports: entries } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const page =
    readFileSync(join(ROOT, "docs/entries.md"), "utf8").split("\n## Versions\n")[1] ?? "";
  const named = [...page.matchAll(/`(proviso[/a-z0-9-]*)`/g)].map(([, name = ""]) => name);
  const all = Object.keys(entries).filter((path) => path !== "./package.json");
  expect(named.sort()).toEqual(all.map((path) => `proviso${path.slice(1)}`).sort());
});

test("the workflows run the checks, and publish every package for a tag, with provenance", () => {
  const workflow = (name: string): string =>
    readFileSync(join(ROOT, ".github/workflows", name), "utf8");
  expect(workflow("ci.yml")).toContain("- run: .ci/run\n");
  expect(workflow("release.yml")).toMatch(
    /tags: \["v\*"\][\s\S]*id-token: write[\s\S]*npm publish --workspaces --include-workspace-root\n/,
  );
  for (const at of PACKAGES) {
    const { publishConfig } = manifestOf(ROOT, at);
    expect(publishConfig).toEqual({ access: "public", provenance: true });
  }
});
