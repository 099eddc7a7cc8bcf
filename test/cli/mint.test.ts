import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench, document, TOKEN } from "./run.js";

const bench = new Bench();
const mint = ["mint", "--grant", "documents:read", "--op", "retrieve"];
beforeAll(() => bench.init());

test("mint prints the token and nothing else", async () => {
  const { status, stdout, stderr } = await bench.run(mint);
  expect(status).toBe(0);
  expect(stdout.trimEnd()).toMatch(TOKEN);
  expect(stderr).toBe("");
});

test("mint writes every restriction into the hop", async () => {
  const restrictions = [
    "--principal",
    "user_7",
    "--op",
    "search",
    "--resource",
    "rh_2",
    "--resource",
    "rh_1",
    "--arg",
    "amount<=1000",
    "--arg",
    "amount >= 1",
    "--arg",
    "currency in USD,EUR",
    "--arg",
    "to not in acc_1,acc_2",
    "--arg",
    "urgent=true",
    "--arg",
    'note="5"',
    "--audience",
    "files",
    "--invoker",
    "agent_1",
    "--expires",
    "2h",
    "--not-before",
    "2020-01-01T01:00:00+01:00",
    "--max-further-hops",
    "2",
    "--purpose",
    "read one report",
  ];
  const minted = await bench.json(...mint, ...restrictions);
  expect(minted).toMatchObject({
    status: 0,
    token: expect.stringMatching(TOKEN),
    id: expect.stringMatching(/^cap_/),
    grant: "documents:read",
    principal: "user_7",
    revocationId: expect.stringMatching(/^rv_/),
  });
  expect(minted["hop"]).toEqual({
    operations: ["retrieve", "search"],
    resourceHandles: ["rh_1", "rh_2"],
    constraints: {
      amount: { max: 1000, min: 1 },
      currency: { in: ["EUR", "USD"] },
      note: "5",
      to: { not_in: ["acc_1", "acc_2"] },
      urgent: true,
    },
    expires: minted["expires"],
    notBefore: "2020-01-01T00:00:00Z",
    audience: ["files"],
    invokers: ["agent_1"],
    maxFurtherHops: 2,
    purpose: "read one report",
  });
  const { capability, authority } = inspect(minted["token"]);
  expect(capability).toMatchObject({ iss: "documents-agent", issued: minted["issued"] });
  expect(authority.expires).toBe(minted["expires"]);
  expect(Date.parse(minted["expires"]) - Date.parse(minted["issued"])).toBe(2 * 3600 * 1000);
});

test("a minted token lives for 15 minutes by default", async () => {
  const { issued, expires } = await bench.json(...mint);
  expect(Date.parse(expires) - Date.parse(issued)).toBe(15 * 60 * 1000);
});

test("mint refuses a lifetime beyond the maximum, and names the latest time allowed", async () => {
  const { status, stderr } = await bench.run([...mint, "--expires", "25h"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(
    /^proviso: --expires \S+ is later than this issuer allows; the latest is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/,
  );
  expect(stderr).toMatch(/hint: "maxLifetime" in .*config.json sets the longest life\n/);
});

test("a token from a home with a maximum lifetime below 15 minutes lives for that maximum by default", async () => {
  const other = new Bench();
  await other.init("--max-lifetime", "5m");
  const { issued, expires } = await other.json(...mint);
  expect(Date.parse(expires) - Date.parse(issued)).toBe(5 * 60 * 1000);
  expect(JSON.parse(other.read("home/config.json"))).toEqual({
    issuer: "documents-agent",
    maxLifetime: 300,
  });
});

describe("a wrong mint command is a usage error", () => {
  test.each<[readonly string[], RegExp]>([
    [["--expires", "tomorrow"], /--expires "tomorrow": this is neither a duration nor a time/],
    [["--expires", "2030-01-31T00:00:00"], /the time zone is missing/],
    [
      ["--expires", "2020-01-01T00:00:00Z"],
      /^proviso: --expires 2020-01-01T00:00:00Z is not after now/,
    ],
    [["--not-before", "20m"], /^proviso: --not-before \S+Z is not before the token's end, \S+Z\n/],
    [
      ["--not-before", "2h", "--expires", "1h"],
      /^proviso: --not-before \S+Z is not before --expires \S+Z\n/,
    ],
    [["--arg", "amount<5"], /--arg "amount<5": there is no <\nhint: use <=/],
    [["--arg", "amount=1e999"], /the number 1e999 cannot be held exactly/],
    [
      ["--arg", 'amount={"maxx":5}'],
      /unknown operator "maxx" in "constraints\.amount"; did you mean "max"\?/,
    ],
    [["--arg", "amount<=1", "--arg", "amount<=2"], /this argument is given "max" twice/],
    [["--arg", "amount>=5", "--arg", "amount<=2"], /contradict each other \(constraints.amount\)/],
    [["--max-further-hops", "-1"], /Give a whole number, such as 0 or 2/],
    [["--op", ""], /'--op <operation>' argument '' is invalid. It is empty/],
    [["--ops", "x"], /unknown option '--ops'\nhint: did you mean --op\?/],
    [["extra"], /mint takes no argument, and one is given/],
    [["--purpose", "x".repeat(9000)], /restrictions take \d+ bytes; at most 8192 are allowed/],
  ])("%j", async (args, message) => {
    const { status, stdout, stderr } = await bench.run([...mint, ...args]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^proviso: .*\nhint: .*\n$/s);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

test("usage errors are JSON with --json, including those of the command line parser", async () => {
  for (const args of [["mint"], [...mint, "--expires", "x"], ["frob"], ["session"], []]) {
    const { status, stdout, stderr } = await bench.run([...args, "--json"]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(document(stderr)).toEqual({
      error: {
        code: "usage",
        message: expect.any(String),
        hint: expect.any(String),
        exitCode: 2,
      },
    });
  }
});
