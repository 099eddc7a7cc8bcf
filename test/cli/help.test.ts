import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";
import { Shell } from "./shell.js";

const bench = new Bench();
const shell = new Shell(bench);
const VERBS = [
  "init",
  "keys",
  "mint",
  "attenuate",
  "inspect",
  "verify",
  "diff",
  "revoke",
  "revocations",
  "convert",
  "completion",
  "keys list",
  "keys rotate",
  "keys export",
  "keys retire",
  "init agent",
  "keys service",
  "revocations list",
  "revocations prune",
  "vectors",
  "vectors check",
];

async function help(verb: string): Promise<string> {
  const words = verb === "" ? [] : verb.split(" ");
  return bench.output(...words, "--help");
}

const examplesIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = ""]) => line);

test("proviso --help shows examples in the order of use, every verb, exit codes and environment variables", async () => {
  const text = await help("");
  for (const verb of VERBS.slice(0, 11)) expect(text).toMatch(new RegExp(`^  ${verb}\\b`, "m"));
  expect(examplesIn(text).map((line) => line.split(" ")[1])).toEqual(
    ["init", "mint", "attenuate", "inspect", "verify", "revoke"], // in the order of use
  );
  expect(text.match(/^ {2}[0-7] {2}\S/gm)).toHaveLength(8);
  for (const name of ["PROVISO_HOME", "NO_COLOR"]) expect(text).toContain(name);
});

test("proviso --version prints the package's version", async () => {
  const path = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8"));
  expect(await bench.output("--version")).toBe(version);
});

test("the help of every verb has a description, examples, and a text for each option", async () => {
  const texts = await Promise.all(VERBS.map(help));
  for (const [at, text] of texts.entries()) {
    const verb = VERBS[at] ?? "";
    expect(text).toMatch(new RegExp(`^Usage: proviso ${verb}\\b.*\\n\\n[A-Z].*\\.\\n`, "s"));
    expect(text).toMatch(/^Examples:$/m);
    expect(examplesIn(text).length).toBeGreaterThan(0);
    // The description of an option is beside it, or below it if the option is too long.
    for (const [line] of text.matchAll(/^ {2}-.*$/gm)) expect(line).toMatch(/ {2}\S.* {2,}\S/);
    for (const line of text.split("\n")) {
      if (!line.startsWith("  $")) expect(line.length, line).toBeLessThanOrEqual(80);
      expect(line).not.toMatch(/!$/);
    }
  }
  expect((await bench.run(["help", "mint"])).stdout).toBe(`${texts[VERBS.indexOf("mint")]}\n`);
});

if (FULL) {
  test("all examples in the help of the verbs work in order", async () => {
    const texts = await Promise.all(["", ...VERBS].map(help));
    const [overview = [], ...verbs] = texts.map(examplesIn);

    const lines = [
      ...overview,
      // A revocation is permanent, so the examples of the verbs start with a new home.
      "rm -rf home token narrowed",
      ...verbs.flat(),
    ];
    expect(await shell.runLines(lines)).not.toContain("proviso:");
  });
}

test.each([40, 60, 100])(
  "the lines of every help text, except usage and examples, fit a terminal of %i characters",
  async (width) => {
    for (const verb of ["", ...VERBS]) {
      const words = verb === "" ? [] : verb.split(" ");
      const run = await bench.run([...words, "--help"], { env: { COLUMNS: String(width) } });
      const lines = run.stdout.split("\n").filter((line) => !/^ {2}\$ |^Usage: /.test(line));
      // A line may be longer if its last word is too long for the column.
      const wide = lines.filter(
        (line) => line.length > width && / \S+ \S+$/.test(line.trimStart()),
      );
      expect(wide, verb).toEqual([]);
    }
  },
);
