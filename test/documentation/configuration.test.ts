import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PACKAGE } from "./doc-comments.js";

const PAGE = readFileSync(`${PACKAGE}/docs/reference/configuration.md`, "utf8");

test("docs/reference/configuration.md is the current output of npm run reference", () => {
  const program = "const { configurationPage } = await import('./scripts/reference.mjs');";
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", `${program} process.stdout.write(configurationPage());`],
    { cwd: PACKAGE, encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(PAGE, "make it anew: npm run reference").toBe(stdout);
});

test("docs/reference/configuration.md has a row for each property of a server behind proviso mcp gate", () => {
  const [, gate = ""] = PAGE.split("## `proviso mcp gate`");
  const names = [...gate.matchAll(/^\| `servers\.NAME\.(\w+)`/gm)].map(([, name]) => name);
  expect(names).toEqual(["command", "args", "cwd", "env", "url", "headers"]);
});

test("docs/reference/configuration.md gives each property a meaning that opens with a noun or a verb", () => {
  const rows = PAGE.split("\n").filter((line) => line.startsWith("| `"));
  const meanings = rows.map(
    (row) =>
      row
        .split(/(?<!\\)\|/)
        .at(-2)
        ?.trim() ?? "",
  );
  expect(rows.length).toBeGreaterThan(100);
  const opener = /^(With|Whether|What|When|Where|Which|Who|How|Why|By|Instead|In|If|Of|Such)\b/;
  const odd = rows.filter((_, at) => meanings[at] === "" || opener.test(meanings[at] ?? ""));
  expect(odd).toEqual([]);
});

test("docs/reference/configuration.md says of each flag that it overrides the property", () => {
  const flags = PAGE.split("\n").filter((line) => /^\| `.* --[a-z]/.test(line));
  expect(flags.length).toBeGreaterThan(5);
  expect(flags.filter((line) => !/overrides? it\. \|$/.test(line))).toEqual([]);
});
