import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate, inspect } from "../../src/index.js";
import { httpServer } from "../support/loopback-servers.js";
import { ALICE, NASTY, type RunningAgent, sendJson, startAgent, UNSAFE } from "./agent.js";
import { Bench, document, type Run, signatureForms } from "./run.js";
import { eventually } from "./serving.js";

const bench = new Bench();
let agent: RunningAgent;
let lenient: RunningAgent;
/** One token reads reports; the other one reads and writes notes. */
let token = "";
let notes = "";
/** The handles of reports, by title. */
const handles = new Map<string, string>();
const env = { PROVISO_ACCESS_TOKEN: ALICE };

beforeAll(async () => {
  [agent, lenient] = await Promise.all([
    startAgent(),
    startAgent({ mode: "prefer", undeclaredAmbient: "refused" }),
  ]);
  token = await granted("--grant", "documents:read", "--collection", "reports");
  notes = await granted(
    ...["--grant", "documents:read", "--grant", "documents:write", "--collection", "notes"],
  );
  bench.write("access", `${ALICE}\n`);
  bench.write("token", `${token}\n`);
  bench.write("tokens", `${notes}\n${token}\n`);
});
afterAll(() => Promise.all([agent.stop(), lenient.stop()]));

async function granted(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await bench.run(["request", agent.url, ...args], { env });
  for (const [, handle = "", name = ""] of stderr.matchAll(/^ {4}(rh_\S+) {2}(.*)$/gm)) {
    if (!handles.has(name)) handles.set(name, handle);
  }
  return stdout.trim();
}

const invoke = (args: readonly string[], options: Parameters<Bench["run"]>[1] = {}): Promise<Run> =>
  bench.run(["invoke", agent.url, ...args], { ...options, env: { ...env, ...options.env } });

test("invoke prints a skill's result as indented text", async () => {
  const { status, stdout, stderr } = await invoke([
    "retrieve_document",
    "@token",
    "--resource",
    handles.get("Third quarter") ?? "",
  ]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(
    [
      "displayName: Third quarter",
      "fields:",
      "  title: Third quarter",
      "  year: 2025",
      "  quarter: 3",
      "text:",
      "  ---",
      "  title: Third quarter",
      "  year: 2025",
      "  quarter: 3",
      "  ---",
      "  All went well.",
      "",
      "  Next: \\u{1b}[31mred\\u{1b}[0m \\u{202e}gnp.exe\tend\n",
    ].join("\n"),
  );
  const listed = await invoke(["list_documents", "@token"]);
  expect(listed.stdout).toBe("documents:\n  - First quarter\n  - Long ago\n  - Third quarter\n");
  const title = ["--arg", `resourceHandle=${handles.get("Long ago")}`, "--arg", "format=title"];
  expect((await invoke(["retrieve_document", "@token", ...title])).stdout).toBe("Long ago\n");
});

test.each(["jsonrpc", "rest"])(
  "invoke --json prints the result, its task and its authority, over %s",
  async (binding) => {
    const args = ["list_documents", "@token", "--binding", binding, "--json"];
    const { status, stdout, stderr } = await invoke(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(document(stdout)).toEqual({
      result: { documents: ["First quarter", "Long ago", "Third quarter"] },
      taskId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      authority: { authority: "capability", capability: inspect(token).capability?.id },
    });
  },
);

test("invoke accepts a token as an argument or from standard input, and several tokens from a file", async () => {
  const runs = await Promise.all([
    invoke(["list_documents", token]),
    invoke(["list_documents"], { input: `${token}\n` }),
    invoke(["list_documents", "-"], { input: token }),
    invoke(["list_documents", "-", "--access-token", "@access"], {
      input: token,
      env: { PROVISO_ACCESS_TOKEN: undefined },
    }),
    // The agent uses the one token that allows the call.
    invoke(["retrieve_document", "@tokens", "--resource", handles.get("Long ago") ?? ""]),
  ]);
  expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
});

test("invoke --resource fills the argument that takes a handle, and is refused for a skill without such an argument", async () => {
  const both = ["First quarter", "Long ago"].flatMap((name) => [
    "--resource",
    handles.get(name) ?? "",
  ]);
  expect((await invoke(["compare_documents", "@token", ...both])).stdout).toBe("compared: 2\n");
  const cases: [readonly string[], RegExp][] = [
    [["retrieve_document", ...both], /retrieve_document takes one resource a call/],
    [
      ["list_documents", ...both],
      /list_documents has no argument of its own that takes a resource/,
    ],
    [
      ["retreive_document", ...both],
      /has no skill retreive_document\nhint: did you mean retrieve_/,
    ],
    [
      ["retrieve_document", "--resource", "rh_1", "--arg", "resourceHandle=rh_2"],
      /--resource and --arg resourceHandle= say the same thing/,
    ],
  ];
  for (const [[skill = "", ...args], message] of cases) {
    const { status, stdout, stderr } = await invoke([skill, "@token", ...args]);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  }
});

describe("invoke prints a refusal with every reason", () => {
  test.each(["jsonrpc", "rest"])("in words and as JSON, over %s", async (binding) => {
    const args = [
      "delete_document",
      "@token",
      "--arg",
      `document=${handles.get("Milk")}`,
      "--arg",
      "force=true",
      "--binding",
      binding,
    ];
    const [plain, json] = await Promise.all([invoke(args), invoke([...args, "--json"])]);
    expect([plain.status, plain.stdout, json.status, json.stdout]).toEqual([1, "", 1, ""]);
    expect(plain.stderr).toMatch(
      /^refused for 4 reasons\n {2}grant_denied {2}operations\n {4}the grant "documents:read" does not have the operation "delete"; it has .*\n {4}hint: ask for a token of a grant that has this operation: proviso request --grant\n {2}operation_denied {2}hop 1, operations\n {4}operation "delete" is not allowed; allowed: .*\n {4}hint: .*proviso request --op\n {2}resource_denied {2}hop 1, resourceHandles\n/,
    );
    expect(plain.stderr).toMatch(
      /^ {2}arguments_invalid {2}arguments\n .*"force"\n {4}hint: proviso card/m,
    );
    expect(document(json.stderr)["error"]).toMatchObject({
      code: "grant_denied",
      exitCode: 1,
      denials: [
        {
          code: "grant_denied",
          rule: "operations",
          expected: ["retrieve", "list", "fail"],
          actual: "delete",
        },
        {
          code: "operation_denied",
          hop: 1,
          expected: ["fail", "list", "retrieve"],
          actual: "delete",
        },
        { code: "resource_denied", actual: handles.get("Milk") },
        { code: "arguments_invalid" },
      ],
    });
  });

  test("and names, if there are several tokens, the token that each reason is about", async () => {
    const { status, stderr } = await invoke(["delete_document", "@tokens", "--arg", "document=x"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/ token 2, hop 1, /);
    expect(stderr).toMatch(/ token 1, hop 1, /);
    expect(stderr).toMatch(/ token 3, hop 1, /);
  });

  test("and exits with 4 for a foreign or forged token, and with 1 for an expired token", async () => {
    const foreign = new Bench();
    await foreign.output("init", "--issuer", "someone-else");
    const other = await foreign.output("mint", "--grant", "documents:read", "--any-op");
    const stale = attenuate(token, { expires: new Date(Date.now() - 60_000) }, { intersect: true });
    const forged = `${token.slice(0, -5)}${token.at(-5) === "A" ? "B" : "A"}${token.slice(-4)}`;
    const cases: [string, number, string, RegExp][] = [
      [other, 4, "foreign_issuer", /it is another agent's; ask this one for a token/],
      [forged, 4, "signature_mismatch", /do not trust it/],
      [stale.ok ? stale.token : "", 1, "expired", /ask the agent for a new one: proviso request/],
    ];
    for (const [given, exitCode, code, hint] of cases) {
      const { status, stderr } = await invoke(["list_documents"], { input: given });
      expect(stderr).toMatch(new RegExp(`^refused for one reason\\n  ${code}\\b`));
      expect(stderr).toMatch(hint);
      expect(status).toBe(exitCode);
      for (const form of signatureForms(given)) expect(stderr).not.toContain(form);
    }
  });

  test("for an unknown skill, and for an unknown resource handle", async () => {
    const [skill, handle] = await Promise.all([
      invoke(["list_document", "@token"]),
      invoke(["retrieve_document", "@token", "--arg", "resourceHandle=rh_1"]),
    ]);
    expect(skill.stderr).toMatch(/skill_unknown .*\n.*did you mean "list_documents"\?/);
    expect(handle.stderr).toContain("resource_denied");
    expect([skill.status, handle.status]).toEqual([2, 1]);
    const noticed = await invoke(["list_document", "@token", "--resource", "rh_1"]);
    expect(noticed.status).toBe(skill.status);
  });
});

describe("invoke --ambient", () => {
  test("is required without a token; the call declares ambient authority, and the result is marked as ambient", async () => {
    const args = ["invoke", lenient.url, "list_documents"];
    const [unasked, asked, json] = await Promise.all([
      bench.run(args, { env }),
      bench.run([...args, "--ambient"], { env }),
      bench.run([...args, "--ambient", "--json"], { env }),
    ]);
    expect(unasked.status).toBe(2);
    expect(unasked.stderr).toBe(
      "proviso: no token is given\nhint: give @FILE, or pipe it in; --ambient calls without one\n",
    );
    expect(asked.status).toBe(0);
    expect(asked.stderr).toMatch(/^note: done with the caller's ambient authority: /);
    expect(asked.stdout).toContain("  - Milk\n");
    const marks = { authority: "ambient", declared: true };
    expect(document(json.stdout)["authority"]).toMatchObject(marks);
    expect(json.stderr).toBe("");
    const audit = (): Promise<string> => bench.output("audit", "--database", lenient.ledgerPath);
    // The agent writes events to the ledger with a short delay.
    await eventually(async () => (await audit()).split("ambient (declared)").length > 2);
    expect((await audit()).match(/ambient \(declared\)/g)).toHaveLength(2);
    const kept = await bench.output("audit", "--database", lenient.ledgerPath, "--json");
    expect(kept).toContain('"declared":true');
  });

  test("is refused with a hint if the agent does not accept ambient authority", async () => {
    const { status, stderr } = await invoke(["list_documents", "--ambient"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/capability_missing .*\n.*\n {4}hint: proviso request asks for one/);
  });

  test("is refused beside a token", async () => {
    const { status, stderr } = await invoke(["list_documents", "@token", "--ambient"]);
    expect(status).toBe(2);
    expect(stderr).toContain("--ambient is to call without a token, and one is given");
  });
});

test("invoke prints the notice of a legacy grant", async () => {
  const legacy = await granted("--grant", "documents:archive");
  const { status, stderr } = await invoke(["list_documents"], { input: legacy });
  expect(status).toBe(0);
  expect(stderr).toMatch(/^note: wraps a service that knows no capabilities/);
});

test("invoke exits with 6 if the skill fails, and does not print the skill's error", async () => {
  const { status, stdout, stderr } = await invoke(["fail", "@token", "--json"]);
  expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
  expect(document(stderr)["error"]).toMatchObject({ code: "skill_failed", exitCode: 6 });
  expect(stderr).not.toContain("a secret of the agent");
});

describe("invoke sends no request if the input is wrong", () => {
  test.each<[string, readonly string[], string, number, RegExp]>([
    ["nonsense in place of a token", ["garbage"], "", 3, /neither a v1 nor a v2 macaroon/],
    ["a file name without @", ["token"], "", 3, /write @token/],
    ["a malformed token among several", ["-"], "AgIB\nxyz", 3, /^proviso: /],
    ["nine tokens", ["-"], Array(9).fill("AgIB").join("\n"), 2, /at most 8 tokens/],
    [
      "the token and the access token both from standard input",
      ["-", "--access-token", "-"],
      "x",
      2,
      /cannot both come from/,
    ],
    ["malformed arguments", ["@token", "--arg", "n<=5"], "", 2, /write it like amount=500/],
  ])("%s", async (_what, args, input, expected, message) => {
    const { url, requests } = await httpServer((_, response) => sendJson(response, {}));
    const run = await bench.run(["invoke", url, "list_documents", ...args], { env, input });
    expect(run.stderr).toMatch(message);
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status: expected, stdout: "" });
    expect(requests).toHaveLength(0);
  });
});

test("invoke escapes control characters of an answer", async () => {
  const card: object = JSON.parse(await (await fetch(agent.cardUrl)).text());
  const metadata = { "urn:proviso:a2a:capabilities:1": { authority: NASTY, notice: NASTY } };
  const data = { [NASTY]: [NASTY, { [NASTY]: { a: [[], {}, null, 1.5, [NASTY, [true]]] } }] };
  const status = { state: "TASK_STATE_COMPLETED" };
  const artifacts = [{ artifactId: "a", parts: [{ data }] }];
  const task = { id: NASTY, contextId: NASTY, status, artifacts, metadata };
  const { url } = await httpServer((req, response) => {
    const at = `http://${req.headers.host}/rest`;
    const own = [{ url: at, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }];
    sendJson(response, req.method === "GET" ? { ...card, supportedInterfaces: own } : { task });
  });
  for (const json of [[], ["--json"]]) {
    const run = await bench.run(["invoke", url, "x", "@token", ...json], { env });
    expect(run.status).toBe(0);
    expect(run.stdout + run.stderr).not.toMatch(UNSAFE);
    expect(run.stdout).toContain("red");
    if (json.length > 0) expect(document(run.stdout)["result"]).toEqual(data);
  }
});
