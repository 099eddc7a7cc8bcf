import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Interop and end-to-end tests start other programs; the machine may have two cores.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
