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
/** Returns the names that an entry exports, including types; for an exported declaration, its text. */
function exportsOf(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement;
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) {
        throw new Error(`${file} must name each export`);
      }
      return exportClause.elements.map(({ name }) => name.text);
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return isExported === true ? [statement.getText(source)] : [];
  });
}

describe.each(sources)("proviso$entry", ({ entry, file }) => {
  const names = exportsOf(file);

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
