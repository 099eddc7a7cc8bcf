import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { vectorFiles } from "./files.js";

// Writes the vectors into the folder that the first argument names. `npm run vectors:generate` passes
// spec-vectors/.

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: generate.js FOLDER");
for (const [name, text] of vectorFiles()) {
  writeFileSync(join(folder, name), text);
  process.stderr.write(`${join(folder, name)}: ${text.length} characters\n`);
}
