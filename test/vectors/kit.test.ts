import { describe, expect, test } from "vitest";
import { splitCommand } from "../../cli/vectors/program.js";
import { Bench, type Document, type Run } from "../cli/run.js";
import { FULL } from "../support/size.js";
import { type ImplementationName, sourceOf } from "./implementations.js";
import { path, VECTORS } from "./support.js";

const bench = new Bench();
const SUBJECT = "known answers";
const TESTS = VECTORS.filter(({ subject }) => subject === SUBJECT).length;

/** Runs `proviso vectors check` with a faulty implementation, on the first subject's tests. */
async function check(name: ImplementationName, ...args: readonly string[]): Promise<Run> {
  const file = bench.write(`${name}.cjs`, sourceOf(name));
  const command = `"${process.execPath}" '${file}'`;
  const all = ["vectors", "check", "--impl", command, "--filter", SUBJECT, ...args];
  const options = { env: { SPEC_VECTORS: path("") } };
  // The other output of the talkative implementation goes to the terminal.
  return name === "talkative" ? bench.spawned(all, options) : bench.run(all, options);
}

async function report(name: ImplementationName, ...args: readonly string[]): Promise<Document> {
  const { status, stdout } = await check(name, "--json", ...args);
  return { status, ...JSON.parse(stdout) };
}

describe("vectors check against this implementation", () => {
  if (FULL) {
    test("passes every test", async () => {
      const { status, stdout, stderr } = await bench.run(["vectors", "check"]);
      expect(stdout).toContain(`${VECTORS.length} passed, 0 failed, 0 not supported\n`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    });
  }

  test("counts passed, failed and unsupported tests by flag", async () => {
    const flags = await bench.json("vectors", "check", "--filter", "StaleList");
    expect(flags).toMatchObject({ status: 0, failed: 0, implementation: "this implementation" });
    expect(flags["flags"]["StaleList"]).toEqual({
      passed: flags["passed"],
      failed: 0,
      unsupported: 0,
    });
  });

  test("runs the tests that --filter selects by id, subject or part of a comment, and those of a second --filter", async () => {
    const run = async (...args: string[]): Promise<unknown> =>
      (await bench.json("vectors", "check", ...args))["tests"];
    expect(await run("--filter", "1001")).toBe(1);
    expect(await run("--filter", SUBJECT)).toBe(TESTS);
    expect(await run("--filter", "AN ALL-ZERO NONCE")).toBe(3);
    expect(await run("--filter", "1001", "--filter", "1002")).toBe(2);
  });
});

describe("vectors check against another program", () => {
  const passing: readonly ImplementationName[] = FULL ? ["right", "talkative"] : ["right"];
  test.each(passing)('passes for the program "%s"', async (name) => {
    const { status, stdout, stderr } = await check(name);
    expect(stdout).toContain(`${TESTS} passed, 0 failed, 0 not supported\n`);
    expect(status).toBe(0);
    expect(stderr.includes("thinking")).toBe(name === "talkative");
  });

  test("reports one wrong answer together with the expected answer", async () => {
    const { status, stdout } = await check("wrong");
    expect(status).toBe(1);
    expect(stdout).toContain(`${TESTS - 1} passed, 1 failed, 0 not supported\n`);
    expect(stdout).toMatch(
      /^failed 2 {2}known answers: no caveat, v1 .*\n {2}expected {2}valid, tags e3d9.*\n {2}got {7}valid, no tags$/m,
    );
  });

  test("fails every test if the program answers each request with an unknown code", async () => {
    expect(await report("wrongCode")).toMatchObject({ status: 1, passed: 0, failed: TESTS });
  });

  test("names the operations that the program does not support, and counts their tests separately", async () => {
    const { status, stdout } = await check("partly", "--filter", "1001");
    expect(stdout).toContain(`${TESTS} passed, 0 failed, 1 not supported\n`);
    expect(stdout).toContain("\nnot supported: check\n");
    expect(status).toBe(0);
  });

  if (FULL) {
    test("fails if the program supports no operation", async () => {
      expect(await report("unsupported")).toMatchObject({
        status: 1,
        passed: 0,
        failed: 0,
        unsupported: TESTS,
      });
    });
  }

  test("exits with 6 if the program cannot be started", async () => {
    const run = await bench.run(["vectors", "check", "--impl", "./no-such-program"]);
    expect(run).toMatchObject({ status: 6, stdout: "" });
    expect(run.stderr).toMatch(/could not be started: there is no such file\nhint: /);
  });

  test.each(["crashesAtOnce", "killsItself"] as const)(
    'gives up on the program "%s", and exits with 6',
    async (name) => {
      const { status, passed, failures } = await report(name);
      expect({ status, passed }).toEqual({ status: 6, passed: 0 });
      expect(failures).toHaveLength(TESTS);
      expect(failures[0].got).toMatch(/^the program stopped \((exit code 3|SIGKILL)\)$/);
      expect(failures[3]).toMatchObject({
        fault: "not_run",
        got: "not asked: the program failed 3 times in a row",
      });
    },
  );

  if (FULL) {
    test("blames a crash only on the test at which the program crashed, and exits with 6", async () => {
      const { status, passed, failures } = await report("crashesOnce");
      expect({ status, passed }).toEqual({ status: 6, passed: TESTS - 1 });
      expect(failures).toMatchObject([{ tcId: 2, fault: "stopped" }]);
    });
  }

  if (FULL) {
    test("blames a missing answer only on the test that got no answer", async () => {
      const { status, passed, failures } = await report("hangs", "--timeout", "5");
      expect({ status, passed }).toEqual({ status: 1, passed: TESTS - 1 });
      expect(failures).toMatchObject([{ tcId: 2, fault: "silent", got: "no answer within 5 s" }]);
    });
  }

  test("gives up on a program that never answers", async () => {
    const { status, failures } = await report("silent", "--timeout", "0.2");
    expect(status).toBe(1);
    expect(failures.map(({ fault }: { fault: string }) => fault).slice(0, 4)).toEqual([
      "silent",
      "silent",
      "silent",
      "not_run",
    ]);
  });

  if (FULL) {
    test("ends a program that keeps running after the end of its input, and counts its tests as passed", async () => {
      expect(await report("ignoresTheEnd")).toMatchObject({ status: 0, passed: TESTS });
    });
  }

  test.each([
    ["garbage", "not JSON: hello"],
    ["emptyAnswer", /^not an answer: \{"id":1\}$/],
    ["outOfOrder", "the answer to 2, asked was 1"],
    ["banner", /^(not a JSON object|said something before it was asked): "ready"$/],
    ["endless", "an endless line"],
  ] as const)('fails the program "%s" and says why', async (name, got) => {
    const { status, passed, failures } = await report(name);
    expect({ status, passed }).toEqual({ status: 1, passed: 0 });
    expect(failures[0].fault).toBe("garbage");
    expect(failures[0].got).toMatch(got);
  });

  if (FULL) {
    test("blames a malformed answer only on the test that got the answer", async () => {
      const { passed, failures } = await report("garbageOnce");
      expect(passed).toBe(TESTS - 1);
      expect(failures).toMatchObject([{ tcId: 2, fault: "garbage", got: "not JSON: {" }]);
    });
  }

  if (FULL) {
    test("fails if the program gives two answers to one request", async () => {
      expect((await report("twice"))["failed"]).toBeGreaterThan(0);
    });
  }
});

describe("vectors check", () => {
  test.each([
    [["--impl", "'open"], /--impl is not a command/],
    [["--impl", "  "], /--impl is not a command/],
    [["--timeout", "0"], /--timeout cannot be 0/],
    [["--timeout", "soon"], /--timeout cannot be soon/],
    [["--filter", "no such test"], /no test is left by --filter/],
  ])("exits with 2 for the options %j", async (args, message) => {
    const { status, stderr } = await bench.run(["vectors", "check", ...args]);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});

test.each([
  ["python3 a.py", ["python3", "a.py"]],
  ["  a   b ", ["a", "b"]],
  [`"a b" 'c "d"' e\\ f`, ["a b", 'c "d"', "e f"]],
  [`a'b'"c"`, ["abc"]],
  ["a ''", ["a", ""]],
  [`'a\\b' "c\\"d"`, ["a\\b", 'c"d']],
  ["a $HOME;b", ["a", "$HOME;b"]],
  ["", undefined],
  ['"a', undefined],
])("splitCommand splits the value %j of --impl into the words %j", (line, words) => {
  expect(splitCommand(line)).toEqual(words);
});
