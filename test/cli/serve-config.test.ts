import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { FULL } from "../support/size.js";
import { Bench, type Document, document } from "./run.js";
import { CONFIG, POLICY, serve, TOKENS, writeAgent } from "./serving.js";

const bench = new Bench();
beforeAll(async () => {
  await bench.init("--max-lifetime", "8h");
  writeAgent(bench);
});

/** Returns the error of `proviso serve` about an invalid configuration. The agent must not start. */
async function refusal(config: Document | string): Promise<{ error: Document; words: string }> {
  bench.write("broken.json", typeof config === "string" ? config : JSON.stringify(config));
  const runs = await Promise.all([
    bench.run(["serve", "broken.json", "--json"]),
    bench.run(["serve", "broken.json"]),
  ]);
  for (const run of runs) expect(run).toMatchObject({ status: 6, stdout: "" });
  const [json, words] = runs.map(({ stderr }) => stderr);
  return { error: document(json ?? "")["error"], words: words ?? "" };
}

async function problems(config: Document): Promise<string[]> {
  const { error, words } = await refusal(config);
  expect(error).toMatchObject({ code: "config_invalid" });
  const messages: string[] = error["problems"].map(({ message }: Document) => message);
  for (const message of messages) expect(words).toContain(`\n  ${message}\n`);
  return messages;
}

test("serve reports all violations of the schema at once, each with its field", async () => {
  const { description, ...others } = CONFIG;
  const config = {
    ...others,
    mode: "requre",
    limitz: {},
    lifetime: "15 minutes",
    log: 1,
    version: "",
    grants: [{ id: "a b", operations: [], atenuable: true }, "notes:read"],
    policy: { rules: [{ principal: "alice", group: "x", grant: "g", operations: "read" }] },
    resources: { folder: "a", database: "b" },
    listen: { port: 70_000, adress: "x" },
    publicUrl: "ftp://x",
    authentication: { ...CONFIG["authentication"], audience: "x", clockTolerance: -1 },
  };
  const expected = [
    "authentication.clockTolerance: must be 0 or more",
    'authentication.issuer: is missing; it goes with "audience"',
    'authentication.issuer: is missing; it goes with "clockTolerance"',
    "description: is missing",
    'grants[0].atenuable: unknown property; did you mean "attenuable"?',
    "grants[0].description: is missing",
    "grants[0].id: must be 1 to 128 printable ASCII characters without spaces",
    "grants[0].operations: must have at least one element",
    "grants[1]: must be an object",
    "lifetime: must be a duration, such as 90s, 15m, 8h or 30d",
    'limitz: unknown property; did you mean "limits"?',
    "listen.adress: unknown property; there are host, port",
    "listen.port: must be 65535 or less",
    'log: must be "info", "warn" or "silent"',
    'mode: must be "advertise", "prefer" or "require"; did you mean "require"?',
    'policy.rules[0]: must have "principal" or "group", and only one of them',
    'policy.rules[0].operations: must be an array of names, or "*" for all',
    "publicUrl: must be an http: or https: URL without query and fragment",
    'resources: must have "folder" or "database", and only one of them',
    'resources.collections: is missing; it goes with "database"',
    "version: must not be empty",
  ];
  expect((await problems(config)).sort()).toEqual(expected.sort());
});

test("serve refuses a trusted proxy that is not an IP address or a range", async () => {
  const found = await problems({ ...CONFIG, trustedProxies: ["10.0.0.0/8", "proxy.example"] });
  expect(found).toEqual(["trustedProxies: invalid IP address: proxy.example"]);
});

describe("serve refuses an invalid setting, and names its field", () => {
  const rule = POLICY["rules"][1];
  const jwt = { issuer: "https://login.example", audience: "a", jwks: { keys: [] } };
  test.each<[string, Document, string]>([
    [
      "an operation that no skill has",
      { grants: [CONFIG["grants"][0], { ...CONFIG["grants"][1], operations: ["waits"] }] },
      'grants[1].operations[0]: no skill has the operation "waits"; did you mean "wait"?',
    ],
    [
      "a rule for an unknown grant",
      { policy: { rules: [{ ...rule, grant: "notes:raed" }] } },
      'policy.rules[0].grant: there is no grant "notes:raed"; did you mean "notes:read"?',
    ],
    [
      "a rule for an unknown operation",
      { policy: { rules: [{ ...rule, operations: ["write"] }] } },
      'policy.rules[0].operations[0]: no skill has the operation "write"; there are read, wait',
    ],
    [
      "a rule that limits arguments of an unknown operation",
      { policy: { rules: [{ ...rule, operationConstraints: { waits: { ms: { max: 5 } } } }] } },
      'policy.rules[0]: limits arguments of the operation "waits", which no skill has; did you mean "wait"?',
    ],
    [
      "a rule with an operator that does not exist",
      { policy: { rules: [{ ...rule, operationConstraints: { wait: { ms: { maxx: 5 } } } }] } },
      'policy.rules[0]: unknown operator "maxx" in "operationConstraints.wait.ms"; did you mean "max"?',
    ],
    [
      "a rule with a misspelt property",
      { policy: { rules: [{ ...rule, operationConstraint: {} }] } },
      'policy.rules[0].operationConstraint: unknown property; did you mean "operationConstraints"?',
    ],
    [
      "a rule for an unknown group",
      {
        policy: {
          groups: { analysts: ["alice"] },
          rules: [{ group: "analists", grant: "*", operations: "*" }],
        },
      },
      'policy.rules[0].group: there is no group "analists"; did you mean "analysts"?',
    ],
    [
      "a lifetime longer than the home allows",
      { maxLifetime: "9h" },
      `maxLifetime: the home allows 8 h at most ("maxLifetime" in ${bench.home}/config.json)`,
    ],
    [
      "a lifetime longer than maxLifetime",
      { maxLifetime: "5m", lifetime: "6m" },
      "lifetime: is longer than a capability may live here, 5 min",
    ],
    [
      "a public URL with an invalid port",
      { publicUrl: "https://a:99999" },
      "publicUrl: is not a URL",
    ],
    ["a lifetime of zero", { lifetime: "0s" }, "lifetime: must be 1s or more"],
    [
      "the same development token twice",
      {
        authentication: {
          development: ["alice", "bob"].map((principal) => ({
            token: TOKENS.alice,
            principal,
            invoker: "a",
          })),
        },
      },
      "authentication.development[1].token: is that of authentication.development[0]",
    ],
    [
      "an unsupported algorithm",
      { authentication: { ...jwt, algorithms: ["HS256"] } },
      "authentication.algorithms: ",
    ],
    [
      "a public URL with a random port",
      { publicUrl: "https://notes.example" },
      "listen.port: is missing; ",
    ],
    ["an empty list of protocols", { protocols: [] }, "protocols: must have at least one element"],
    ["an unknown protocol", { protocols: ["a2"] }, 'protocols[0]: must be "a2a", '],
    ["a protocol twice", { protocols: ["a2a", "a2a"] }, "protocols[1]: is there already"],
    [
      "a table for a collection with a slash in its name",
      { resources: { database: "x.db", collections: { "a/b": table() } } },
      "resources.",
    ],
  ])("%s", async (_, change, expected) => {
    const [first = "", ...others] = await problems({ ...CONFIG, ...change });
    expect(others).toEqual([]);
    expect(first.slice(0, expected.length)).toBe(expected);
    if (!/[: .]$/.test(expected)) expect(first).toBe(expected);
  });

  function table(): Document {
    return { table: "t", name: "id", displayName: "title", fields: {} };
  }
});

describe("serve refuses a configuration that is not JSON, with line and column", () => {
  const text = JSON.stringify(CONFIG, undefined, 2);
  test.each([
    [
      "because of a comment",
      text.replace('  "name"', '  // mine\n  "name"'),
      "2:3",
      "JSON has no comments",
    ],
    [
      "because of a trailing comma",
      text.replace(/\n\}$/, ",\n}"),
      "",
      "take out the comma before it",
    ],
    ["because of single quotes", "{\n 'name': 1}", "2:2", "double quotes"],
    ["because it ends too early", '{"name": [1, 2', "1:15", "something is not closed"],
    ["because it is empty", "", "1:1", "something is not closed"],
    ["because it is a bare word", '{"name": yes}', "1:10", "an editor that knows JSON"],
    [
      "because of a string over two lines",
      '{\n"name": "a\nb"}',
      "2:9",
      "an editor that knows JSON",
    ],
    ["because of an unclosed string", '"\n'.concat("[".repeat(100_000)), "1:1", "an editor"],
  ])("%s", async (_, broken, place, hint) => {
    const { error, words } = await refusal(broken);
    expect(error).toMatchObject({ code: "config_malformed" });
    expect(error["message"]).toMatch(/^broken\.json:\d+:\d+: this is not JSON$/);
    expect(error["message"]).toContain(`broken.json:${place}`);
    expect(error["hint"]).toContain(hint);
    expect(words).not.toContain(TOKENS.alice);
  });

  test("because it has a property twice", async () => {
    const twice = text.replace('  "name"', '  "mode": "require",\n  "mode": "prefer",\n  "name"');
    const { error } = await refusal(twice);
    expect(error["message"]).toBe('broken.json:3:3: "mode" is there twice');
  });
});

describe("serve refuses a configuration that refers to something unusable", () => {
  test.each<[string, Document, string, string]>([
    [
      "because the policy file is missing",
      { policy: "none.json" },
      "config_unreadable",
      "none.json: ",
    ],
    [
      "because the file of tokens is missing",
      development("none.json"),
      "config_unreadable",
      "none.json: ",
    ],
    ["because the home is missing", { home: "nowhere" }, "home_missing", "there is no home at "],
    [
      "because the folder of resources is missing",
      { resources: { folder: "nowhere" } },
      "source_missing",
      "nowhere: ",
    ],
    [
      "because the module of skills is missing",
      { skills: "nowhere.mjs" },
      "skills_failed",
      "nowhere.mjs: Cannot find module",
    ],
    [
      "because the module has other exports",
      { skills: "other.mjs" },
      "skills_failed",
      "it does not give {skills: [...]}",
    ],
    [
      "because a skill is invalid",
      { skills: "one.mjs" },
      "skills_failed",
      "one.mjs: skills[0] must be an object, not ",
    ],
    ["because the module throws", { skills: "bad.mjs" }, "skills_failed", "no index (at "],
    [
      "because the JWK Set has no keys",
      { authentication: { issuer: "https://a.example", audience: "a", jwks: "none.json" } },
      "keys_unavailable",
      "no keys can be had from ",
    ],
  ])("%s", async (_, change, code, message) => {
    bench.write("other.mjs", "export default async () => ({ skills: 1 });");
    bench.write("one.mjs", "export default async () => ({ skills: [1] });");
    bench.write("bad.mjs", 'export default async () => { throw new Error("no index"); };');
    const { error } = await refusal({ ...CONFIG, ...change });
    expect(error).toMatchObject({ code, hint: expect.any(String) });
    expect(error["message"]).toContain(message);
    expect(error["message"]).toContain(message.includes(".json") ? bench.folder : "");
  });

  const skill = `{ id: "a", name: "A", description: "A", operation: "read", reach: "none",
    input: { type: "object" }, run: async () => null }`;
  const given = (change: string): string =>
    `const skill = ${skill};\nexport default async () => ({
      skills: [skill, { ...skill, ${change} }, { ...skill, id: "w", operation: "wait" }],
    });`;
  async function refusesSkills(run: "run" | "spawned", text: string, message: string | RegExp) {
    bench.write("broken.mjs", "const;");
    bench.write("one.mjs", "export const a = 1;");
    // A process loads a module only once, so each module has another name.
    const name = `skills-${randomUUID()}.mjs`;
    bench.write(name, text);
    bench.write("with-skills.json", JSON.stringify({ ...CONFIG, skills: name }));
    const { status, stderr } = await bench[run](["serve", "with-skills.json"]);
    expect(status).toBe(6);
    const [first = "", hint, ...others] = stderr.trimEnd().split("\n");
    expect(first.startsWith(`proviso: the skills in ${bench.path(name)}`), first).toBe(true);
    if (typeof message === "string") expect(first).toContain(message);
    else expect(first).toMatch(message);
    expect(hint).toMatch(/^hint: ("skills" names an ES module|install it beside the module)/);
    expect(others).toEqual([]);
  }

  test.each<[string, string, string | RegExp]>([
    [
      "a skill without an id",
      given("id: undefined"),
      "skills[1].id: is missing; it must be 1 to 64 letters, ",
    ],
    [
      "a skill without a name",
      given('id: "b", name: undefined'),
      "skills[1].name: is missing; it must be a non-empty string",
    ],
    [
      "a skill without an operation",
      given('id: "b", operation: ""'),
      "skills[1].operation: must be the name of ",
    ],
    [
      "a skill without an input schema",
      given('id: "b", input: undefined'),
      "skills[1].input: is missing; it must be a ",
    ],
    [
      "a skill with an invalid input schema",
      given('id: "b", input: { type: "object", propertys: 1 }'),
      "skills[1].input: is not a valid JSON Schema: ",
    ],
    ["two skills with one id", given("tags: []"), 'skills[1].id: "a" is taken'],
    ["an import of a missing file", 'import "./absent.mjs";', "Cannot find module "],
    ["an import of a missing package", 'import "no-such-package";', "Cannot find package "],
    ["a string that it throws", 'throw "no index";', ": a value that is not an Error was thrown"],
    ["an error while it loads", '\nthrow new Error("no index");', /: no index \(at .*mjs:2:7\)$/],
  ])("because the module of skills has %s; the message names the module", (_, text, message) =>
    refusesSkills("run", text, message),
  );

  const MORE_BROKEN: readonly [string, string, RegExp][] = [
    [
      "a syntax error in an imported file",
      'import "./broken.mjs";',
      /: .*, in it or in a module that it imports$/,
    ],
    [
      "an import of a name that is not exported",
      '\nimport { b } from "./one.mjs";',
      /mjs:2: .* named 'b'$/,
    ],
  ];
  // The built command loads these modules, since Vitest would change the error messages.
  test.each<[string, string, RegExp]>([
    [
      "a syntax error",
      "const a = 1;\n\nexport default async () => {;",
      /mjs:3: Unexpected end of input$/,
    ],
    ...(FULL ? MORE_BROKEN : []),
  ])("because the module of skills has %s; the message names the module", (_, text, message) =>
    refusesSkills("spawned", text, message),
  );

  test("because a separate policy file or token file is invalid; the message names the field", async () => {
    bench.write("policy.json", JSON.stringify({ rules: [{ grant: "g", operation: "*" }] }));
    const policy = await refusal({ ...CONFIG, policy: "policy.json" });
    expect(policy.error["message"]).toContain(`${bench.folder}/policy.json: 3 things are wrong`);
    expect(policy.words).toContain(
      '  rules[0].operation: unknown property; did you mean "operations"?',
    );
    bench.write("tokens.json", JSON.stringify([{ token: "short", principal: "a", invoker: "b" }]));
    const tokens = await refusal({ ...CONFIG, ...development("tokens.json") });
    expect(tokens.words).toContain("  [0].token: must have at least 16 characters\n");
    expect(tokens.words).not.toContain("short");
  });

  function development(file: string): Document {
    return { authentication: { development: file } };
  }
});

test("serve refuses a missing configuration file, a folder in its place, an invalid port and an unknown host", async () => {
  mkdirSync(bench.path("folder"), { recursive: true });
  const runs = await Promise.all([
    bench.run(["serve", "nowhere.json"]),
    bench.run(["serve", "folder"]),
    bench.run(["serve", "agent.json", "--port", "70000"]),
    bench.run(["serve", "agent.json", "--host", "no.such.host.invalid"]),
  ]);
  expect(runs.map(({ status }) => status)).toEqual([6, 6, 2, 6]);
  expect(runs[0]?.stderr).toMatch(/^proviso: nowhere\.json: there is no such file\nhint: /);
  expect(runs[1]?.stderr).toContain("proviso: folder: it is a folder\n");
  expect(runs[2]?.stderr).toContain("Give a port from 0 to 65535");
  expect(runs[3]?.stderr).toContain("no.such.host.invalid is no address of this machine");
});

test("--home, --host and --port of serve override the configuration", async () => {
  const port = await freePort();
  const config = {
    ...CONFIG,
    protocols: ["a2a"],
    home: "nowhere",
    listen: { host: "0.0.0.0", port: 1 },
  };
  const flags = ["--home", bench.home, "--host", "127.0.0.1", "--port", String(port)];
  expect((await serve(bench, config, flags)).url).toBe(`http://127.0.0.1:${port}`);
  const { home, ...homeless } = CONFIG;
  expect((await serve(bench, homeless)).running.stderr).toContain(`home ${bench.home}\n`);
});

test.each(["agent", "session"])(
  "the schema of the %s configuration is a valid JSON Schema",
  (name) => {
    const file = new URL(`../../schemas/${name}-config.schema.json`, import.meta.url);
    const ajv = new Ajv2020({ strict: false });
    expect(ajv.validateSchema(JSON.parse(readFileSync(file, "utf8")))).toBe(true);
    expect(ajv.validateSchema({ type: "strin" })).toBe(false);
  },
);

test("the schema of the agent configuration describes every property", () => {
  const schema = new URL("../../schemas/agent-config.schema.json", import.meta.url);
  const { properties } = JSON.parse(readFileSync(schema, "utf8"));
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(CONFIG)));
  for (const [name, property] of Object.entries<Document>(properties)) {
    if (name !== "$schema") expect(property["description"], name).toMatch(/\.$/);
  }
});

test("serve accepts database tables as resources", async () => {
  const { default: Database } = await import("libsql");
  const database = new Database(bench.path("notes.db"));
  database.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, year INTEGER)");
  database.exec("INSERT INTO note VALUES (1, 'Milk', 2024), (2, 'Oats', 2025)");
  database.close();
  const notes = { table: "note", name: "id", displayName: "title", fields: { year: "year" } };
  const resources = { database: "notes.db", collections: { notes } };
  const { rpc } = await serve(bench, { ...CONFIG, resources });
  const filter = { year: { min: 2025 } };
  const { body } = await rpc("a2a/capabilities/request", {
    grants: ["notes:read"],
    purpose: "p",
    resourceQuery: { collection: "notes", filter },
  });
  expect(body).toMatchObject({
    result: { capabilities: [{ resourceHandles: [{ displayName: "Oats" }] }] },
  });
});
