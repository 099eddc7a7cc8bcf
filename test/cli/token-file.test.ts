import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve,search");
});

const tokenIn = (name: string): string => readFileSync(bench.path(name), "utf8");

test("--op retrieve,search in mint and attenuate means two operations", async () => {
  expect(inspect(token).authority.operations).toEqual(["retrieve", "search"]);
  const child = await bench.output("attenuate", token, "--op", "retrieve, search");
  expect(inspect(child).authority.operations).toEqual(["retrieve", "search"]);
});

describe("--output", () => {
  test("can replace the file of the token that was attenuated, and gives the file the mode 0600", async () => {
    bench.write("token", `${token}\n`);
    chmodSync(bench.path("token"), 0o644);
    const args = ["attenuate", "@token", "--op", "search", "--output", "token"];
    const { status, stdout, stderr } = await bench.run(args);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(stderr).toContain("the token is in token\n");
    expect(inspect(tokenIn("token").trimEnd()).authority.operations).toEqual(["search"]);
    expect(statSync(bench.path("token")).mode & 0o777).toBe(0o600);
  });

  test("leaves the file unchanged if the command makes no token", async () => {
    bench.write("whole", `${token}\n`);
    const args = ["attenuate", "@whole", "--op", "delete", "-o", "whole"];
    expect(await bench.run(args)).toMatchObject({ status: 1, stdout: "" });
    expect(tokenIn("whole")).toBe(`${token}\n`);
  });

  test("writes the result of mint, convert and attenuate --json into the file", async () => {
    const written = async (...args: readonly string[]): Promise<string> => {
      const { status, stdout } = await bench.run([...args, "-o", "out"]);
      expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
      return tokenIn("out");
    };
    expect(await written("mint", "--grant", "documents:read", "--op", "search")).toMatch(
      /^Ag.*\n$/,
    );
    expect(await written("convert", token, "--to", "v2json")).toMatch(/^\{"v":2/);
    expect(JSON.parse(await written("attenuate", token, "--json"))).toHaveProperty("token");
  });

  test("is refused for a folder, and for a path that cannot be written", async () => {
    mkdirSync(bench.path("folder"), { recursive: true });
    const folder = await bench.run(["attenuate", token, "-o", "folder"]);
    expect(folder).toMatchObject({ status: 2, stdout: "" });
    expect(folder.stderr).toContain("folder is a folder\nhint: name a file in it");
    const nowhere = await bench.run(["attenuate", token, "-o", "nowhere/token"]);
    expect(nowhere).toMatchObject({ status: 6, stdout: "" });
    expect(nowhere.stderr).toContain("could not write nowhere/token: its folder does not exist");
  });
});

test("attenuate without options prints a note that nothing is taken away", async () => {
  const { status, stderr } = await bench.run(["attenuate", token]);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: "note: nothing is taken away; the child can be revoked on its own\n",
  });
});

test("-v, -V, --version and version print the version; help VERB prints what VERB --help prints", async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const word of ["-v", "-V", "--version", "version"]) {
    expect(await bench.run([word])).toMatchObject({ status: 0, stdout: `${version}\n` });
  }
  const [help, asked] = await Promise.all([
    bench.run(["help", "keys", "rotate"]),
    bench.run(["keys", "rotate", "--help"]),
  ]);
  expect(help).toEqual(asked);
});

test("every line of proviso --help, except examples, is at most COLUMNS characters wide", async () => {
  for (const columns of [80, 100]) {
    const env = { COLUMNS: String(columns) };
    const { stdout } = await bench.run(["--help"], { env });
    // Examples are commands, so their lines are never broken.
    const prose = stdout.split("\n").filter((line) => !line.startsWith("  $ "));
    const width = Math.max(...prose.map((line) => line.length));
    expect(width).toBeLessThanOrEqual(columns);
  }
});

test("--no-color turns colours off despite FORCE_COLOR", async () => {
  const env = { FORCE_COLOR: "1" };
  const coloured = await bench.run(["inspect", token], { env });
  expect(coloured.stdout).toContain("\u001b[");
  const plain = await bench.run(["inspect", token, "--no-color"], { env });
  expect(plain.stdout).not.toContain("\u001b[");
});
