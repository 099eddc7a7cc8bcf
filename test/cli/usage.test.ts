import { describe, expect, test } from "vitest";
import { Bench } from "./run.js";

const bench = new Bench();

describe("an option with one value is refused if it is given twice", () => {
  test.each([
    ["verify", "x", "--op", "delete", "--op", "retrieve"],
    ["verify", "x", "--op", "a", "--invoker", "a", "--invoker", "b"],
    ["mint", "--grant", "a", "--grant", "b"],
    ["mint", "--grant", "a", "--expires", "1h", "--expires", "2m"],
    ["attenuate", "x", "--purpose", "a", "--purpose", "b"],
    ["convert", "x", "--to", "v1", "--to", "v2"],
    ["revoke", "--id", "a", "--id", "b"],
    ["mint", "--home", "a", "--home", "b", "--grant", "g"],
  ])("%s %s %s %s %s ...", async (...args) => {
    const { status, stdout, stderr } = await bench.run(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^proviso: --[a-z]+ is given twice[;\n]/);
  });

  test("with a hint from verify to check each operation by itself", async () => {
    const { stderr } = await bench.run(["verify", "x", "--op", "delete", "--op", "retrieve"]);
    expect(stderr).toBe(
      "proviso: --op is given twice; one operation per check\nhint: check each one by itself\n",
    );
  });

  test("but an option that collects values may repeat", async () => {
    await bench.init("--grant", "g=a,b", "--grant", "h=c");
    const mint = [
      "mint",
      "--grant",
      "g",
      "--op",
      "a",
      "--op",
      "b",
      "--arg",
      "n<=5",
      "--arg",
      "n>=1",
    ];
    const token = await bench.output(...mint);
    const grants = ["--grant", "g", "--grant", "h"];
    await bench.output("verify", token, "--op", "a", ...grants, "--arg", "n=1", "--arg", "m=1");
  });
});

describe("an error names a misspelt option or command, and suggests the nearest or the help", () => {
  test.each([
    [["mint", "--grnt", "x"], "unknown option '--grnt'", "did you mean --grant?"],
    [["attenuate", "--operation", "x"], "unknown option '--operation'", "did you mean --op?"],
    [["mint", "--operation", "x"], "unknown option '--operation'", "did you mean --op?"],
    [["attenuate", "--exp", "5m"], "unknown option '--exp'", "did you mean --expires?"],
    [["help", "mnt"], "unknown command 'mnt'", "did you mean mint?"],
    [["frobnicate"], "unknown command 'frobnicate'", "proviso --help"],
  ])("%j", async (args, message, hint) => {
    const { status, stderr } = await bench.run(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });
});

describe("verify with --help or --version among other arguments is refused, so that a token cannot cause exit code 0", () => {
  test.each([
    ["--help", "--op", "x"],
    ["-h", "--op", "x", "--json"],
    ["-V", "--op", "x"],
    ["--version", "--op", "x"],
  ])("verify %s %s %s", async (...args) => {
    expect((await bench.run(["verify", ...args])).status).toBe(2);
  });

  test("but verify --help alone prints the help", async () => {
    expect((await bench.run(["verify", "--help"])).status).toBe(0);
  });
});
