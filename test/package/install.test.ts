import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { FULL, WEEKLY } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// A new user installs the published library as docs/install.md says, with npm and with pnpm. The user compiles
// a program of each kind with every current version of TypeScript, with library checks, and runs it. The tests
// belong to the full run, since they install from the registry.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));
const TYPESCRIPTS = ["5.9", "6", "7"];
const RESOLUTIONS = [
  { module: "nodenext", resolution: "nodenext" },
  { module: "esnext", resolution: "bundler" },
];
/** The versions with each resolution. The versions before 7 are slow: a full run uses one resolution with each. */
const COMPILERS = TYPESCRIPTS.flatMap((version) =>
  RESOLUTIONS.map((how) => ({ version, ...how })),
).filter(({ version, resolution }) => {
  const left = { "5.9": "bundler", "6": "nodenext" }[version];
  return WEEKLY || resolution !== left;
});
/** Time limit in milliseconds. Installing waits for the registry. */
const SLOW = 300_000;
/** Type declarations are checked, except those of TypeScript itself. */
const CHECKED = [
  "--strict",
  "--exactOptionalPropertyTypes",
  "--skipLibCheck",
  "false",
  "--skipDefaultLibCheck",
];
/** The programs that are servers, by file name. They need further packages. */
const SERVERS = ["own-agent", "guarded-agent", "resource-server"];

let tarball = "";
/** The folder with the compilers and pnpm. */
let tools = "";

function run(folder: string, command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

/**
 * Returns the packages that the page installs in addition to the library, on one line for a holder and on one
 * for a server.
 */
function installed(): readonly (readonly string[])[] {
  const page = readFileSync(join(ROOT, "docs/install.md"), "utf8");
  const lines = page
    .split("\n")
    .filter((line) => /^npm install \S*proviso-\[0-9\]\*\.tgz/.test(line));
  return lines.map((line) => (line.split(".tgz")[1] ?? "").split(" ").filter(Boolean));
}

/** Makes a project. npm or pnpm installs the package and these other packages in it. */
function project(manager: "npm" | "pnpm", packages: readonly string[]): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const all = [tarball, ...packages];
  if (manager === "npm") run(folder, "npm", "install", "--no-audit", "--no-fund", ...all);
  else run(folder, join(tools, "node_modules/.bin/pnpm"), "add", ...all);
  cpSync(PROGRAMS, folder, { recursive: true });
  return folder;
}

function compile(
  folder: string,
  compilers: typeof COMPILERS,
  programs: readonly string[],
  types: readonly string[],
): void {
  const files = programs.map((name) => `${name}.ts`);
  for (const { version, module, resolution } of compilers) {
    const tsc = join(tools, `node_modules/typescript-${version}/bin/tsc`);
    const how = ["--module", module, "--moduleResolution", resolution, "--target", "es2022"];
    const out = ["--outDir", `out-${resolution}`, "--lib", "es2023,dom"];
    const given = types.length === 0 ? [] : ["--types", types.join()];
    try {
      run(folder, process.execPath, tsc, ...how, ...out, ...given, ...CHECKED, ...files);
    } catch (error) {
      const said = error instanceof Error && "stdout" in error ? error.stdout : error;
      throw new Error(`TypeScript ${version}, ${resolution}: ${said}`);
    }
  }
}

/** Runs a compiled program, and returns its output, parsed as JSON. */
function answerOf(folder: string, program: string): unknown {
  return JSON.parse(run(folder, process.execPath, join("out-nodenext", `${program}.js`)));
}

test("docs/install.md names every optional package for a server, and none for a holder", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [holder, server, ...others] = installed();
  expect({ holder, others }).toEqual({ holder: [], others: [] });
  expect(server).toEqual(Object.keys(peerDependencies).sort());
});

if (FULL) {
  beforeAll(() => {
    const packed = temporaryFolder();
    // The package is packed from the current sources.
    run(ROOT, "npm", "pack", "--ignore-scripts", "--pack-destination", packed);
    tarball = join(packed, readdirSync(packed)[0] ?? "");
    tools = temporaryFolder();
    const compilers = TYPESCRIPTS.map(
      (version) => `typescript-${version}@npm:typescript@${version}`,
    );
    writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
    run(tools, "npm", "install", "--no-audit", "--no-fund", "pnpm@10", ...compilers);
  });

  // pnpm's folder layout is tested with only one compiler, since all compilers treat it alike.
  describe.each([
    ["npm", COMPILERS],
    ["pnpm", COMPILERS.filter(({ version }) => version === "7")],
  ] as const)("installed with %s", (manager, compilers) => {
    test(
      "a holder's program compiles and runs without Node's types, and npm installs four packages",
      () => {
        const folder = project(manager, []);
        compile(folder, compilers, ["holder"], []);
        expect(answerOf(folder, "holder")).toEqual({
          operations: ["retrieve"],
          codes: ["operation_denied"],
          same: true,
          verify: "function",
        });
        if (manager === "npm") expect(packagesIn(folder)).toHaveLength(4);
      },
      SLOW,
    );

    test(
      "the programs of servers compile and run with the packages that docs/install.md names for a server",
      () => {
        const [, server = []] = installed();
        const folder = project(manager, [...server, "@types/express", "@types/node@20"]);
        compile(folder, compilers, SERVERS, ["node"]);
        for (const program of SERVERS) {
          expect(answerOf(folder, program), program).toMatchObject({ ok: true });
        }
      },
      SLOW,
    );
  });
}

/** Returns the packages that npm has installed, as its lock file lists them. */
function packagesIn(folder: string): readonly string[] {
  const lock = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
  return Object.keys(JSON.parse(lock).packages);
}
