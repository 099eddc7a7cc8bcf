import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runHere } from "../cli/run.js";

// The build writes the manual page, cli/dist/man/proviso.1.

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATH = `${root}cli/dist/man/proviso.1`;
const PAGE = readFileSync(PATH, "utf8");
const VERBS = readdirSync(`${root}cli/verbs`).map((file) => basename(file, ".ts"));

/** Returns the subcommands that the help of a verb lists. */
async function below(verb: string): Promise<string[]> {
  const { stdout } = await runHere([verb, "--help"]);
  const [, commands = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name);
}

test("the manual page has the usual sections", () => {
  const sections = [...PAGE.matchAll(/^\.SH (.*)$/gm)].map(([, name = ""]) => name);
  expect(sections.filter((name) => !name.startsWith("PROVISO "))).toEqual([
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "COMMANDS",
    "EXIT STATUS",
    "ENVIRONMENT",
    "EXAMPLES",
  ]);
  expect(PAGE).toMatch(/^proviso \\- \S/m);
});

test("the manual page has every command and subcommand", async () => {
  for (const verb of VERBS) {
    expect(PAGE, verb).toContain(`\n.SH PROVISO ${verb.toUpperCase()}\n`);
    for (const name of await below(verb)) expect(PAGE).toContain(`\n.SS proviso ${verb} ${name}\n`);
  }
});

test("the command's manifest names and ships the manual page", () => {
  const manifest = JSON.parse(readFileSync(`${root}cli/package.json`, "utf8"));
  // If `man` is a string instead of an array, npm does not link the manual page.
  expect(manifest.man).toEqual(["./dist/man/proviso.1"]);
  expect(manifest.files).toContain("dist");
});

test("the program man shows the manual page without a warning", async (context) => {
  const { error, status, stdout, stderr } = spawnSync(
    "man",
    ["--warnings", "-E", "UTF-8", "-l", PATH],
    {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], MANWIDTH: "200", MAN_KEEP_FORMATTING: "" },
    },
  );
  if (error !== undefined) context.skip("man is not installed: apt-get install man-db");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  for (const said of ["EXIT STATUS", "--max-further-hops <count>", "$ proviso init agent"]) {
    expect(stdout).toContain(said);
  }
});
