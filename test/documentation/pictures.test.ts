import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { runProgram } from "../cli/run.js";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The pictures in the documentation show the current output of the command and of the quickstart.

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = join(root, "scripts", "pictures.mjs");
const folder = join(root, "docs", "pictures");
const fresh = temporaryFolder();
const TOKENS = ["diff.svg", "inspect.svg", "refusal.svg"];
// Pictures whose scenes need a running agent.
const SERVED = ["audit-tree.svg", "quickstart.svg"];

/** Returns the lines of text in a picture. */
function linesOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = ""]) =>
    line
      .replace(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );
}

function committed(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

beforeAll(async () => {
  const scenes = FULL ? [] : ["tokens"];
  const { status, stderr } = await runProgram(process.execPath, [
    script,
    ...scenes,
    "--into",
    fresh,
  ]);
  expect(`${status} ${stderr}`).toBe("0 ");
});

test.each(FULL ? [...TOKENS, ...SERVED] : TOKENS)(
  "the picture %s shows what the commands print now",
  (name) => {
    const drawn = readFileSync(join(fresh, name), "utf8");
    expect(linesOf(committed(name)), "make it anew: npm run pictures").toEqual(linesOf(drawn));
  },
);

test("docs/pictures has exactly the pictures that scripts/pictures.mjs makes", () => {
  expect(readdirSync(folder).sort()).toEqual([...TOKENS, ...SERVED].sort());
});

test("docs/guides/command-line.md has the text of its pictures diff.svg and refusal.svg", () => {
  const guide = readFileSync(join(root, "docs", "guides", "command-line.md"), "utf8");
  for (const name of ["diff.svg", "refusal.svg"]) {
    const [command = "", ...printed] = linesOf(committed(name));
    const after = guide.slice(guide.indexOf(command) + command.length);
    expect(guide, name).toContain(command);
    expect(after.slice(after.indexOf("\n") + 1)).toMatch(new RegExp(`^${escaped(printed)}\n`));
  }
});

/** Returns a pattern for lines of text, in which "…" matches anything. */
function escaped(lines: readonly string[]): string {
  return lines.join("\n").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
