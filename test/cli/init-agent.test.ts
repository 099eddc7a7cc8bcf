import { mkdirSync, readdirSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import { readCard } from "../../src/discovery/index.js";
import { MAIN } from "../support/built.js";
import { Bench, document, runProgram } from "./run.js";
import { RunningProgram } from "./running.js";

// Tests create an agent and call it as its README says. The built command serves it.

const FILES = [
  ".gitignore",
  "README.md",
  "agent.json",
  "home",
  "policy.json",
  "skills.mjs",
  "skills.test.mjs",
  "tokens.json",
];

test("an agent made by init agent starts without changes, and the commands in its README work", async () => {
  const bench = new Bench();
  const made = await bench.run(["init", "agent", "my-agent"]);
  expect(made).toMatchObject({ status: 0, stderr: "" });
  const folder = bench.path("my-agent");
  expect(readdirSync(folder).sort()).toEqual(FILES);
  expect(statSync(`${folder}/tokens.json`).mode & 0o777).toBe(0o600);
  expect(statSync(`${folder}/home`).mode & 0o777).toBe(0o700);

  const lines = made.stdout.trimEnd().split("\n");
  expect(lines[1]).toBe("Next, in my-agent:");
  const [serve = "", ...calls] = lines.slice(2).map((line) => line.trim());
  expect([serve, ...calls]).toHaveLength(3);
  const wordsOf = (line: string): string[] => line.split(" ").slice(1);

  const own = new RunningProgram([MAIN, ...wordsOf(serve), "--port", "0", "--json"], {}, folder);
  const { url } = document(await own.says(/^\{.*\}\n/));
  const run = (words: readonly string[]) => {
    const here = words.map((word) => word.replace("http://127.0.0.1:8080", url));
    return bench.run(here, { cwd: folder });
  };
  // Clients can require the capabilities that the card declares, and the card has no faults.
  const served: JsonObject = JSON.parse(await bench.output("card", url, "--json"));
  const { capabilities } = readCard(served);
  const declared = [...capabilities].flatMap(([name, has]) => (has ? ["--require", name] : []));
  expect(declared).toEqual(expect.arrayContaining(["streaming", "context_reuse"]));
  expect(await run(["discover", url, ...declared, "--end-to-end", "context_reuse"])).toMatchObject({
    status: 0,
    stderr: "",
  });
  expect((await run(["card", "lint", url])).stdout).toMatch(/: nothing is wrong\n$/);

  const readme = bench.read("my-agent/README.md");
  for (const line of calls) {
    expect(readme).toContain(`\n${line}\n`);
    expect(await run(wordsOf(line)), line).toMatchObject({ status: 0 });
  }
  expect((await run(wordsOf(calls[1] ?? ""))).stdout).toMatch(/sum\W+5/);

  const [, narrow = "", beyond = ""] = /^(proviso attenuate .*)\n(.*)$/m.exec(readme) ?? [];
  const narrowed = await run(wordsOf(narrow.replaceAll("'", "")));
  expect(narrowed).toMatchObject({ status: 0, stdout: "" });
  const refused = await run(wordsOf(beyond));
  expect(refused).toMatchObject({ status: 1, stdout: "" });
  expect(refused.stderr).toContain("constraint_violated");
});

test("the tests of a new agent pass without installed packages", async () => {
  const bench = new Bench();
  await bench.output("init", "agent", "calculator");
  const folder = bench.path("calculator");
  const { status, stdout } = await runProgram(process.execPath, ["--test"], { cwd: folder });
  expect(stdout).toMatch(/pass 2\b/);
  expect(status).toBe(0);
});

describe("the folder of init agent", () => {
  test("may exist if it is empty, and is kept", async () => {
    const bench = new Bench();
    mkdirSync(bench.path("empty"));
    const { ino } = statSync(bench.path("empty"));
    const { status, stdout } = await bench.run(["init", "agent", "--json"], {
      cwd: bench.path("empty"),
    });
    expect(status).toBe(0);
    expect(document(stdout)).toMatchObject({ folder: bench.path("empty") });
    expect(readdirSync(bench.path("empty")).sort()).toEqual(FILES);
    expect(statSync(bench.path("empty")).ino).toBe(ino);
    expect(JSON.parse(bench.read("empty/agent.json"))).toMatchObject({ name: "empty" });
  });

  test("is refused and unchanged if it holds anything", async () => {
    const bench = new Bench();
    bench.write("notes.txt", "mine");
    const { status, stdout, stderr } = await bench.run(["init", "agent"]);
    expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
    expect(stderr).toMatch(/ is not empty: notes\.txt\nhint: name a folder that is empty/);
    expect(readdirSync(bench.folder)).toEqual(["notes.txt"]);
  });

  test("is refused if its path is below a file, and nothing is left behind", async () => {
    const bench = new Bench();
    bench.write("file", "mine");
    const { status, stderr } = await bench.run(["init", "agent", "file/agent"]);
    expect(status).toBe(6);
    expect(stderr).toContain("could not make an agent at");
    expect(readdirSync(bench.folder)).toEqual(["file"]);
  });
});

test("two agents made by init agent have different access tokens", async () => {
  const bench = new Bench();
  await bench.output("init", "agent", "one");
  await bench.output("init", "agent", "two");
  expect(bench.read("one/tokens.json")).not.toBe(bench.read("two/tokens.json"));
});

test.each([
  ["--issuer", "init", "--issuer", "other", "agent", "x"],
  ["--home", "init", "agent", "x", "--home", "y"],
])("init agent refuses %s, which it does not use", async (flag, ...words) => {
  const bench = new Bench();
  const { status, stderr } = await bench.run(words);
  expect(status).toBe(2);
  expect(stderr).toContain(`${flag} is not for proviso init agent`);
  expect(readdirSync(bench.folder)).toEqual([]);
});
