import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runProgram } from "../cli/run.js";
import { FULL, WEEKLY } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// For each entry, docs/entries.md names exactly the packages that its code loads.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Manifest {
  readonly exports: { readonly [entry: string]: string | { readonly default: string } };
  readonly dependencies: object;
  readonly peerDependencies: object;
}

const {
  exports: entries,
  dependencies,
  peerDependencies,
}: Manifest = JSON.parse(read("package.json"));
const PEERS = Object.keys(peerDependencies);

const IMPORTED = /^(?:import|export)\b[^"';]*?(?:from\s*)?"([^"]+)";/gm;
const LOADED_LATER = /\b(?:import|load|optionalPackage)\("([^"]+)"/g;
const COMMENT = /^\s*(?:\*|\/\/).*$/gm;

/**
 * Returns the packages that a built file loads when it is imported. With `later`, also those that it loads at a
 * later time.
 */
function packagesOf(file: string, later: boolean): readonly string[] {
  const files = new Set([file]);
  const found = new Set<string>();
  for (const one of files) {
    const code = readFileSync(one, "utf8").replace(COMMENT, "");
    const matches = [...code.matchAll(IMPORTED), ...(later ? code.matchAll(LOADED_LATER) : [])];
    for (const [, name = ""] of matches) {
      if (name.startsWith(".")) files.add(resolve(dirname(one), name));
      const peer = PEERS.find((known) => name === known || name.startsWith(`${known}/`));
      if (peer !== undefined) found.add(peer);
    }
  }
  return [...found].sort();
}

interface Line {
  readonly needs: readonly string[];
  readonly more: readonly string[];
}

/** Entries that a quick run installs. A full run installs every entry. */
const QUICK = ["proviso", "proviso/home", "proviso/a2a"];

/** The rows of the page's table, by entry. */
const lines = new Map<string, Line>(
  [...read("docs/entries.md").matchAll(/^\| `(proviso\S*)` \| `npm install (.*)` \|(.*)\|$/gm)].map(
    ([, entry = "", needs = "", more = ""]) => [
      entry,
      {
        needs: needs.split(" "),
        more: [...more.matchAll(/`([^`]+)`:/g)].map(([, name = ""]) => name),
      },
    ],
  ),
);

/** Makes a project in which only proviso and these packages are installed. */
function project(packages: readonly string[]): string {
  const folder = temporaryFolder();
  const modules = join(folder, "node_modules");
  for (const path of ["package.json", "dist/src"]) {
    cpSync(join(ROOT, path), join(modules, "proviso", path), { recursive: true });
  }
  for (const name of [...Object.keys(dependencies), ...packages]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  return folder;
}

describe.each(
  Object.entries(entries).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[`proviso${path.slice(1)}`, target.default] as const],
  ),
)("%s", (entry, target) => {
  const { needs, more } = lines.get(entry) ?? { needs: [], more: [] };
  const file = join(ROOT, target);

  test("has a row in docs/entries.md with exactly the packages that the entry loads", () => {
    const ever = packagesOf(file, true).filter(
      // The host of A2E shares files with servers that use rate-limiter-flexible, but does not use that package
      // itself.
      (name) => !(entry === "proviso/a2e" && name === "rate-limiter-flexible"),
    );
    expect([...needs, ...more].sort()).toEqual(ever);
    expect(needs).toEqual([...needs].sort());
    expect(needs).toEqual(expect.arrayContaining([...packagesOf(file, false)]));
  });

  if (!FULL && !QUICK.includes(entry)) return;
  test("can be imported and required without a warning if the packages that docs/entries.md names for it are installed", async () => {
    const folder = project(needs);
    const code = `const required = require("${entry}");
      import("${entry}").then((imported) => console.log(imported === required));`;
    writeFileSync(join(folder, "both.cjs"), code);
    const said = await runProgram(process.execPath, ["both.cjs"], { cwd: folder });
    expect(said).toEqual({ status: 0, stdout: "true\n", stderr: "" });
  });
});

test("the program of docs/guides/guard.md runs with the packages that the page installs", async () => {
  const page = read("docs/guides/guard.md");
  const [, packages = ""] = /^npm install \S+\.tgz (.*)$/m.exec(page) ?? [];
  const [, code = ""] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const folder = project(packages.split(" "));
  writeFileSync(join(folder, "guard.mjs"), `${code}\nconsole.log("done");\n`);
  const options = { cwd: folder, env: { TMPDIR: folder } };
  const said = await runProgram(process.execPath, ["guard.mjs"], options);
  expect(said).toMatchObject({ status: 0, stdout: expect.stringMatching(/\ndone\n$/) });
  const used = ["proviso/a2a", "proviso/agent", "proviso/home"];
  const needed = used.flatMap((entry) => lines.get(entry)?.needs ?? []);
  expect(packages.split(" ")).toEqual([...new Set(needed)].sort());
});

describe("the error for a missing optional package", () => {
  test.each([["prom-client", "createAgentMetrics()", "counting for Prometheus"]])(
    "names %s, and the feature that needs the package",
    async (name, call, use) => {
      const folder = project(lines.get("proviso/a2a")?.needs ?? []);
      const code = `import * as a2a from "proviso/a2a"; try { a2a.${call}; } catch (error) { console.log(error.message); }`;
      writeFileSync(join(folder, "a.mjs"), code);
      const { stdout } = await runProgram(process.execPath, ["a.mjs"], { cwd: folder });
      expect(stdout).toBe(
        `${use} needs the package ${name}, which cannot be loaded (npm install ${name})\n`,
      );
    },
  );
});

describe("TypeScript in a CommonJS file compiles, or fails to compile, as docs/install.md says", () => {
  const folder = project([]);
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  writeFileSync(
    join(folder, "use.ts"),
    'import { attenuate } from "proviso";\nimport { createKeyring } from "proviso/issuer";\n' +
      "console.log(typeof attenuate, typeof createKeyring);\n",
  );

  test.each<readonly [string, string, string | undefined]>([
    ["nodenext", "nodenext", undefined],
    ["node16", "node16", "TS1479"],
    ...(FULL
      ? ([
          ["node20", "node16", undefined],
          ["preserve", "bundler", undefined],
          ["esnext", "bundler", undefined],
          ["commonjs", "bundler", undefined],
          ["node18", "node16", "TS1479"],
          ["commonjs", "node10", "TS5107"],
        ] as const)
      : []),
  ])("with module %s and moduleResolution %s", async (module, moduleResolution, fault) => {
    const checks = { strict: true, skipLibCheck: false, skipDefaultLibCheck: true };
    const options = { ...checks, types: [], target: "es2022", module, moduleResolution };
    const config = join(folder, `${module}-${moduleResolution}.json`);
    const compilerOptions = { ...options, outDir: `out-${module}-${moduleResolution}` };
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { status, stdout } = await runProgram(process.execPath, [tsc, "-p", config]);
    if (fault !== undefined) {
      expect(stdout).toContain(fault);
      return;
    }
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    const out = join(folder, compilerOptions.outDir, "use.js");
    expect(existsSync(out)).toBe(true);
    if (module === "esnext" || module === "preserve") return;
    const said = await runProgram(process.execPath, [out], { cwd: folder });
    expect(said).toEqual({ status: 0, stdout: "function function\n", stderr: "" });
  });
});

// This test installs Jest from the registry, which takes long.
if (WEEKLY) {
  test("Jest imports the package as docs/install.md says", async () => {
    // Jest is installed in another folder, since it brings a package with the same name as one of proviso's.
    const tools = temporaryFolder();
    writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
    const install = ["install", "--no-audit", "--no-fund", "jest@30"];
    await runProgram("npm", install, { cwd: tools, env: { HOME: tools } });
    const folder = project([]);
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const tests = {
      "required.test.js": 'test("it", () => expect(require("proviso").attenuate).toBeDefined());',
      "imported.test.js":
        'test("it", async () => expect((await import("proviso")).attenuate).toBeDefined());',
      "imported.test.mjs":
        'import { attenuate } from "proviso"; test("it", () => expect(attenuate).toBeDefined());',
    };
    for (const [name, code] of Object.entries(tests)) writeFileSync(join(folder, name), code);
    const jest = join(tools, "node_modules/jest/bin/jest.js");
    const run = async (name: string): Promise<readonly [number | null, string]> => {
      const env = { NODE_OPTIONS: "--experimental-vm-modules", HOME: folder, TMPDIR: folder };
      const args = [jest, name, "--testMatch", `**/${name}`];
      const { status, stderr } = await runProgram(process.execPath, args, { cwd: folder, env });
      return [status, stderr];
    };
    const [status, said] = await run("required.test.js");
    expect(status).toBe(1);
    expect(said).toContain("Must use import to load ES Module");
    expect((await run("imported.test.js"))[0]).toBe(0);
    expect((await run("imported.test.mjs"))[0]).toBe(0);
  }, 300_000);
}
