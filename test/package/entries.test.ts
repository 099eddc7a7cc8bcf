import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

// The entries of the package are small, and export nothing internal.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MOST = 44;

interface Manifest {
  readonly exports: { readonly [entry: string]: string | { readonly types: string } };
}

const { exports: entries }: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const sources = Object.entries(entries).flatMap(([entry, target]) =>
  typeof target === "string"
    ? []
    : [{ entry, file: join(ROOT, target.types.replace("./dist/", "").replace(".d.ts", ".ts")) }],
);
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  noEmit: true,
  // Everything that an entry exports comes from the package's own files.
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  noLib: true,
  types: [],
};
const host = ts.createCompilerHost(options);
host.resolveModuleNameLiterals = (literals, from, _, given) =>
  literals.map(({ text }) =>
    text.startsWith(".")
      ? ts.resolveModuleName(text, from, given, host)
      : { resolvedModule: undefined },
  );
const program = ts.createProgram(
  sources.map(({ file }) => file),
  options,
  host,
);
const checker = program.getTypeChecker();

/** Returns the exports of an entry, including types. */
function exportsOf(file: string): readonly ts.Symbol[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  return checker.getExportsOfModule(module);
}

describe.each(sources)("proviso$entry", ({ entry, file }) => {
  const names = exportsOf(file).map((symbol) => symbol.name);

  test(`has at most ${MOST} exports`, () => {
    expect(names.length).toBeGreaterThan(0);
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(MOST);
  });

  test("exports no class except errors", async () => {
    const module: Record<string, unknown> = await import(file);
    const classes = Object.entries(module).filter(
      ([, value]) => typeof value === "function" && /^class\b/.test(`${value}`),
    );
    const others = classes.filter(
      ([, value]) => !(typeof value === "function" && value.prototype instanceof Error),
    );
    expect(others.map(([name]) => `${entry}: ${name}`)).toEqual([]);
  });
});
