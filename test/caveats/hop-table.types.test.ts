import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

// What the types promise: a key that is declared in Hop, but has no rule, does not compile, nor does a
// rule that leaves out a part. Asked of the compiler itself, over the project's own files and one more
// that adds to them.

const ROOT = process.cwd();
const RULES = join(ROOT, "src/caveats/hop-rules.ts");
const ADDED = join(ROOT, "src/caveats/added-by-a-test.ts");

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  ROOT,
);

/** Every file but the added one, parsed once for all of the tests. */
const PARSED = new Map<string, ts.SourceFile | undefined>();

/** The compiler's errors in the rules and in the added file. */
function errorsWith(added: string): { readonly file: string; readonly text: string }[] {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => path === ADDED || fileExists(path);
  host.readFile = (path) => (path === ADDED ? added : readFile(path));
  host.getSourceFile = (path, language, ...rest) => {
    if (path === ADDED) return ts.createSourceFile(path, added, language);
    const parsed = PARSED.get(path) ?? getSourceFile.call(host, path, language, ...rest);
    PARSED.set(path, parsed);
    return parsed;
  };
  const program = ts.createProgram([RULES, ADDED], { ...options, noEmit: true }, host);
  return [RULES, ADDED].flatMap((file) => {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} is not in the program`);
    return program.getSemanticDiagnostics(source).map(({ messageText }) => ({
      file: file === RULES ? "rules" : "added",
      text: ts.flattenDiagnosticMessageText(messageText, "\n"),
    }));
  });
}

const withKey = (member: string): string =>
  `import "./hop.js";\ndeclare module "./hop.js" {\n  interface Hop {\n    ${member}\n  }\n}\n`;

describe("the compiler", { timeout: 120_000 }, () => {
  test("has nothing against the table as it is", () => {
    expect(errorsWith("export {};")).toEqual([]);
  });

  test("refuses a key of Hop that has no rule, and names it", () => {
    const errors = errorsWith(withKey("readonly budget?: number;"));
    const missing = errors.find(({ text }) => /'budget' is missing/.test(text));
    expect(missing?.file).toBe("rules");
  });

  test("refuses a key whose value has another type than its rule", () => {
    const errors = errorsWith(
      'import { HOP_RULES } from "./hop-rules.js";\nimport type { HopRule } from "./hop-rule.js";\nexport const rule: HopRule<number> = HOP_RULES.operations;\n',
    );
    expect(errors.map(({ file }) => file)).toEqual(["added"]);
  });

  test.each([
    "problems",
    "canonical",
    "failures",
    "meet",
    "empty",
    "overreaches",
    "intersect",
    "words",
    "left",
    "label",
  ])("refuses a rule without %s", (part) => {
    const errors = errorsWith(
      `import { PURPOSE } from "./note-rule.js";\nimport type { HopRule } from "./hop-rule.js";\nconst { ${part}: _, ...rest } = PURPOSE;\nexport const rule: HopRule<string> = rest;\nexport const used: unknown = _;\n`,
    );
    expect(errors.map(({ file }) => file)).toEqual(["added"]);
    expect(errors[0]?.text).toContain(part);
  });
});
