import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// The built package of the command depends on exactly the packages that it loads. A package is loaded only by
// the verbs that need it.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(ROOT, "cli/dist");

const { dependencies }: { readonly dependencies: { readonly [name: string]: string } } = JSON.parse(
  readFileSync(join(ROOT, "cli/package.json"), "utf8"),
);
const { devDependencies }: { readonly devDependencies: { readonly [name: string]: string } } =
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** Matches the modules that a file loads when it is itself loaded. */
const AT_ONCE = /^(?:const|let) \w+ = (?:require_\w+\.__toESM\()?require\("([^"]+)"\)/gm;
/** Matches all modules that a file loads, when it is loaded or later. */
const EVER = /\b(?:require|import|load|optionalPackage)\("([^"]+)"|\bfrom "([^"]+)";$/gm;

function namesIn(file: string, pattern: RegExp): readonly string[] {
  const code = readFileSync(join(DIST, file), "utf8").replace(/^\s*(?:\*|\/\/|\/\*\*).*$/gm, "");
  return [...code.matchAll(pattern)].map(([, one, other]) => one ?? other ?? "");
}

function packagesIn(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => !isBuiltin(name) && !name.startsWith("."))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "");
}

test("the command's files load exactly the packages in the command's dependencies, in the tested versions", () => {
  const files = readdirSync(DIST, { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => /\.[cm]js$/.test(file))
    .flatMap((file) => packagesIn(namesIn(file, EVER)));
  expect([...new Set(names)].sort()).toEqual(Object.keys(dependencies).sort());
  for (const [name, range] of Object.entries(dependencies)) {
    expect(`${name} ${range}`).toBe(`${name} ${devDependencies[name]}`);
  }
});

test("the command does not load a package both as CommonJS and as ES module", () => {
  const files = readdirSync(DIST).filter((file) => file.endsWith(".cjs"));
  const loaded = (pattern: RegExp): ReadonlySet<string> =>
    new Set(files.flatMap((file) => packagesIn(namesIn(file, pattern))));
  const required = loaded(/\brequire\("([^"]+)"\)/g);
  expect(required).toContain("@a2a-js/sdk");
  const imported = [...loaded(/\bimport\("([^"]+)"\)/g)];
  expect(imported).toContain("jose");
  const comesAsBoth = (name: string): boolean =>
    readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8").includes('"import": ');
  expect(imported.filter((name) => required.has(name) && comesAsBoth(name))).toEqual([]);
});

test.each([
  ["tokens.cjs", []],
  ["home.cjs", []],
])(
  "main.cjs with %s loads fewer than 8 files at its start, and the packages %j",
  (file, packages) => {
    const seen = new Set<string>();
    const open = ["main.cjs", file];
    const outside = new Set<string>();
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (seen.has(one)) continue;
      seen.add(one);
      const names = namesIn(one, AT_ONCE);
      open.push(...names.filter((name) => name.startsWith("./")).map((name) => name.slice(2)));
      for (const name of packagesIn(names)) outside.add(name);
    }
    expect(seen.size).toBeGreaterThan(3);
    expect(seen.size).toBeLessThan(8);
    expect([...outside]).toEqual(packages);
  },
);
