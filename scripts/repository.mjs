// Replaces the repository's address in every file that contains it: npm run repository --
// https://HOST/OWNER/NAME
import { readFileSync, writeFileSync } from "node:fs";

const [address = ""] = process.argv.slice(2);
if (!/^https:\/\/[^\s/]+\/\S*[^\s/]$/.test(address) || address.endsWith(".git")) {
  console.error(
    "give the address as a browser has it: npm run repository -- https://HOST/OWNER/NAME",
  );
  process.exit(2);
}
let old = "URL-OF-THIS-REPOSITORY";
for (const directory of [undefined, "cli", "spec-vectors"]) {
  const path = directory === undefined ? "package.json" : `${directory}/package.json`;
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  old = manifest.repository?.url.slice("git+".length) ?? old;
  manifest.homepage = `${address}#readme`;
  manifest.bugs = { url: `${address}/issues` };
  manifest.repository = { type: "git", url: `git+${address}.git`, directory };
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
const page = readFileSync("docs/install.md", "utf8");
writeFileSync("docs/install.md", page.replace(`git clone ${old} `, `git clone ${address}.git `));
