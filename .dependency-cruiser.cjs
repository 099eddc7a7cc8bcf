const { builtinModules } = require("node:module");

// The house: imports run downward only (see CONTRIBUTING.md, "Where things are").
const floors = [
  "bytes",
  "checks",
  "system",
  "macaroon|caveats",
  "display",
  "revocation",
  "capability",
  "issuer",
  "agent",
  "auth",
  "storage",
  "stores",
  "sources",
  "home",
  "http",
  "client",
  "middleware",
  "discovery",
  "protocols",
  "console",
  "adapters",
];

/** One rule a floor: nothing in it may import from a floor above. */
const upward = floors.slice(0, -1).map((floor, at) => ({
  name: `no-import-up-from-${floor.replace("|", "-")}`,
  severity: "error",
  from: { path: `^src/(${floor})/` },
  to: { path: `^(src/(${floors.slice(at + 1).join("|")})/|src/index\\.ts|cli/|test/)` },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...upward,
    {
      name: "no-cycle",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "macaroons-know-no-caveat",
      severity: "error",
      from: { path: "^src/macaroon/" },
      to: { path: "^src/caveats/" },
    },
    {
      name: "caveats-know-no-macaroon",
      severity: "error",
      from: { path: "^src/caveats/" },
      to: { path: "^src/macaroon/" },
    },
    {
      name: "src-knows-no-command",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(cli|test|bench|scripts|examples)/" },
    },
    {
      name: "runs-everywhere",
      comment:
        "proviso, proviso/macaroon, proviso/fetch and proviso/revocations import no Node module and nothing native.",
      severity: "error",
      from: {
        path: "^src/(index\\.ts|macaroon/index\\.ts|middleware/fetch\\.ts|protocols/revocations/index\\.ts)$",
      },
      to: { reachable: true, path: `^(node:|libsql|.*/libsql/|(${builtinModules.join("|")})$)` },
    },
    {
      name: "not-to-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^cli/dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types"] },
    parser: "tsc",
  },
};
