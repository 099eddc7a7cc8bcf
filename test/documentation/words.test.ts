import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

// Comments, messages, help and documents are in plain words: they name the actor and say "cannot".

const root = fileURLToPath(new URL("../..", import.meta.url));
const WORDS =
  /\b(?:whoever|nobody|is none|said on|told|tells?|telling|can not|is it that|what came of)\b/gi;
const FOLDERS = ["src", "cli", "scripts", "bench", "docs", "examples", "schemas", "spec-vectors"];
const PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
const READ = /\.(?:ts|mts|mjs|py|md|html|json|jsonc|sh|yml)$/;
const CODE = /\.(?:ts|mts|mjs)$/;
// The poems of the example are data, the vectors hold texts drawn at random, and what is generated here
// repeats the doc comments.
const LEFT_OUT =
  /(?:^|\/)(?:node_modules|documents|\.data|\.vitepress|__pycache__)\/|^docs\/api\/|^spec-vectors\/[^/]*\.json$/;

/** Words that are data wherever they occur: the operation of the example clock, and what it does. */
const DATA = /"tell"|\b[Tt]ells? the time\b/g;

/** The lines of a text with a word that is not plain, except in names of code. */
function offending(path: string, text: string): string[] {
  const prose = text.replace(DATA, (data) => " ".repeat(data.length));
  const hits = [...prose.matchAll(WORDS)].filter(
    ([word]) => !(path.endsWith(".py") && word === "is None"),
  );
  const lineFrom = (index: number): number => text.lastIndexOf("\n", index - 1) + 1;
  const named = CODE.test(path) && hits.length > 0 ? namesIn(text) : new Set<number>();
  return hits
    .filter(({ index }) => !named.has(index))
    .map(({ index }) => text.slice(lineFrom(index)).split("\n", 1).join("").trim())
    .map((line) => `${path}: ${line}`);
}

/** Where the names of variables, functions and members begin, a `#` left out. */
function namesIn(text: string): ReadonlySet<number> {
  const file = ts.createSourceFile("code.ts", text, ts.ScriptTarget.Latest);
  const found = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) found.add(node.getStart(file));
    if (ts.isPrivateIdentifier(node)) found.add(node.getStart(file) + 1);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && READ.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
).filter((path) => !LEFT_OUT.test(path));

test.each([...FOLDERS, "pages"])("%s: plain words", (place) => {
  const here = place === "pages" ? PAGES : files.filter((path) => path.startsWith(`${place}/`));
  expect(here.length).toBeGreaterThan(0);
  expect(here.flatMap((path) => offending(path, readFileSync(join(root, path), "utf8")))).toEqual(
    [],
  );
});

test.each([
  ["a.ts", "// Whoever calls", 1],
  ["a.ts", "/** @throws Error if it is none. */", 1],
  ["a.ts", "const message = `the token can not be read`;", 1],
  ["a.mjs", 'console.log("the caller is told why")', 1],
  ["a.md", "Nobody reads this", 1],
  ["a.py", "# Tells why there is none.", 2],
  ["a.py", "if key is None:", 0],
  ["a.ts", "const told = this.#tell(told.tells);", 0],
  ["a.ts", 'const skill = { operation: "tell", description: "Tells the time" };', 0],
])("an offending line is found: %s, %s", (path, line, count) => {
  expect(offending(path, `first\n${line}\nlast`)).toHaveLength(count);
});

test.each([
  ["Told when a receiver could not be told.", "Called when a delivery fails."],
  [
    "but who nobody knows, or who is too often here, is told by HTTP",
    "Authentication and rate-limit errors use the HTTP status.",
  ],
  ["a text in it is none", "the stored text column is not a string"],
  [
    "TypeError if the event or a capability is none",
    "TypeError if the event or capability is invalid",
  ],
  [
    "Whoever makes a call chooses how many handles it names",
    "The caller chooses how many handles it names, so cap how many are reported.",
  ],
  ["what is told of them is bounded", "cap how many are reported"],
  [
    "What is told instead of a fault at the end of base64.",
    "Codes reported in preference to a base64 tail error.",
  ],
  ["Nobody is read out before it is known who calls.", "Authenticate before reading the body."],
  ["No HTTP there: said on Node 24 too", "cli: report non-HTTP endpoints on Node 24"],
  ["a key that can not be used", "a key that cannot be used"],
])("%s", (before, after) => {
  expect(offending("a.ts", `// ${before}`)).not.toEqual([]);
  expect(offending("a.ts", `// ${after}`)).toEqual([]);
});
