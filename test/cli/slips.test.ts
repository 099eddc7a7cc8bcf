import { existsSync, mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { revocationId } from "../../src/index.js";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { Bench, document, type Run, runProgram, TOKEN } from "./run.js";

// Mistakes of new users, and the answers of the command.

const bench = new Bench();
const GRANT = ["--grant", "documents:read"];
let token = "";
beforeAll(async () => {
  await bench.init(
    ...["--grant", "documents:read=retrieve,search", "--grant", "documents:write=update"],
  );
  token = await bench.output("mint", ...GRANT);
  bench.write("token", token);
});

/** Runs a wrong command line. Expects exit code 2 and no output, and returns the message. */
async function slip(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await bench.run(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  return stderr;
}

describe("--arg refuses patterns and unknown operators", () => {
  test.each([
    ["lines=<100", "there is no =<", `use <=; for this very text, write 'lines="<100"'`],
    ["amount=>5", "there is no =>", `use >=; for this very text, write 'amount=">5"'`],
    ["path=~x", "there is no =~", `for this very text, write 'path="~x"'`],
    ["path~=x", "there is no ~=", `for this very text, write '"path~"=x'`],
    ["path=/data/*", "there are no patterns", `for this very text, write 'path="/data/*"'`],
    ["path in /tmp,/data/*", "there are no patterns", `write 'path in /tmp,"/data/*"'`],
    ["path not in /data/*", "there are no patterns", `write 'path not in "/data/*"'`],
  ])("%s", async (text, message, hint) => {
    for (const args of [
      ["mint", ...GRANT],
      ["attenuate", "@token"],
    ]) {
      const said = await slip(...args, "--arg", text);
      expect(said).toContain(message);
      expect(said).toContain(hint);
    }
  });

  test("but takes a value literally if the value is quoted as in the hint", async () => {
    const quoted = ['lines="<100"', '"path~"=x', 'to in "/data/*",b'];
    const args = quoted.flatMap((text) => ["--arg", text]);
    const { stdout } = await bench.run(["attenuate", "@token", ...args, "--json"]);
    expect(document(stdout)["hop"].constraints).toEqual({
      lines: "<100",
      "path~": "x",
      to: { in: ["/data/*", "b"] },
    });
  });
});

test("request --filter refuses patterns, and verify --arg accepts patterns", async () => {
  const filter = ["--collection", "c", "--filter", "department=fin*"];
  const asking = ["request", "http://127.0.0.1:1", ...GRANT, ...filter];
  expect(await slip(...asking)).toContain("there are no patterns");
  const calling = ["--op", "retrieve", "--arg", "path=/data/*", "--arg", "lines=<100"];
  const { status } = await bench.run(["verify", "@token", ...GRANT, ...calling]);
  expect(status).toBe(0);
});

describe("revoke with an id in place of a token", () => {
  test("accepts a capability id as an argument, and a revocation id from standard input", async () => {
    const minted = await bench.json("mint", ...GRANT);
    const child = await bench.output("attenuate", await bench.output("mint", ...GRANT));
    const runs = [
      await bench.run(["revoke", minted["id"]]),
      await bench.run(["revoke"], { input: `${revocationId(child)}\n` }),
    ];
    expect(runs.map(({ status }) => status)).toEqual([0, 0]);
    for (const dead of [minted["token"], child]) {
      const { status } = await bench.run(["verify", dead, "--op", "retrieve", ...GRANT]);
      expect(status).toBe(5);
    }
  });

  test("refuses a malformed id, and names the option if there is one", async () => {
    expect(await slip("revoke", "cap_1")).toMatch(/^proviso: "cap_1" is not a capability's id\n/);
    expect(await slip("revoke", "rv_1")).toMatch(/^proviso: "rv_1" is not a revocation id\n/);
    expect(await slip("revoke", "--id", "x")).toMatch(
      /^proviso: --id "x" is not a revocation id\n/,
    );
  });
});

test("verify refuses an operation that no grant has, and lists the operations of the grants", async () => {
  expect(await slip("verify", "@token", "--op", "retreive")).toMatch(
    '--op: no grant has "retreive"; did you mean "retrieve"? Known operations: "retrieve", "search", "update"',
  );
  const { status, stdout } = await bench.run(["verify", "@token", "--op", "retreive", ...GRANT]);
  expect(status).toBe(1);
  expect(stdout).toContain('does not have the operation "retreive"; it has "retrieve", "search"');
  expect(await slip("mint", "--grant", "documents:delete")).toContain(
    'no grant "documents:delete"; it has "documents:read", "documents:write"',
  );
});

test("attenuate prints a note if the token has expired", async () => {
  const short = await bench.output("mint", ...GRANT, "--expires", "1s");
  await pause(1100);
  for (const args of [[], ["--json"]]) {
    const run = await bench.run(["attenuate", short, "--op", "search", ...args]);
    expect(run.status).toBe(0);
    expect(run.stderr).toMatch(/^note: the token expired at \S+Z: it is refused, and so is /);
  }
  const { stderr } = await bench.run(["attenuate", "@token", "--op", "search"]);
  expect(stderr).toBe("");
});

test("init warns of a ~ in --home that the shell did not expand", async () => {
  const { status, stderr } = await bench.run(["init", "--home=~/x", "--issuer", "x"]);
  expect(status).toBe(0);
  expect(stderr).toBe("warning: ~ in ~/x is taken as it stands, not as a home; write $HOME/x\n");
  expect(existsSync(bench.path("~/x/config.json"))).toBe(true);
});

describe("an error of init names the requested path, not a temporary path", () => {
  test.each([
    ["init", "--home", "/dev/null/home", "--issuer", "x"],
    ["init", "--home", "/proc/home", "--issuer", "x"],
    ["init", "agent", "/proc/agent"],
  ])("%s %s %s", async (...args) => {
    const { status, stderr } = await bench.run(args);
    expect(status).toBe(6);
    expect(stderr).toContain(args.find((word) => word.startsWith("/")));
    expect(stderr).not.toMatch(/\.tmp/);
  });
});

test("an error about the number of arguments says how many are given, or which argument is missing", async () => {
  expect(await slip("inspect", "a", "b")).toMatch(
    /^proviso: inspect takes one argument, and 2 are/,
  );
  expect(await slip("mint", ...GRANT, "x")).toMatch(/^proviso: mint takes no argument, and one is/);
  expect(await slip("convert", "--to", "v2", "a", "b")).toMatch(/convert takes one argument/);
  expect(await slip("serve")).toMatch(/^proviso: <config> is missing/);
  expect(await slip("diff", "@token")).toBe(
    "proviso: this takes two tokens, and one is given\n" +
      "hint: give the narrowed one too, as @FILE or on standard input\n",
  );
});

describe("a verb in a removed working folder", () => {
  /** Runs the command in a folder that has been deleted. */
  function inRemoved(...args: readonly string[]): Promise<Run> {
    const gone = bench.path("gone");
    mkdirSync(gone, { recursive: true });
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    const command = ["-c", script, "sh", gone, process.execPath, MAIN, ...args];
    return runProgram("sh", command, { env: { PROVISO_HOME: bench.home } });
  }

  test("works if the paths of the home and the files are absolute", async () => {
    const minted = await inRemoved("mint", ...GRANT);
    expect(minted).toMatchObject({ status: 0, stderr: "" });
    expect(minted.stdout.trim()).toMatch(TOKEN);
    const file = `@${bench.path("token")}`;
    const more = [
      ["--help"],
      ["--version"],
      ["inspect", token],
      ["attenuate", token, "--op", "search"],
      ["verify", file, "--op", "search"],
      ["keys"],
      ["revocations", "list"],
      ["completion", "bash"],
    ];
    for (const args of [["inspect", file], ...(FULL ? more : [])]) {
      const { status, stderr } = await inRemoved(...args);
      expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: "" });
    }
  });

  test("refuses a relative path, and says that the folder has been removed", async () => {
    const more = [
      ["serve", "agent.json"],
      ["keys", "--home", "home"],
    ];
    for (const args of [["inspect", "@token"], ...(FULL ? more : [])]) {
      const { status, stdout, stderr } = await inRemoved(...args);
      expect({ args, status, stdout }).toEqual({ args, status: 6, stdout: "" });
      expect(stderr).toMatch(
        /^proviso: the folder that this is run in has been removed, and \S+ is relative to it\nhint: /,
      );
    }
  });
});

describe("the command", () => {
  test("prints the version as a JSON document with --version --json", async () => {
    const { version } = document((await bench.run(["--version", "--json"])).stdout);
    expect(`${version}\n`).toBe((await bench.run(["--version"])).stdout);
  });

  test.each(["keys", "revocations", "tasks", "grants"])(
    "with %s and no verb runs the verb list, and suggests list for a misspelt verb",
    async (verb) => {
      const [alone, list] = await Promise.all([
        bench.run([verb, "--json"]),
        bench.run([verb, "list", "--json"]),
      ]);
      expect(alone).toEqual(list);
      expect(alone).toMatchObject({ status: 0, stderr: "" });
      expect(await slip(verb, "lst")).toContain("unknown command 'lst'\nhint: did you mean list?");
    },
  );

  test("asks for the name of the shell if completion has no argument", async () => {
    expect(await slip("completion")).toMatch(/^proviso: name the shell: bash, zsh, fish\nhint: /);
  });
});

test("mint --expires refuses a date without a time of day, and suggests the start and the end of the day", async () => {
  expect(await slip("mint", ...GRANT, "--expires", "2027-01-01")).toBe(
    'proviso: --expires "2027-01-01": the time of day is missing\n' +
      "hint: write 2027-01-01T00:00:00Z for the day's start in UTC, or 2027-01-01T23:59:59Z for its end\n",
  );
});
