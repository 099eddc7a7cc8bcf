import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Browsers, and Workers without the flag for `node:crypto`, use the hashes of @noble/hashes.

const COMMAND = fileURLToPath(new URL("../../cli/dist/main.cjs", import.meta.url));
const WITHOUT_CRYPTO =
  "data:text/javascript,Object.defineProperty(process,'getBuiltinModule',{value:undefined})";

test("vectors check passes every vector with the hashes of @noble/hashes", {
  timeout: 120_000,
}, () => {
  const report: unknown = JSON.parse(
    execFileSync(
      process.execPath,
      ["--import", WITHOUT_CRYPTO, COMMAND, "vectors", "check", "--json"],
      { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
    ),
  );
  expect(report).toMatchObject({ failed: 0 });
});
