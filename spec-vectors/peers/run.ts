import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Compared, differencesPage } from "./differences.js";
import { differencesOf, PEERS } from "./peers.js";

// Writes DIFFERENCES.md. `npm run vectors:peers` runs this file.

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("usage: run.js SPEC-VECTORS-FOLDER");
const folder = pathToFileURL(path.endsWith("/") ? path : `${path}/`);
const compared: Compared[] = [];
for (const peer of PEERS) {
  const version = peer.version();
  if (version === undefined) throw new Error(`${peer.name} is not installed: ${peer.install}`);
  compared.push({ peer, version, differences: await differencesOf(peer, folder) });
}
writeFileSync(new URL("peers/DIFFERENCES.md", folder), differencesPage(compared, folder));
