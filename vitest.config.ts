import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-set-up.ts", "test/support/postgres.ts"],
    setupFiles: ["test/support/set-up.ts"],
    // Interop and end-to-end tests start other programs; the machine may have two cores.
    // Most of them wait for other programs; vitest would leave one core free.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["default", "json"],
    outputFile: { json: "reports/vitest.json" },
  },
});

export default config;
