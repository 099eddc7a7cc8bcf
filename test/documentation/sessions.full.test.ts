import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The walk-through of docs/sessions.md works as written, with the example that it describes.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/sessions.md"), "utf8");

test("the walk-through of docs/sessions.md works as written", () => {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  expect(blocks).toHaveLength(4);
  const folder = join(temporaryFolder(), "session");
  cpSync(join(root, "examples/session"), folder, { recursive: true });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "proviso"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, "proviso"), 0o755);
  // The trap stops the host even if a command fails.
  const script = `trap 'kill $host 2>/dev/null || true' EXIT\n${blocks.join("echo '---'\n")}`;
  const run = spawnSync("sh", ["-eu", "-c", script], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: folder, TMPDIR: process.env["TMPDIR"] },
  });
  // The host prints this line once its socket exists. The output of the next commands may come before it.
  const serving = /^Serving sessions at .*a2e\.sock\n/m;
  const parts = run.stdout.replace(serving, "").split("---\n");
  const [started = "", called = "", narrowed = "", revoked = ""] = parts;
  expect(run.status, run.stderr).toBe(0);
  expect(run.stdout).toMatch(serving);
  expect(started).toMatch(/^Made a home at /);
  expect(called).toMatch(/^sum: 3\n/);
  expect(called).toContain('"value":"dark green"');
  expect(called).toContain('"program":"countdown"');
  expect(narrowed).toBe("sum: 12\nexit code 1\n");
  expect(revoked).toMatch(/^exit code 5\n/m);
  expect(revoked).toContain("tool/call");
  expect(run.stderr).toContain("constraint_violated");
});
