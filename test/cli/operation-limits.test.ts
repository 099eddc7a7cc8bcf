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

  test('is shown by inspect with "1 element" in the singular and "2 elements" in the plural', async () => {
    const limits = ["a items<=1", "b items>=1", "c items=1", "d items<=2"];
    const one = await bench.output(
      ...["mint", "--grant", "agent:tools", "--op", "send"],
      ...limits.flatMap((limit) => ["--arg", `send:${limit}`]),
    );
    const shown = await bench.output("inspect", one.trim());
    for (const text of [
      ...["a has at most 1 element\n", "b has at least 1 element\n", "c has 1 element\n"],
      "d has at most 2 elements",
    ]) {
      expect(shown).toContain(text);
    }
  });

  test("is shown by inspect with its limits on each operation", async () => {
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

describe("attenuate with a limit that leaves no call of an operation", () => {
  const beyond = ["--arg", "read_file:path under /etc"];

  test("is refused, and the hint names --intersect, which keeps the other operations", async () => {
    const refused = await bench.run(["attenuate", token.trim(), ...beyond]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("hint: correct it, or add --intersect");
    const { status, stdout, stderr } = await bench.run([
      ...["attenuate", token.trim(), ...beyond, "--intersect"],
    ]);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: 'note: no call of "read_file" is left\n',
    });
    const child = stdout.trim();
    expect(await verify(child, "send_money", "amount=5")).toEqual(ALLOWED);
    expect((await verify(child, "read_file", "path=/data/a")).status).toBe(1);
    expect((await verify(child, "read_file", "path=/etc/a")).status).toBe(1);
  });

  test("of every operation is refused with --intersect too, and the hint does not name --intersect", async () => {
    const all = [...beyond, "--op", "read_file"];
    const refused = await bench.run(["attenuate", token.trim(), ...all]);
    expect(refused.stderr).toContain(
      "hint: correct it; proviso inspect shows what the token still allows",
    );
    const { status, stdout } = await bench.run([
      ...["attenuate", token.trim(), ...all, "--intersect"],
    ]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  });

  test("suggests a similar name of the closed list, and no name that has nothing in common with the given name", async () => {
    const closed = await bench.output(
      ...["mint", "--grant", "agent:tools", "--op", "get", "--only-args", "get:a,limit"],
    );
    const said = async (name: string): Promise<string> =>
      (await bench.run(["attenuate", closed.trim(), "--only-args", `get:${name}`])).stderr;
    expect(await said("z")).not.toContain("did you mean");
    expect(await said("A")).toContain('did you mean "a"?');
    expect(await said("limitt")).toContain('did you mean "limit"?');
  });
});
