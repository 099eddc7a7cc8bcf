// For scripts/mutation.mjs, which says what to mutate; see docs/testing.md.

export default {
  testRunner: "vitest",
  vitest: { configFile: "vitest.mutation.config.ts", related: false },
  coverageAnalysis: "perTest",
  ignoreStatic: process.env["PROVISO_MUTATE_STATIC"] !== "1",
  ignorePatterns: ["/bench", "/dist", "/examples", "/reports"],
  concurrency: 2,
  timeoutMS: 10_000,
  reporters: ["clear-text", "progress-append-only", "json"],
  jsonReporter: { fileName: "reports/mutation.json" },
  clearTextReporter: { allowColor: false, reportTests: false, allowEmojis: false },
  thresholds: { high: 95, low: 90, break: null },
};
