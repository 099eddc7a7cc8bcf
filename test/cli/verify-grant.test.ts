import { beforeAll, describe, expect, test } from "vitest";
import { Bench, document, type Run } from "./run.js";

/** The first home does not list its grants; the second one does. */
const plain = new Bench();
const listed = new Bench();
const tokens: Record<"read" | "write" | "any" | "plain", string> = {
  read: "",
  write: "",
  any: "",
  plain: "",
};

beforeAll(async () => {
  await Promise.all([
    plain.init(),
    listed.init(
      "--grant",
      "documents:read=list,retrieve",
      "--grant",
      "documents:write=update,list",
    ),
  ]);
  const mint = ["mint", "--principal", "user_7", "--grant"];
  tokens.plain = await plain.output(...mint, "documents:read", "--op", "retrieve");
  tokens.read = await listed.output(...mint, "documents:read");
  tokens.write = await listed.output(...mint, "documents:write", "--op", "update");
  tokens.any = await listed.output(...mint, "documents:read", "--any-op");
});

/** Returns the command's output without and with `--json`. Both runs must have the same exit code. */
async function told(bench: Bench, ...args: readonly string[]): Promise<{ words: Run; json: Run }> {
  const [words, json] = await Promise.all([
    bench.run(["verify", ...args]),
    bench.run(["verify", ...args, "--json"]),
  ]);
  expect(json.status).toBe(words.status);
  return { words, json };
}

/** Returns the error of an invalid command line. The command must not judge the token. */
async function usage(bench: Bench, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { words, json } = await told(bench, ...args);
  expect({ status: words.status, out: words.stdout + json.stdout }).toEqual({ status: 2, out: "" });
  const { code, message, hint, exitCode } = document(json.stderr)["error"];
  expect({ code, exitCode }).toEqual({ code: "usage", exitCode: 2 });
  expect(words.stderr).toBe(`proviso: ${message}\nhint: ${hint}\n`);
  return { message, hint };
}

/** Returns the denials of a refusal, which must have exit code 1. */
async function refused(
  bench: Bench,
  ...args: readonly string[]
): Promise<{
  denials: unknown[];
  words: string;
}> {
  const { words, json } = await told(bench, ...args);
  expect({ status: words.status, stderr: words.stderr }).toEqual({ status: 1, stderr: "" });
  const { allowed, exitCode, denials } = document(json.stdout);
  expect({ allowed, exitCode }).toEqual({ allowed: false, exitCode: 1 });
  return { denials, words: words.stdout };
}

const allowed = (bench: Bench, ...args: readonly string[]): Promise<string> =>
  bench.output("verify", ...args).then((text) => text.split("\n")[0] ?? "");

describe("verify in a home that lists no grants", () => {
  test("without --grant is a usage error, and the token is not judged", async () => {
    for (const op of ["retrieve", "delete"]) {
      expect(await usage(plain, tokens.plain, "--op", op)).toEqual({
        message: "--grant is missing, and this home does not list its grants",
        hint:
          "name the grant that the service acts under; " +
          `a list of the grants goes into "grants" in ${plain.home}/config.json`,
      });
    }
  });

  test("allows a token if --grant names the token's grant, alone or among others", async () => {
    const op = ["--op", "retrieve"];
    expect(await allowed(plain, tokens.plain, "--grant", "documents:read", ...op)).toBe("allowed");
    const several = ["--grant", "documents:write", "--grant", "documents:read"];
    expect(await allowed(plain, tokens.plain, ...several, ...op)).toBe("allowed");
  });

  test("refuses a token if --grant names only other grants, and lists grant_denied before the denials of the hops", async () => {
    const asked = ["--grant", "documents:write", "--grant", "a", "--op", "delete"];
    const { denials, words } = await refused(plain, tokens.plain, ...asked);
    expect(denials).toEqual([
      {
        code: "grant_denied",
        rule: "grant",
        expected: ["documents:write", "a"],
        actual: "documents:read",
        message: 'the token is for "documents:read", and this call is under "documents:write", "a"',
        hint: "ask for a token of the grant that this service acts under",
      },
      expect.objectContaining({ code: "operation_denied", hop: 1, rule: "operations" }),
    ]);
    expect(words).toMatch(
      /^refused for 2 reasons\n {2}grant_denied {2}grant\n.*\n {4}hint: ask for a token of the grant/,
    );
    expect(words).toMatch(/\n {2}capability cap_\S+, documents:read for user_7\n$/);
  });

  test("refuses an empty --grant", async () => {
    const { stderr, status } = await plain.run(["verify", "x", "--op", "x", "--grant", ""]);
    expect(status).toBe(2);
    expect(stderr).toContain("option '--grant <grant>' argument '' is invalid. It is empty.");
  });
});

describe("verify in a home that lists its grants", () => {
  test("without --grant uses the only grant that has the operation", async () => {
    expect(await allowed(listed, tokens.read, "--op", "retrieve")).toBe("allowed");
    expect(await allowed(listed, tokens.write, "--op", "update")).toBe("allowed");
  });

  test("without --grant refuses an operation that the token's grant lacks and another grant has", async () => {
    const { denials } = await refused(listed, tokens.any, "--op", "update");
    expect(denials).toMatchObject([
      { code: "grant_denied", rule: "grant", expected: ["documents:write"] },
      { code: "grant_denied", rule: "operations", expected: ["list", "retrieve"] },
    ]);
  });

  test("without --grant is a usage error if several grants have the operation, or none has it", async () => {
    const hint = "--grant names the grant that the service acts under";
    const must = "--grant must say under which grant this service acts: ";
    expect(await usage(listed, tokens.read, "--op", "list")).toEqual({
      message: `${must}the operation "list" belongs to "documents:read", "documents:write"`,
      hint,
    });
    expect(await usage(listed, tokens.read, "--op", "delete")).toEqual({
      message: '--op: no grant has "delete"; known operations: "list", "retrieve", "update"',
      hint: "proviso verify --help shows how it is used",
    });
    expect(await allowed(listed, tokens.read, "--op", "list", "--grant", "documents:read")).toBe(
      "allowed",
    );
  });

  test("refuses a --grant that the home does not list", async () => {
    const near = await usage(listed, tokens.read, "--op", "list", "--grant", "documents:reed");
    expect(near["message"]).toBe(
      'this issuer has no grant "documents:reed"; it has "documents:read", "documents:write"',
    );
    const far = ["--grant", "documents:read", "--grant", "zzz"];
    expect((await usage(listed, tokens.read, "--op", "list", ...far))["message"]).toBe(
      'this issuer has no grant "zzz"; it has "documents:read", "documents:write"',
    );
  });

  test("refuses an operation outside the token's grant even if no hop limits the operations", async () => {
    const both = ["--grant", "documents:read", "--grant", "documents:write"];
    const { denials, words } = await refused(listed, tokens.any, "--op", "update", ...both);
    expect(denials).toEqual([
      {
        code: "grant_denied",
        rule: "operations",
        expected: ["list", "retrieve"],
        actual: "update",
        message:
          'the grant "documents:read" does not have the operation "update"; it has "list", "retrieve"',
        hint: "ask for a token of a grant that has the operation",
      },
    ]);
    expect(words).toContain("\n    hint: ask for a token of a grant that has the operation\n");
  });
});

test("verify exits with 5 for a revoked token even if --grant names another grant", async () => {
  const token = await plain.output("mint", "--grant", "documents:read", "--op", "retrieve");
  await plain.output("revoke", token);
  const asked = ["verify", token, "--op", "retrieve", "--grant", "documents:write"];
  const { status, denials } = await plain.json(...asked);
  expect(status).toBe(5);
  expect(denials).toMatchObject([{ code: "revoked" }, { code: "grant_denied" }]);
});
