import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench, document } from "./run.js";

/** The first home does not list its grants; the second one does. */
const plain = new Bench();
const listed = new Bench();
beforeAll(() =>
  Promise.all([
    plain.init(),
    listed.init("--grant", "documents:read=search,list,retrieve", "--grant", "documents:write=put"),
  ]),
);

/** Returns the error of an invalid command line. The command must not make a token. */
async function refusal(bench: Bench, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, stdout, stderr } = await bench.run(["mint", ...args, "--json"]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  const { code, message, hint } = document(stderr)["error"];
  expect(code).toBe("usage");
  return { message, hint };
}

describe("mint without --op", () => {
  test("writes the grant's operations into the hop if the home lists them", async () => {
    const { status, stdout, stderr } = await listed.run(["mint", "--grant", "documents:read"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [first] = inspect(stdout.trim()).links;
    expect(first?.hop?.operations).toEqual(["list", "retrieve", "search"]);
    const { hop } = await listed.json("mint", "--grant", "documents:write", "--arg", "n<=1");
    expect(hop).toMatchObject({ operations: ["put"], constraints: { n: { max: 1 } } });
  });

  test("is refused with a hint if the home lists no grants", async () => {
    expect(await refusal(plain, "--grant", "documents:read", "--resource", "rh_1")).toEqual({
      message: "no operation is named, and this home does not list its grants",
      hint:
        "name operations with --op, or allow every one with --any-op; " +
        `a list of the grants goes into "grants" in ${plain.home}/config.json`,
    });
  });

  test.each<[string, Bench]>([
    ["does not list its grants", plain],
    ["lists its grants", listed],
  ])("with --any-op writes no operations, in a home that %s", async (_what, bench) => {
    const token = await bench.output("mint", "--grant", "documents:read", "--any-op");
    expect(Object.keys(inspect(token).links[0]?.hop ?? {})).toEqual(["expires"]);
    const shown = await bench.output("inspect", token);
    expect(shown).toMatch(/^ {2}operations {2}any of its grant$/m);
    expect(shown).toContain("warning: no hop names operations");
  });

  test("with --any-op makes a token that the home's list of grants still limits", async () => {
    const token = await listed.output("mint", "--grant", "documents:read", "--any-op");
    const verify = (op: string): ReturnType<Bench["json"]> =>
      listed.json("verify", token, "--grant", "documents:read", "--op", op);
    expect(await verify("search")).toMatchObject({ status: 0, allowed: true });
    expect(await verify("put")).toMatchObject({
      status: 1,
      denials: [{ code: "grant_denied", rule: "operations" }],
    });
  });
});

describe("mint with --op", () => {
  test("writes exactly the operations given", async () => {
    const { hop } = await listed.json("mint", "--grant", "documents:read", "--op", "list");
    expect(hop.operations).toEqual(["list"]);
  });

  test("refuses an operation that the grant lacks, and suggests or lists the grant's operations", async () => {
    const asked = ["--grant", "documents:read", "--op", "list", "--op"];
    expect((await refusal(listed, ...asked, "retreive"))["message"]).toBe(
      'the grant "documents:read" has no operation "retreive"; did you mean "retrieve"?',
    );
    expect((await refusal(listed, ...asked, "put"))["message"]).toBe(
      'the grant "documents:read" has no operation "put"; it has "search", "list", "retrieve"',
    );
  });

  test("refuses --any-op, whether or not the home lists its grants", async () => {
    for (const bench of [plain, listed]) {
      const asked = ["--grant", "documents:read", "--any-op", "--op", "list"];
      expect(await refusal(bench, ...asked)).toEqual({
        message: "--op and --any-op exclude each other",
        hint: "give one of them",
      });
    }
  });
});

test("mint refuses a grant that the home does not list, and names the listed grants", async () => {
  for (const operations of [[], ["--op", "list"], ["--any-op"]]) {
    expect((await refusal(listed, "--grant", "documents:reed", ...operations))["message"]).toBe(
      'this issuer has no grant "documents:reed"; it has "documents:read", "documents:write"',
    );
  }
  await plain.output("mint", "--grant", "documents:reed", "--op", "list");
});
