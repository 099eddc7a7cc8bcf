// Fills in the repository's address wherever it stands: npm run repository -- https://HOST/OWNER/NAME
import { readFileSync, writeFileSync } from "node:fs";

const [address = ""] = process.argv.slice(2);
if (!/^https:\/\/[^\s/]+\/\S*[^\s/]$/.test(address) || address.endsWith(".git")) {
  console.error(
    "give the address as a browser has it: npm run repository -- https://HOST/OWNER/NAME",
  );
  process.exit(2);
}
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const old = manifest.repository?.url.slice("git+".length) ?? "URL-OF-THIS-REPOSITORY";
manifest.homepage = `${address}#readme`;
manifest.bugs = { url: `${address}/issues` };
manifest.repository = { type: "git", url: `git+${address}.git` };
writeFileSync("package.json", `${JSON.stringify(manifest, undefined, 2)}\n`);
const page = readFileSync("docs/install.md", "utf8");
writeFileSync("docs/install.md", page.replace(`git clone ${old} `, `git clone ${address}.git `));
