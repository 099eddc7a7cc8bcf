import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Run, runProgram } from "../cli/run.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What keeps a package from being published that is not ready, tried on a copy.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ADDRESS = "https://code.example/owner/proviso";

function copy(): string {
  const folder = temporaryFolder();
  for (const path of ["package.json", "CHANGELOG.md", "docs/install.md"]) {
    cpSync(join(ROOT, path), join(folder, path));
  }
  for (const name of ["check-publish.mjs", "repository.mjs"]) {
    cpSync(join(ROOT, "scripts", name), join(folder, "scripts", name));
  }
  return folder;
}

const npm = (cwd: string, args: readonly string[], env = {}): Promise<Run> =>
  runProgram("npm", args, { cwd, env: { HOME: cwd, ...env } });

test("npm publish refuses until the address, the changelog and the tag are right", async () => {
  const folder = copy();
  const { status, stderr } = await npm(folder, ["publish", "--dry-run", "--provenance=false"]);
  expect(status).not.toBe(0);
  expect(stderr).toContain(
    "not published: the repository's address is not filled in: npm run repository -- https://HOST/OWNER/NAME",
  );

  const filling = await npm(folder, ["run", "--silent", "repository", "--", ADDRESS]);
  expect(filling).toMatchObject({ status: 0, stderr: "" });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const before = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(manifest).toEqual({
    ...before,
    homepage: `${ADDRESS}#readme`,
    bugs: { url: `${ADDRESS}/issues` },
    repository: { type: "git", url: `git+${ADDRESS}.git` },
  });
  expect(readFileSync(join(folder, "docs/install.md"), "utf8")).toContain(
    `git clone ${ADDRESS}.git proviso\n`,
  );

  const { version } = manifest;
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

test("the address can be changed, and one that is none is refused", async () => {
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

test("the version policy names each entry once", () => {
  const { exports: entries } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const page =
    readFileSync(join(ROOT, "docs/entries.md"), "utf8").split("\n## Versions\n")[1] ?? "";
  const named = [...page.matchAll(/`(proviso[/a-z0-9-]*)`/g)].map(([, name = ""]) => name);
  const all = Object.keys(entries).filter((path) => path !== "./package.json");
  expect(named.sort()).toEqual(all.map((path) => `proviso${path.slice(1)}`).sort());
});

test("the workflows run the gate, and publish by tag with provenance", () => {
  const workflow = (name: string): string =>
    readFileSync(join(ROOT, ".github/workflows", name), "utf8");
  expect(workflow("ci.yml")).toContain("- run: .ci/run\n");
  expect(workflow("release.yml")).toMatch(
    /tags: \["v\*"\][\s\S]*id-token: write[\s\S]*npm publish\n/,
  );
  const { publishConfig } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(publishConfig).toEqual({ access: "public", provenance: true });
});
