import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runHere } from "../cli/run.js";

// Each file in cli/verbs is a verb, and each verb needs documentation.

const root = fileURLToPath(new URL("../..", import.meta.url));
const VERBS = readdirSync(`${root}cli/verbs`).map((file) => basename(file, ".ts"));
// The page folds long examples.
const PAGE = readFileSync(`${root}docs/reference/command.md`, "utf8").replace(/ \\\n {6}/g, " ");

async function output(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(args);
  expect(`${status} ${stderr}`).toBe("0 ");
  return stdout;
}

/** Returns the subcommands of a verb, such as `list` and `rotate` of `keys`. */
function below(help: string): string[] {
  const [, commands = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name);
}

describe.each(VERBS.filter((name) => !name.startsWith("__")))("the verb %s", (verb) => {
  test("has examples in its help, and so has each of its subcommands", async () => {
    const help = await output(verb, "--help");
    for (const name of ["", ...below(help)]) {
      const text = name === "" ? help : await output(verb, name, "--help");
      expect(text, name).toMatch(new RegExp(`^Examples:\\n {2}\\$ proviso ${verb}\\b`, "m"));
    }
  });

  test("is in docs/reference/command.md with its current help, and so is each of its subcommands", async () => {
    for (const name of ["", ...below(await output(verb, "--help"))]) {
      const path = name === "" ? [verb] : [verb, name];
      const { status, stdout } = await runHere([...path, "--help"], { env: { COLUMNS: "68" } });
      expect(status).toBe(0);
      expect(PAGE, "make it anew: npm run reference").toContain(
        `\n${"#".repeat(path.length + 1)} ${path.join(" ")}\n\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`,
      );
    }
  });

  test("is in the list of proviso --help", async () => {
    expect(await output("--help")).toMatch(new RegExp(`^ {2}${verb}\\b`, "m"));
  });
});
