import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The use of the published library by a new user: installs it by the lines of docs/install.md with npm and pnpm,
// compiles a program of each kind with every TypeScript in use, without skipping library checks, and runs it. Only in
// a full run, since it installs from the registry.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));
const TYPESCRIPTS = ["5.9", "6", "7"];
const RESOLUTIONS = [
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
] as const;
/** Milliseconds; installing waits for the registry. */
const SLOW = 300_000;
const CHECKED = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
/** The server programs, by file name, which need further packages. */
const SERVERS = ["own-agent", "guarded-agent", "resource-server"];

let tarball = "";
/** The folder of the compilers and of pnpm. */
let tools = "";

function run(folder: string, command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

/** Returns the packages that the page's two lines install besides the library: for a holder, and for a server. */
function installed(): readonly (readonly string[])[] {
  const page = readFileSync(join(ROOT, "docs/install.md"), "utf8");
  const lines = page
    .split("\n")
    .filter((line) => /^npm install \S*proviso-\[0-9\]\*\.tgz/.test(line));
  return lines.map((line) => (line.split(".tgz")[1] ?? "").split(" ").filter(Boolean));
}

/** Makes a project with the package and others, installed by npm or pnpm. */
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
  versions: readonly string[],
  programs: readonly string[],
  types: readonly string[],
): void {
  const files = programs.map((name) => `${name}.ts`);
  for (const version of versions) {
    const tsc = join(tools, `node_modules/typescript-${version}/bin/tsc`);
    for (const [module, resolution] of RESOLUTIONS) {
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
}

/** Returns the output of a compiled program, parsed as JSON. */
function answerOf(folder: string, program: string): unknown {
  return JSON.parse(run(folder, process.execPath, join("out-nodenext", `${program}.js`)));
}

test("docs/install.md names every package that a part may need", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [holder, server, ...others] = installed();
  expect({ holder, others }).toEqual({ holder: [], others: [] });
  expect(server).toEqual(Object.keys(peerDependencies).sort());
});

if (FULL) {
  beforeAll(() => {
    const packed = temporaryFolder();
    // Built from the current sources, before the first test.
    run(ROOT, "npm", "pack", "--ignore-scripts", "--pack-destination", packed);
    tarball = join(packed, readdirSync(packed)[0] ?? "");
    tools = temporaryFolder();
    const compilers = TYPESCRIPTS.map(
      (version) => `typescript-${version}@npm:typescript@${version}`,
    );
    writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
    run(tools, "npm", "install", "--no-audit", "--no-fund", "pnpm@10", ...compilers);
  });

  // pnpm's layout is tested with one compiler only, since all handle it alike.
  describe.each([
    ["npm", TYPESCRIPTS],
    ["pnpm", ["7"]],
  ] as const)("installed with %s", (manager, versions) => {
    test(
      "a holder's program runs with at most five packages, and without Node's types",
      () => {
        const folder = project(manager, []);
        compile(folder, versions, ["holder"], []);
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
      "programs of all other kinds run with the packages named for a server",
      () => {
        const [, server = []] = installed();
        const folder = project(manager, [...server, "@types/express", "@types/node@20"]);
        compile(folder, versions, SERVERS, ["node"]);
        for (const program of SERVERS) {
          expect(answerOf(folder, program), program).toMatchObject({ ok: true });
        }
      },
      SLOW,
    );
  });
}

/** Returns the packages that npm has installed, by its lock file. */
function packagesIn(folder: string): readonly string[] {
  const lock = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
  return Object.keys(JSON.parse(lock).packages);
}
