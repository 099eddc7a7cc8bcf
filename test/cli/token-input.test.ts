import { chmodSync, mkdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { Bench } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
  bench.write("token", `\n  ${token} \r\n`);
});

test("a token is itself, @FILE, - or standard input", async () => {
  const verify = ["--grant", "documents:read", "--op", "retrieve"];
  const runs = await Promise.all([
    bench.run(["verify", token, ...verify]),
    bench.run(["verify", "@token", ...verify]),
    bench.run(["verify", `@${bench.path("token")}`, ...verify]),
    bench.run(["verify", "-", ...verify], { input: `${token}\n` }),
    bench.run(["verify", ...verify], { input: ` ${token}\n\n` }),
    bench.run(["verify", ...verify], { input: `\uFEFF${token}` }),
  ]);
  for (const { status, stdout } of runs) {
    expect(stdout).toMatch(/^allowed\n/);
    expect(status).toBe(0);
  }
});

test("white space around a token given as such is not dropped", async () => {
  const { status, stdout } = await bench.run([
    "verify",
    ` ${token}`,
    "--grant",
    "documents:read",
    "--op",
    "retrieve",
  ]);
  expect(status).toBe(3);
  expect(stdout).toContain("base64_whitespace");
});

test("a token that was wrapped when it was copied", async () => {
  const wrapped = token.replace(/(.{60})/g, "$1\n");
  const { status, stderr } = await bench.run(["inspect"], { input: wrapped });
  expect(status).toBe(3);
  expect(stderr).toContain("white space inside the token (at 60)");
  expect(stderr).toContain("it was broken over lines when it was copied; join them");
});

describe("nothing to read", () => {
  test.each<[string, readonly string[], number, RegExp]>([
    ["an empty argument", ["inspect", ""], 3, /the token is empty\nhint: if it comes from a shell/],
    ["empty input", ["inspect"], 3, /the token is empty/],
    ["no such file", ["inspect", "@nothing"], 6, /could not read nothing: there is no such file/],
    ["a folder", ["inspect", "@folder"], 6, /could not read folder: it is a folder/],
    ["a bare @", ["inspect", "@"], 2, /@ is not followed by the name of a file/],
    ["two from standard input", ["diff", "-", "-"], 2, /only one token can come from standard/],
    ["two, one left out", ["diff", "-"], 2, /only one token can come from standard/],
    ["a file's name alone", ["inspect", "token.txt"], 3, /hint: give the token itself, @FILE/],
  ])("%s", async (_what, args, expected, message) => {
    mkdirSync(bench.path("folder"), { recursive: true });
    const { status, stdout, stderr } = await bench.run(args);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: expected, stdout: "" });
  });
});

describe("what is often taken for a token", () => {
  const hint = async (args: readonly string[], input = ""): Promise<string> => {
    const { status, stdout, stderr } = await bench.run(args, { input });
    expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    expect(stderr).not.toContain(token.slice(-43));
    return stderr.split("hint: ")[1] ?? "";
  };

  test("a header's value", async () => {
    const expected = "drop the word Bearer\n";
    expect(await hint(["verify", `Bearer ${token}`, "--op", "retrieve"])).toBe(expected);
    expect(await hint(["inspect"], `bearer ${token}\n`)).toBe(expected);
  });

  test("the name of a file", async () => {
    bench.write("task.token", token);
    expect(await hint(["verify", "task.token", "--op", "retrieve"])).toBe(
      "there is a file task.token: write @task.token\n",
    );
  });

  test("what --json prints", async () => {
    expect(await hint(["inspect"], JSON.stringify({ token, id: "cap_1" }))).toBe(
      'take its "token" member\n',
    );
  });
});

test("an error names the file that the token is from", async () => {
  bench.write("broken", token.slice(0, -8));
  bench.write("header", `Bearer ${token}`);
  const named = async (...args: string[]): Promise<string> => {
    const { status, stderr } = await bench.run(args);
    expect(status).toBe(3);
    return stderr;
  };
  expect(await named("diff", "@token", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("diff", "@header", "@broken")).toMatch(/^proviso: header: .*\nhint: drop/);
  expect(await named("diff", token, "AgIB")).toMatch(/^proviso: the child: /);
  expect(await named("inspect", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("attenuate", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("convert", "@broken", "--to", "v1")).toMatch(/^proviso: broken: /);
});

test("a file that can not be read has the hint that helps", async () => {
  const secret = bench.write("secret", token);
  chmodSync(bench.folder, 0o755);
  chmodSync(secret, process.getuid?.() === 0 ? 0o600 : 0);
  const [forbidden, absent, long] = await Promise.all([
    bench.spawned(["inspect", "@secret"], { unprivileged: true }),
    bench.run(["inspect", "@nothing"]),
    bench.run(["inspect", `@${"x".repeat(300)}`]),
  ]);
  expect(forbidden.stderr).toContain(
    "could not read secret: it may not be read by this user\nhint: check its permissions\n",
  );
  expect(absent.stderr).toContain("there is no such file\nhint: check the name\n");
  expect(long.stderr).toContain("the name is too long\nhint: give a token as it is, without @\n");
});

test("input without end and input that is not text are refused", async () => {
  const [endless, binary] = await Promise.all([
    bench.run(["inspect", "@/dev/zero"]),
    bench.run(["inspect"], { input: Buffer.from(token, "base64url") }),
  ]);
  expect(endless.status).toBe(3);
  expect(endless.stderr).toContain("more than 1048576 bytes; no token is that long");
  expect(binary.status).toBe(3);
  expect(binary.stderr).toContain("a binary macaroon is given as base64url");
});

describe("converting", () => {
  test.each(["v1", "v2", "v1json", "v2json"])("to %s and back", async (form) => {
    const { token: converted, format } = await bench.json("convert", token, "--to", form);
    expect(format).toBe(form);
    const { stdout } = await bench.run(["convert", "--to", "v2"], { input: `${converted}\n` });
    expect(stdout).toBe(`${token}\n`);
    const verified = await bench.run(["verify", "--grant", "documents:read", "--op", "retrieve"], {
      input: converted,
    });
    expect(verified.status).toBe(0);
  });

  test("to what does not exist", async () => {
    const { status, stderr } = await bench.run(["convert", token, "--to", "v3"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are v1, v2, v1json, v2json");
  });
});

describe("diff", () => {
  test("tells what was taken away", async () => {
    const child = await bench.output(
      ...["attenuate", token, "--purpose", "one report", "--arg", "amount<=5"],
    );
    const { status, stdout } = await bench.run(["diff", "@token", child]);
    expect(status).toBe(0);
    expect(stdout).toBe(
      "The second was narrowed from the first by one hop.\n" +
        '  purpose: "one report"\n' +
        '  constraints.amount: no limit, now {"max":5}\n',
    );
    const piped = await bench.run(["diff", "@token", "--json"], { input: child });
    expect(JSON.parse(piped.stdout)).toMatchObject({
      derived: true,
      changes: [{ rule: "constraints.amount" }],
    });
    expect((await bench.run(["diff", token, token])).stdout).toBe("Both are the same token.\n");
  });

  test("of tokens that are not related ends with 4", async () => {
    const other = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
    const { status, stdout } = await bench.run(["diff", token, other]);
    expect(status).toBe(4);
    expect(stdout).toMatch(/^not related: these are two different capabilities/);
    expect(await bench.json("diff", token, other)).toMatchObject({
      status: 4,
      derived: false,
      reason: "other_capability",
    });
  });
});
