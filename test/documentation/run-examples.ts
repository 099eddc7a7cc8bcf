import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Example, PACKAGE } from "./doc-comments.js";

// The folder is inside the package, so that Node resolves "proviso" to the built package.
const FOLDER: string = join(PACKAGE, ".examples");

// Match `expression; // => value`, with the value on the same line or on the next one.
const SAME_LINE = /^(\s*)(.+?);\s*\/\/ => (.+)$/;
const NEXT_LINE = /^\s*\/\/ => (.+)$/;

const HARNESS = `
import assert from "node:assert";
const failures = {};
globalThis.$check = (actual, expected, where) => {
  try {
    assert.deepStrictEqual(actual, expected);
  } catch (error) {
    throw new Error(where + ": " + error.message);
  }
};
for (const file of process.argv.slice(2)) {
  try {
    await import(file);
  } catch (error) {
    failures[file] = error instanceof Error ? error.message : String(error);
  }
}
console.log(JSON.stringify(failures));
`;

/** Runs examples one after another in a separate process. Returns the failure messages by index. */
export async function runExamples(examples: readonly Example[]): Promise<Map<number, string>> {
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, "run-"));
  try {
    writeFileSync(join(folder, "run.mjs"), HARNESS);
    const files = examples.map((example, at) => {
      const file = join(folder, `example-${at}.mjs`);
      writeFileSync(file, programOf(example));
      return file;
    });
    const words = [join(folder, "run.mjs"), ...files];
    // Examples make temporary folders, and do not remove them.
    const env = { ...process.env, TMPDIR: folder };
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    // Examples may print further lines before the result.
    const last = stdout.trimEnd().split("\n").at(-1) ?? "";
    const failures: { readonly [file: string]: string } = JSON.parse(last);
    return new Map(
      files.flatMap((file, at) => {
        const failure = failures[file];
        return failure === undefined ? [] : [[at, failure] as const];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the program for an example, in which every `// => value` becomes an assertion. */
export function programOf({ file, line, code }: Example): string {
  const lines = [...code];
  for (const [at, text] of code.entries()) {
    const where = JSON.stringify(`${file}:${line + at}`);
    const same = SAME_LINE.exec(text);
    const next = NEXT_LINE.exec(text);
    if (same !== null) {
      const [, margin = "", expression = "", value = ""] = same;
      lines[at] = `${margin}$check((${expression}), (${value}), ${where});`;
    } else if (next !== null && at > 0) {
      const expression = (code[at - 1] ?? "").replace(/;\s*$/, "");
      lines[at - 1] = `$check((${expression}), (${next[1] ?? ""}), ${where});`;
    }
  }
  return `${lines.join("\n")}\n`;
}
