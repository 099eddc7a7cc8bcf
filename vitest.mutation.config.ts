import { defineConfig, type ViteUserConfig } from "vitest/config";

// For `npm run test:mutation`, which mutates one folder of src at a time: that folder's own unit tests,
// which are quick and always the same. Tests that start programs, draw at random or enumerate would be
// run again for every one of some thousand mutants.
const folder = process.env["PROVISO_MUTATE"] ?? "{bytes,macaroon,caveats,capability}";
// What issuers make of capabilities, and the ids by which others name them, have tests elsewhere.
const beside =
  folder === "capability" ? ["test/issuer/**/*.test.ts", "test/revocation/chain-id.test.ts"] : [];

const config: ViteUserConfig = defineConfig({
  test: {
    include: [`test/${folder}/**/*.test.ts`, ...beside],
    // Stryker turns type checks off in what it changes, so tests of types would fail.
    exclude: [
      "test/**/*.property.test.ts",
      "test/**/*.types.test.ts",
      "test/macaroon/fuzz.test.ts",
      // Counting how often each mutant is reached makes long texts take minutes.
      "test/**/*-size.test.ts",
    ],
    setupFiles: ["test/support/set-up.ts"],
    testTimeout: 20_000,
    reporters: ["default"],
  },
});

export default config;
