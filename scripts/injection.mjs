// npm run injection: plays every scenario of docs/injection.md in all three modes, and prints the tables. With
// --write, also writes the tables into docs/injection.md, and their totals into README.md.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const figures = ["injection.json", "injection-mcp.json"].map((name) => join(root, "reports", name));
const write = process.argv.includes("--write");

for (const file of figures) rmSync(file, { force: true });
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const run = spawnSync(
  process.execPath,
  [vitest, "run", "test/injection", "--reporter=default", "--silent=passed-only"],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      PROVISO_TEST_SIZE: "weekly",
      ...(write ? { PROVISO_INJECTION_WRITE: "1" } : {}),
    },
  },
);
if (!figures.every((file) => existsSync(file))) process.exit(run.status || 1);

const tables = figures.flatMap((file) => Object.entries(JSON.parse(readFileSync(file, "utf8"))));
for (const [name, table] of tables) {
  console.log(`\n${name}\n\n${table}`);
  if (!write) continue;
  put(name === "all" ? "README.md" : "docs/injection.md", name, table);
}
process.exit(run.status ?? 1);

/**
 * Replaces the text between two markers by a table.
 * @param {string} file
 * @param {string} name - The name in both markers.
 * @param {string} table
 */
function put(file, name, table) {
  const path = join(root, file);
  const text = readFileSync(path, "utf8");
  const place = new RegExp(`(<!-- ${name} -->\\n)[^]*?(\\n<!-- /${name} -->)`);
  const changed = text.replace(place, (_, before, after) => `${before}${table}${after}`);
  if (changed !== text) writeFileSync(path, changed);
}
