import { defineConfig, type ViteUserConfig } from "vitest/config";

// For `npm run test:mutation`, which mutates one folder of src at a time: that folder's own unit tests,
// which are quick and always the same. Tests that start programs, draw at random or enumerate would be
// run again for every one of some thousand mutants.
const folder = process.env["PROVISO_MUTATE"] ?? "{bytes,macaroon,caveats,capability}";
/** Tests elsewhere that are about the folder: unit tests do not repeat what a vector says. */
const BESIDE: { readonly [folder: string]: readonly string[] } = {
  capability: ["test/issuer/**/*.test.ts", "test/revocation/chain-id.test.ts"],
  caveats: [
    "test/vectors/self.test.ts",
    "test/cli/{argument,operation}-expression.test.ts",
    "test/cli/operation-limits.test.ts",
  ],
  macaroon: ["test/vectors/self.test.ts"],
};
const beside = BESIDE[folder] ?? [];

const config: ViteUserConfig = defineConfig({
  test: {
    include: [`test/${folder}/**/*.test.ts`, ...beside],
    // Stryker turns type checks off in what it changes, so tests of types would fail.
    exclude: [
      "test/**/*.property.test.ts",
      "test/**/*.types.full.test.ts",
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
