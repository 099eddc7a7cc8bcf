// Refuses to publish an unfinished package. `npm publish` runs it, and so does a release (CONTRIBUTING.md,
// "Releasing").
import { readFileSync } from "node:fs";

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
for (const problem of problems) console.error(`not published: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
