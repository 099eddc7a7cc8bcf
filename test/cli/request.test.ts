import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { ALICE, BOB, type RunningAgent, startAgent } from "./agent.js";
import { Bench, document, type Run, signatureForms, TOKEN } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent();
  bench.write("access", `${ALICE}\n`);
});
afterAll(() => agent.stop());

const read = ["--grant", "documents:read", "--collection", "reports"];

/** Requests capabilities from the agent, as Alice. */
const request = (...args: readonly string[]): Promise<Run> =>
  bench.run(["request", agent.url, "--access-token", "@access", ...args]);

test("request prints only the token on standard output, and describes the token on standard error", async () => {
  const { status, stdout, stderr } = await request(
    ...[...read, "--filter", "year=2025", "--op", "retrieve", "--arg", "format=text"],
    ...["--invoker", "assistant", "--expires", "5m", "--purpose", "sum up the year"],
  );
  expect(status).toBe(0);
  const token = stdout.trimEnd();
  expect(token).toMatch(TOKEN);
  const { capability, authority, links, revocationId } = inspect(token);
  expect(capability).toMatchObject({ grant: "documents:read", principal: "alice" });
  expect(links[0]?.hop).toMatchObject({
    operations: ["retrieve"],
    invokers: ["assistant"],
    purpose: "sum up the year",
    constraints: { format: "text" },
  });
  expect(stderr).toMatch(
    /^documents-agent granted a capability\ncap_\S+ {2}documents:read for alice\n/,
  );
  expect(stderr).toMatch(/^ {2}expires {8}in 5 min /m);
  expect(stderr).toContain(`  revocation id  ${revocationId}\n`);
  const named = authority.resourceHandles ?? [];
  expect(named).toHaveLength(2);
  for (const handle of named) expect(stderr).toContain(`    ${handle}  `);
  expect(stderr).toMatch(/^ {4}rh_\S+ {2}First quarter$/m);
  expect(stderr).toMatch(/^ {4}rh_\S+ {2}Third quarter$/m);
  for (const form of signatureForms(token)) expect(stderr).not.toContain(form);
});

test.each(["jsonrpc", "rest"])(
  "request --json prints the agent's whole answer, over %s",
  async (binding) => {
    const { status, stdout, stderr } = await request(...read, "--json", "--binding", binding);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(document(stdout)).toEqual({
      capabilities: [
        {
          id: expect.stringMatching(/^cap_/),
          grant: "documents:read",
          principal: "alice",
          token: expect.stringMatching(TOKEN),
          operations: expect.any(Array),
          attenuable: true,
          expires: expect.any(String),
          revocationId: expect.stringMatching(/^rv_/),
          resourceHandles: expect.arrayContaining([
            { handle: expect.stringMatching(/^rh_/), displayName: "Long ago", kind: "item" },
          ]),
        },
      ],
    });
  },
);

test.each<[readonly string[], readonly string[]]>([
  [["year=2025"], ["First quarter", "Third quarter"]],
  [["year>=2000", "quarter<=1"], ["First quarter"]],
  [
    ["quarter>=3", "quarter<=4"],
    ["Long ago", "Third quarter"],
  ],
  [["quarter in 1,4"], ["First quarter", "Long ago"]],
  [["quarter in [3]"], ["Third quarter"]],
  [["title>=M"], ["Third quarter"]],
  [['title="Long ago"'], ["Long ago"]],
])("request --filter %j finds the matching resources", async (filters, expected) => {
  const { stderr } = await request(...read, ...filters.flatMap((one) => ["--filter", one]));
  const found = [...stderr.matchAll(/^ {4}rh_\S+ {2}(.*)$/gm)].map(([, name]) => name);
  expect(found.sort()).toEqual(expected);
});

test("request prints several tokens one per line, and names each grant that was not granted", async () => {
  const grants = ["--grant", "documents:read", "--grant", "documents:write", "--collection"];
  const [notes, reports] = await Promise.all([
    request(...grants, "notes"),
    request(...grants, "reports"),
  ]);
  const tokens = notes.stdout.trimEnd().split("\n");
  expect(tokens.map((token) => inspect(token).grant)).toEqual([
    "documents:read",
    "documents:write",
  ]);
  expect(notes.stderr).toMatch(/^documents-agent granted 2 capabilities\n/);
  expect(notes.stderr).toContain("note: 2 tokens, one on a line in this order");
  expect(notes.stderr).toContain("  further hops   none\n");
  expect(reports.status).toBe(0);
  expect(reports.stdout).toMatch(/^\S+\n$/);
  expect(reports.stderr).toMatch(
    /^not granted: documents:write: .* \(the request leaves nothing\)$/m,
  );
});

test("request describes a legacy capability as legacy", async () => {
  const { stderr } = await request("--grant", "documents:archive");
  expect(stderr).toMatch(/^ {2}legacy {9}wraps a service that knows no capabilities/m);
});

describe("request explains a refusal with every reason", () => {
  test.each<[readonly string[], string, RegExp]>([
    [
      ["--grant", "documents:raed"],
      "unknown_grant",
      /this agent has no grant documents:raed; it has documents:read/,
    ],
    [["--grant", "documents:write"], "missing_required_grants", /require documents:read/],
    [
      ["--grant", "documents:read"],
      "resource_query_required",
      /hint: say which with --collection, and --filter; the agent has notes, reports\n/,
    ],
    [
      ["--grant", "documents:read", "--collection", "reprots"],
      "unknown_collection",
      /did you mean "reports"\?/,
    ],
    [[...read, "--filter", "yaer=1"], "unknown_field", /known: "date", "quarter", "title", "year"/],
    [[...read, "--filter", "year=3000"], "nothing_found", /the query matches nothing/],
    [[...read, "--op", "delete"], "nothing_left", /documents:read: .*\(the \w+ leaves nothing\)/],
  ])("%j", async (args, code, message) => {
    const [plain, rest] = await Promise.all([
      request(...args),
      request(...args, "--binding", "rest", "--json"),
    ]);
    expect(plain.stderr).toMatch(message);
    expect(plain.stderr).toMatch(/^proviso: documents-agent grants nothing: .*\nhint: .*\n$/s);
    expect([plain.status, plain.stdout, rest.status, rest.stdout]).toEqual([1, "", 1, ""]);
    expect(document(rest.stderr)["error"]).toMatchObject({ code, exitCode: 1 });
  });

  test("and names the policy if the policy leaves nothing of the grant", async () => {
    bench.write("bob", BOB);
    const run = await bench.run([
      "request",
      agent.url,
      "--access-token",
      "@bob",
      ...read,
      "--json",
    ]);
    expect(run.status).toBe(1);
    expect(document(run.stderr)["error"]).toMatchObject({
      code: "nothing_left",
      grants: ["documents:read"],
      problems: [{ grant: "documents:read", takenBy: "policy" }],
    });
  });
});

describe("a wrong request command is a usage error", () => {
  test.each<[readonly string[], RegExp]>([
    [["--collection", "reports"], /required option '--grant <grant>' not specified/],
    [["--grant", "g", "--filter", "a=1"], /--filter needs --collection/],
    [[...read, "--filter", "year"], /--filter "year": there is no operator/],
    [[...read, "--filter", "year>2000"], /there is no >\nhint: use >=/],
    [[...read, "--filter", "year not in 1"], /a filter has no not in/],
    [[...read, "--filter", "year=[1]"], /a field is compared with one value/],
    [[...read, "--filter", "year>=true"], /"true" has no order/],
    [[...read, "--filter", "year>=1", "--filter", "year>=2"], /given "min" twice/],
    [[...read, "--filter", "year>=1", "--filter", "year=2"], /an exact value and another/],
    [[...read, "--expires", "soon"], /neither a duration nor a time/],
    [[...read, "--binding", "grpc"], /Allowed choices are jsonrpc, rest/],
    [[...read, "--collection", "notes"], /--collection is given twice/],
  ])("%j", async (args, message) => {
    const { status, stdout, stderr } = await request(...args);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

test("request --output writes the token into the file, and prints a note if the agent shortened the lifetime", async () => {
  const long = await request(...read, "--expires", "100d", "--output", "token");
  expect(long).toMatchObject({ status: 0, stdout: "" });
  expect(long.stderr).toMatch(
    /note: asked for until \S+, granted until \S+ \(in 24 h\): the agent /,
  );
  expect(long.stderr).toContain("the token is in token\n");
  expect(inspect(await bench.output("attenuate", "@token", "--op", "list")).grant).toBe(
    "documents:read",
  );
  const short = await request(...read, "--expires", "5m");
  expect(short.stderr).not.toContain("asked for until");
});
