import { existsSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { Bench, document } from "./run.js";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

describe("init --grant", () => {
  test("writes each grant with its operations into the home's configuration", async () => {
    const { status, stdout, stderr } = await bench.run([
      "init",
      "--issuer",
      "documents-agent",
      "--grant",
      "documents:read=list,retrieve",
      "--grant",
      "documents:write= put , delete,put",
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(
      /\n {2}lifetime {2}24 h at most\n {2}grant {5}documents:read: list, retrieve\n {2}grant {5}documents:write: put, delete\n$/,
    );
    expect(JSON.parse(bench.read("home/config.json"))).toEqual({
      issuer: "documents-agent",
      maxLifetime: 86_400,
      grants: [
        { id: "documents:read", operations: ["list", "retrieve"] },
        { id: "documents:write", operations: ["put", "delete"] },
      ],
    });
  });

  test("with --json prints the grants; init without --grant writes no list", async () => {
    const made = await bench.json("init", "--issuer", "a", "--grant", "documents:read=list");
    expect(made["grants"]).toEqual([{ id: "documents:read", operations: ["list"] }]);
    const other = new Bench();
    expect(Object.keys(await other.json("init", "--issuer", "a"))).not.toContain("grants");
    expect(other.read("home/config.json")).not.toContain("grants");
  });

  test.each([
    [["documents:read"], '--grant "documents:read": this is not a grant with its operations'],
    [["documents:read="], '--grant "documents:read=": this is not a grant with its operations'],
    [["a=list,,put"], '--grant "a=list,,put": this is not a grant with its operations'],
    [["=list"], '--grant "=list": this is not a grant with its operations'],
    [["a b=list"], "grants[0].id: must be 1 to 128 printable ASCII characters without spaces"],
    [["a=list", "a=put"], 'grants[1].id: "a" is taken'],
    [["a=list", "b=put,*"], 'grants[1].operations[1]: "*" is no operation'],
  ])("refuses %j, and makes no home", async (grants, message) => {
    const args = grants.flatMap((grant) => ["--grant", grant]);
    const { status, stdout, stderr } = await bench.run(["init", "--issuer", "a", ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(`proviso: ${message}`);
    expect(stderr).toMatch(/\nhint: write it like documents:read=retrieve,search\n$/);
    expect(existsSync(bench.home)).toBe(false);
  });
});

describe("a wrong list of grants in config.json is refused as config_malformed, and the error names the field", () => {
  const grant = { id: "a", operations: ["list"] };
  test.each<[unknown, string]>([
    [[], "grants: must be an array of at least one grant"],
    ["documents:read", "grants: must be an array of at least one grant"],
    [{ a: ["list"] }, "grants: must be an array of at least one grant"],
    [[grant, "b"], "grants[1] must be a plain object, not a string"],
    [[grant, null], "grants[1] must be a plain object, not null"],
    [[{ operations: ["list"] }], "grants[0].id: must be 1 to 128 printable ASCII characters"],
    [[{ id: "a\n", operations: ["list"] }], "grants[0].id: must be 1 to 128 printable ASCII"],
    [[grant, { ...grant }], 'grants[1].id: "a" is taken'],
    [[{ id: "a" }], "grants[0].operations: must be an array of strings"],
    [[{ id: "a", operations: "list" }], "grants[0].operations: must be an array of strings"],
    [[{ id: "a", operations: ["list", 1] }], "grants[0].operations[1]: must be a non-empty string"],
    [
      [{ id: "a", operations: ["list", ""] }],
      "grants[0].operations[1]: must be a non-empty string",
    ],
    [[{ id: "a", operations: ["*"] }], 'grants[0].operations[0]: "*" is no operation'],
    [[grant, { id: "b", operations: ["put"], legacy: true }], "grants[1].legacy: unknown property"],
  ])("%j", async (grants, message) => {
    await bench.init();
    const config = JSON.parse(bench.read("home/config.json"));
    bench.write("home/config.json", JSON.stringify({ ...config, grants }));
    for (const args of [
      ["mint", "--grant", "a", "--op", "list"],
      ["verify", "AgIB", "--grant", "a", "--op", "list"],
    ]) {
      const { status, stdout, stderr } = await bench.run([...args, "--json"]);
      expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
      const { error } = document(stderr);
      expect(error).toMatchObject({ code: "config_malformed", exitCode: 6 });
      expect(error["message"]).toContain(`${bench.home}/config.json: ${message}`);
      expect(error["hint"]).toContain('"grants": [{"id": GRANT, "operations": [...]}]');
    }
  });
});
