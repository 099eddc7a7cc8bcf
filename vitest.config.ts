import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { builtSources } from "./test/support/built-sources.js";
import { FULL } from "./test/support/size.js";

// Rooms that do no I/O: a run of these alone starts no database.
const PURE = ["bytes", "macaroon", "caveats", "capability", "revocation", "exhaustive"].map(
  (room) => `test/${room}/**/*.test.ts`,
);

/** Tests of what others publish, which the gate has not: a skipped test in it is a failure. */
const PEERS = process.env["PROVISO_TEST_PEERS"] === undefined ? ["test/peers/**"] : [];

/** What a full run alone has: two rooms, and the files that are named for it. */
const FULL_ONLY = [
  "test/injection/**",
  "test/protocols/agent-auth/differential/**",
  "test/**/*.full.test.ts",
];

const config: ViteUserConfig = defineConfig({
  plugins: [builtSources()],
  test: {
    server: { deps: { external: [/\/dist\/src\//] } },
    setupFiles: ["test/support/set-up.ts"],
    // Interop and end-to-end tests start other programs; the machine may have two cores.
    // In a quick run many wait, for other programs or for a lock: one worker more than cores.
    maxWorkers: Math.max(2, availableParallelism()) + (FULL ? 0 : 1),
    // What a test file compiles to is kept, by its contents, for the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest" },
    testTimeout: FULL ? 180_000 : 60_000,
    hookTimeout: 120_000,
    // A busy machine may take a second for anything.
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", "json"],
    outputFile: { json: "reports/vitest.json" },
    projects: [
      {
        extends: true,
        test: { name: "pure", include: PURE, exclude: FULL ? [] : FULL_ONLY, isolate: false },
      },
      {
        extends: true,
        test: {
          name: "whole",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...PURE, ...PEERS, ...(FULL ? [] : FULL_ONLY)],
          globalSetup: ["test/support/global-set-up.ts", "test/support/postgres.ts"],
        },
      },
    ],
  },
});

export default config;
