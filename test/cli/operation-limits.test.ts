import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench } from "./run.js";

const bench = new Bench();
const OPERATIONS = "read_file,send_money,fetch";
let token = "";

beforeAll(async () => {
  await bench.init();
  token = await bench.output(
    ...["mint", "--grant", "agent:tools", "--op", OPERATIONS, "--expires", "1h"],
    ...["--arg", "read_file:path under /data", "--only-args", "read_file:path"],
    ...["--arg", "send_money:amount<=50", "--arg", "send_money:bcc absent"],
    ...["--arg", "fetch:url at https://*.example.com/docs", "--arg", "fetch:?limit<=10"],
  );
});

/** Returns the exit code of `verify`, and the rules that refuse the call. */
async function verify(
  candidate: string,
  operation: string,
  ...args: readonly string[]
): Promise<{ readonly status: number | null; readonly rules: readonly string[] }> {
  const given = args.flatMap((arg) => ["--arg", arg]);
  const { status, denials = [] } = await bench.json(
    ...["verify", candidate, "--grant", "agent:tools", "--op", operation, ...given],
  );
  return { status, rules: denials.map(({ rule }: { rule: string }) => rule) };
}

const ALLOWED = { status: 0, rules: [] };

describe("a token for three tools", () => {
  test.each<[operation: string, args: readonly string[]]>([
    ["read_file", ["path=/data/a.txt"]],
    ["send_money", ["amount=50", "to=acc:1"]],
    ["fetch", ["url=https://www.example.com/docs/a?b=c"]],
    ["fetch", ["url=https://www.example.com/docs", "limit=10"]],
  ])("allows %s with the arguments %j", async (operation, args) => {
    expect(await verify(token, operation, ...args)).toEqual(ALLOWED);
  });

  test.each<[operation: string, args: readonly string[], rules: readonly string[]]>([
    ["read_file", ["path=/data/../etc/passwd"], ["operationConstraints.read_file.path.path"]],
    ["read_file", ["path=/data/a", "mode=w"], ["arguments.read_file"]],
    ["send_money", ["amount=51"], ["operationConstraints.send_money.amount.max"]],
    ["send_money", [], ["operationConstraints.send_money.amount.max"]],
    ["send_money", ["amount=1", "bcc=x"], ["operationConstraints.send_money.bcc.absent"]],
    ["fetch", ["url=https://example.com/docs"], ["operationConstraints.fetch.url.url"]],
    [
      "fetch",
      ["url=https://a.example.com/docs", "limit=11"],
      ["operationConstraints.fetch.limit.max"],
    ],
  ])("refuses %s with the arguments %j", async (operation, args, rules) => {
    expect(await verify(token, operation, ...args)).toEqual({ status: 1, rules });
  });

  test("has its limits on each operation shown by inspect", async () => {
    const words = await bench.output("inspect", token);
    for (const line of [
      "argument of     fetch: limit <= 10, if it is there",
      "argument of     fetch: url is a URL: https to .example.com, under /docs",
      "argument of     read_file: path under /data",
      "argument of     send_money: amount <= 50",
      "argument of     send_money: bcc absent",
      "only arguments  read_file: path",
    ]) {
      expect(words).toContain(line);
    }
  });

  test("can be narrowed further by attenuate, and diff names the new limits", async () => {
    const child = await bench.output(
      ...["attenuate", token, "--arg", "send_money:amount<=5"],
      ...["--arg", "read_file:path under /data/2026", "--only-args", "send_money:amount,to"],
    );
    expect(await verify(child, "send_money", "amount=6", "note=x")).toEqual({
      status: 1,
      rules: ["operationConstraints.send_money.amount.max", "arguments.send_money"],
    });
    expect(await verify(child, "read_file", "path=/data/2026/a")).toEqual(ALLOWED);
    expect((await verify(child, "read_file", "path=/data/2025/a")).status).toBe(1);
    const words = await bench.output("diff", token, child);
    for (const part of ["operationConstraints.send_money.amount", "arguments.send_money"]) {
      expect(words).toContain(part);
    }
  });
});

describe("a limit on an operation that the token does not name", () => {
  test.each([
    ["--arg", "send_mony:amount<=5"],
    ["--only-args", "send_mony:amount"],
    ["--arg", "send_mony:amount<=5", "--expires", "5m"],
    ["--only-args", "send_mony:amount", "--op", "send_money"],
  ])("is refused by attenuate %s %s, with and without --intersect", async (...flag) => {
    for (const more of [[], ["--intersect"]]) {
      const { status, stderr, stdout } = await bench.run(["attenuate", token, ...flag, ...more]);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain('the token does not have the operation "send_mony"');
      expect(stderr).toContain('did you mean "send_money"?');
    }
  });

  test("is refused by mint", async () => {
    const { status, stderr } = await bench.run([
      "mint",
      "--grant",
      "g",
      "--op",
      "pay",
      "--arg",
      "send:amount<=5",
    ]);
    expect(status).toBe(2);
    expect(stderr).toContain('the token does not have the operation "send"');
  });

  test("is accepted with a note if the token allows every operation", async () => {
    const whole = await bench.output("mint", "--grant", "g", "--any-op");
    const { status, stderr } = await bench.run(["attenuate", whole, "--arg", "a:b<=5"]);
    expect(status).toBe(0);
    expect(stderr).toBe(
      'note: the token allows every operation, so nothing checks the names "a"\n',
    );
    const every = await bench.run(["attenuate", whole, "--arg", "*:b<=5"]);
    expect(every.stderr).toBe("");
  });
});

test("attenuate --intersect lowers limits on an operation's arguments to those of the token", async () => {
  const args = ["--arg", "send_money:amount<=500", "--arg", "read_file:path under /"];
  const { status, stderr } = await bench.run(["attenuate", token, ...args]);
  expect(status).toBe(1);
  expect(stderr).toContain("--intersect");
  const child = await bench.output("attenuate", token, ...args, "--intersect");
  expect(inspect(child).links.at(-1)?.hop?.operationConstraints).toEqual({
    read_file: { path: { path: "/data" } },
    send_money: { amount: { max: 50 } },
  });
});
