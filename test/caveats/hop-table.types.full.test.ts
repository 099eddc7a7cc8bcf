import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

// These tests check guarantees of the types: a key of Hop without a rule does not compile, and neither does a rule
// that lacks a part. They run the compiler on the project's files and on a few added files.

const ROOT = process.cwd();
const FOLDER = join(ROOT, "src/caveats");
const RULES = join(FOLDER, "hop-rules.ts");

const { options: project } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  ROOT,
);
/**
 * The project's options without Node's types. src/caveats does not use these types, and reading them would take most
 * of the time.
 */
const options: ts.CompilerOptions = { ...project, types: [] };

/** Every file except the added files, parsed once for all tests. */
const PARSED = new Map<string, ts.SourceFile | undefined>();

/** Compiles the rules with the added files in one program, and returns the errors of each file. */
function compiled(added: { readonly [name: string]: string }): (name: string) => string[] {
  const sources = new Map(
    Object.entries(added).map(([name, text]) => [join(FOLDER, `added-${name}.ts`), text]),
  );
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = sources.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, language);
    const parsed = PARSED.get(path) ?? getSourceFile.call(host, path, language, ...rest);
    PARSED.set(path, parsed);
    return parsed;
  };
  const program = ts.createProgram([RULES, ...sources.keys()], { ...options, noEmit: true }, host);
  return (name) => {
    const file = name === "hop-rules" ? RULES : join(FOLDER, `added-${name}.ts`);
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} is not in the program`);
    return program
      .getSemanticDiagnostics(source)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  };
}

const PARTS = [
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
];

/** Returns a file with a copy of the rule of `purpose` from which parts may be missing. */
const ruleOf = (left: string): string => `import { PURPOSE } from "./note-rule.js";
import type { HopRule } from "./hop-rule.js";
${left}
export const rule: HopRule<string> = rest;
`;

describe("the TypeScript compiler", { timeout: 120_000 }, () => {
  const errorsIn = compiled({
    ...Object.fromEntries(
      PARTS.map((part) => [part, ruleOf(`const { ${part}, ...rest } = PURPOSE;\nvoid ${part};`)]),
    ),
    whole: ruleOf("const rest = PURPOSE;"),
    otherType:
      'import { HOP_RULES } from "./hop-rules.js";\nimport type { HopRule } from "./hop-rule.js";\nexport const rule: HopRule<number> = HOP_RULES.operations;\n',
  });

  test("accepts the table as it is, and a complete rule", () => {
    expect([errorsIn("hop-rules"), errorsIn("whole")]).toEqual([[], []]);
  });

  test("refuses a hop key without a rule, and names it", () => {
    const key = `import "./hop.js";\ndeclare module "./hop.js" {\n  interface Hop {\n    readonly budget?: number;\n  }\n}\n`;
    const errors = compiled({ key })("hop-rules");
    expect(errors.some((text) => /'budget' is missing/.test(text))).toBe(true);
  });

  test("refuses a rule whose value has another type than the hop's key", () => {
    expect(errorsIn("otherType")).toHaveLength(1);
  });

  test.each(PARTS)("refuses a rule without %s", (part) => {
    expect(errorsIn(part)[0]).toContain(part);
  });
});
