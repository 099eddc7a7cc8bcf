import { basename, dirname } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { Bench, runProgram } from "./run.js";

// What a verb loads before it answers: files and modules of Node are counted, since time is not.

const bench = new Bench();
beforeAll(async () => {
  await bench.init("--grant", "documents:read=retrieve,search");
  bench.write("token", await bench.output("mint", "--grant", "documents:read"));
});

interface Loaded {
  readonly files: readonly string[];
  readonly builtin: readonly string[];
}

/** Files that a run has read as modules, and the modules of Node that it has loaded. */
async function loadedBy(args: readonly string[]): Promise<Loaded> {
  const report = bench.write(
    "report.cjs",
    `process.on("exit", (code) => code === 0 && process._rawDebug(JSON.stringify({
       files: Object.keys(require.cache),
       builtin: process.moduleLoadList.map((name) => name.replace(/^NativeModule /, "")),
     })));`,
  );
  const options = { cwd: bench.folder, env: { PROVISO_HOME: bench.home } };
  const { stderr } = await runProgram(process.execPath, ["--require", report, ...args], options);
  return JSON.parse(stderr.split("\n").at(-2) ?? "");
}

/** Node's loader of ECMAScript modules, sockets, other programs, all of its cryptography, and terminals. */
const SLOW = ["internal/modules/esm/translators", "net", "child_process", "crypto", "tty"];

test.each([
  // Hashes are node:crypto's.
  ["inspect", ["@token"], ["crypto"]],
  ["attenuate", ["@token", "--op", "retrieve"], ["crypto"]],
  // libsql looks for its binary with child_process.
  ["verify", ["@token", "--op", "retrieve"], ["net", "child_process", "crypto"]],
])(
  "%s loads two files of the package, and only what it needs of Node",
  async (verb, args, uses) => {
    const { builtin: always } = await loadedBy([bench.write("empty.cjs", "")]);
    const { files, builtin } = await loadedBy([MAIN, verb, ...args]);
    const ours = files
      .filter((file) => dirname(file) === dirname(MAIN))
      .map((file) => basename(file));
    expect(ours).toEqual(["main.js", `${verb}.js`]);
    expect(builtin.filter((name) => SLOW.includes(name) && !always.includes(name)).sort()).toEqual(
      [...uses].sort(),
    );
    expect(files.some((file) => file.includes("libsql"))).toBe(verb === "verify");
  },
);

test("the count sees what another verb loads", async () => {
  const { builtin } = await loadedBy([MAIN, "keys", "list"]);
  expect(builtin).toContain("child_process");
});
