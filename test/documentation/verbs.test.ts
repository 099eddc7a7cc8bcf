import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runHere } from "../cli/run.js";

// A verb is a file in cli/verbs; whatever file is added there has to be explained.

const root = fileURLToPath(new URL("../..", import.meta.url));
const VERBS = readdirSync(`${root}cli/verbs`).map((file) => basename(file, ".ts"));
const README = readFileSync(`${root}README.md`, "utf8");

async function output(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(args);
  expect(`${status} ${stderr}`).toBe("0 ");
  return stdout;
}

/** The verbs below one, such as `list` and `rotate` below `keys`. */
function below(help: string): string[] {
  const [, commands = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name);
}

describe.each(VERBS.filter((name) => !name.startsWith("__")))("%s", (verb) => {
  test("has examples in its help, and so has every verb below it", async () => {
    const help = await output(verb, "--help");
    for (const name of ["", ...below(help)]) {
      const text = name === "" ? help : await output(verb, name, "--help");
      expect(text, name).toMatch(new RegExp(`^Examples:\\n {2}\\$ proviso ${verb}\\b`, "m"));
    }
  });

  test("has a row in the README's table, with every verb below it", async () => {
    const [row = ""] = README.match(new RegExp(`^\\| \`${verb}\\b.*$`, "m")) ?? [];
    expect(row, `README.md has no row for ${verb}`).not.toBe("");
    const [, cell = ""] = row.split(/(?<!\\) \| |^\| /);
    for (const name of below(await output(verb, "--help"))) expect(cell).toContain(name);
  });

  test("stands in the list of all verbs", async () => {
    expect(await output("--help")).toMatch(new RegExp(`^ {2}${verb}\\b`, "m"));
  });
});
