import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { Bench, document, runProgram } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
  bench.write("token", token);
});

const ESCAPE = "\u001b[";
const hasScript = spawnSync("script", ["--version"]).status === 0;
if (!hasScript) {
  process.stderr.write(
    "cli: script is missing, so no terminal is tested: apt-get install bsdutils\n",
  );
}

test("--json makes a verb print one JSON document on standard output", async () => {
  const child = await bench.output("attenuate", token, "--purpose", "x");
  const runs = await Promise.all(
    [
      ["keys", "list"],
      ["mint", "--grant", "g", "--any-op"],
      ["attenuate", token],
      ["inspect", token],
      ["verify", token, "--grant", "documents:read", "--op", "retrieve"],
      ["verify", token, "--grant", "documents:read", "--op", "delete"],
      ["verify", "AgIB", "--grant", "documents:read", "--op", "delete"],
      ["diff", token, child],
      ["diff", child, token],
      ["revoke", child],
      ["revocations", "list"],
      ["revocations", "prune"],
      ["convert", token, "--to", "v1json"],
      ["completion", "bash"],
      ["keys", "rotate"],
    ].map((args) => bench.run([...args, "--json"])),
  );
  for (const { stdout } of runs) document(stdout);
});

test("colours are off in a pipe unless FORCE_COLOR is 1; NO_COLOR overrides FORCE_COLOR", async () => {
  const inspect = (env: Record<string, string>): Promise<string> =>
    bench.run(["inspect", token], { env }).then(({ stdout }) => stdout);
  const [piped, forced, off, both] = await Promise.all([
    inspect({}),
    inspect({ FORCE_COLOR: "1" }),
    inspect({ FORCE_COLOR: "0" }),
    inspect({ FORCE_COLOR: "1", NO_COLOR: "1" }),
  ]);
  expect(forced).toContain(ESCAPE);
  for (const text of [piped, off, both]) expect(text).not.toContain("\u001b");
});

describe.runIf(hasScript)("in a terminal", () => {
  const terminal = (command: string, env: Record<string, string> = {}): Promise<string> =>
    runProgram("script", ["-qec", `node ${MAIN} ${command}`, "/dev/null"], {
      cwd: bench.folder,
      env: { PROVISO_HOME: bench.home, TERM: "xterm", ...env },
    }).then(({ stdout }) => stdout.replaceAll("\r\n", "\n"));

  test("colours are on, unless NO_COLOR or TERM=dumb is set", async () => {
    const [colour, none, dumb] = await Promise.all([
      terminal("inspect @token"),
      terminal("inspect @token", { NO_COLOR: "1" }),
      terminal("inspect @token", { TERM: "dumb" }),
    ]);
    expect(colour).toContain(ESCAPE);
    expect(none).not.toContain("\u001b");
    expect(dumb).not.toContain("\u001b");
  });

  test("mint and attenuate describe the token on standard error without showing it", async () => {
    const summary =
      /^cap_\S+ expires in 15 min \(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\), revocation id rv_\S{22}\n$/;
    const [minted, narrowed] = await Promise.all([
      terminal("mint --grant g --op x > out-mint"),
      terminal("attenuate @token --purpose p > out-attenuate"),
    ]);
    expect(minted).toMatch(summary);
    expect(narrowed.replace(/^note: nothing is taken away; .*\n/, "")).toMatch(summary);
    expect(minted).not.toContain(bench.read("out-mint").trim());
  });

  test("inspect without a token is a usage error", async () => {
    expect(await terminal("inspect; echo $?")).toBe(
      "proviso: no token is given\n" +
        "hint: give the token itself, @FILE, or pipe it in: proviso ... < FILE\n2\n",
    );
  });
});

describe("output that cannot be written", () => {
  test("because the reading process has ended is no error", async () => {
    const script = `node ${MAIN} keys list | true; node ${MAIN} inspect @token | head -1`;
    const { stdout, stderr } = await runProgram("sh", ["-c", script], {
      cwd: bench.folder,
      env: { PROVISO_HOME: bench.home },
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Nothing was verified/);
  });

  test.runIf(process.platform === "linux")(
    "because the disk is full makes the command exit with 6",
    async () => {
      const script = `node ${MAIN} mint --grant g --op x > /dev/full; echo $?`;
      const { stdout, stderr } = await runProgram("sh", ["-c", script], {
        env: { PROVISO_HOME: bench.home },
      });
      expect(stdout).toBe("6\n");
      expect(stderr).toBe(
        "proviso: could not write to standard output: the disk is full\n" +
          "hint: make room, then run it again\n",
      );
    },
  );
});

describe("a token given in the wrong place is not repeated in the error", () => {
  test.each([
    [["TOKEN"]],
    [["mint", "--grant", "g", "--op", "x", "--expires", "TOKEN"]],
    [["convert", "AgIB", "--to", "TOKEN"]],
    [["keys", "retire", "TOKEN"]],
    [["revoke", "--id", "TOKEN"]],
    [["revoke", "--capability", "TOKEN"]],
    [["inspect", "TOKEN", "--TOKEN"]],
    [["completion", "TOKEN"]],
    [["inspect", "@TOKEN"]],
    [["mint", "--grant", "g", "--op", "x", "--arg", "TOKEN"]],
    [["mint", "--grant", "g", "--max-further-hops", "TOKEN"]],
  ])("%j", async (args) => {
    const typed = args.map((word) => word.replace("TOKEN", token));
    for (const json of [[], ["--json"]]) {
      const { status, stdout, stderr } = await bench.run([...typed, ...json]);
      expect(status).not.toBe(0);
      expect(stdout + stderr).not.toContain(token.slice(-43));
    }
  });
});
