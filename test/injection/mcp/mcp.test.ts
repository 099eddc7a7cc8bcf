import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { runHere } from "../../cli/run.js";
import { type Attacks, attacksIn } from "./attacks.js";
import { HTTP_ATTACKS } from "./http-attacks.js";
import { type Counts, McpWorld, type Mode } from "./world.js";

const world = new McpWorld();
const { folder } = world;
const results = new Map<string, Record<Mode, Counts>>();

const mint = async (file: string, operations: readonly string[], args: readonly string[]) => {
  const ops = operations.flatMap((operation) => ["--op", operation]);
  const limits = args.flatMap((limit) => ["--arg", limit]);
  const closed = operations
    .filter((operation) => operation in NAMES)
    .flatMap((operation) => ["--only-args", `${operation}:${NAMES[operation]}`]);
  const made = await runHere(
    ["mint", "--grant", "mcp", ...ops, ...limits, ...closed, "--output", world.path(file)],
    { env: { PROVISO_HOME: world.home } },
  );
  expect(made).toMatchObject({ status: 0, stderr: expect.any(String) });
};
const NAMES: { readonly [operation: string]: string } = {
  read_text_file: "path",
  list_directory: "path",
  write_file: "path,content",
  send_mail: "to,body",
  fetch_url: "url",
  transfer: "to,amount",
  weather: "city",
  summarise: "text",
};

const TOOLS = ["send_mail", "fetch_url", "transfer", "weather", "summarise"];
const LIMITS = [
  "send_mail:to=alice@ours.example",
  "fetch_url:url at https://news.example/briefs",
  "transfer:to=acc_1",
  "transfer:amount<=50",
];
/** The tools for the attacks over HTTP, which also use tasks and questions to the user. */
const SLOW_TOOLS = [...TOOLS, "report", "client:elicitation"];

beforeAll(async () => {
  const made = await runHere(["init", "--issuer", "alice"], { env: { PROVISO_HOME: world.home } });
  expect(made).toMatchObject({ status: 0, stderr: expect.any(String) });
  const files = ["read_text_file", "list_directory", "write_file"];
  await mint(
    "files.token",
    files,
    files.map((name) => `${name}:path under ${folder.reports}`),
  );
  await mint("poisoned.token", TOOLS, LIMITS);
  for (const file of ["alice.token", "eve.token"]) await mint(file, SLOW_TOOLS, LIMITS);
});

const call = (name: string, given: object) => ({
  method: "tools/call",
  params: { name, arguments: given },
});

const WORK: readonly Attacks[] = [
  {
    name: "files",
    server: "files",
    sent: [
      call("read_text_file", { path: `${folder.reports}/q1.txt` }),
      call("list_directory", { path: folder.reports }),
      call("write_file", { path: `${folder.reports}/sum.txt`, content: "flat" }),
    ],
  },
  {
    name: "mail and pages",
    server: "poisoned",
    sent: [
      call("send_mail", { to: "alice@ours.example", body: "flat" }),
      call("fetch_url", { url: "https://news.example/briefs/1" }),
      call("weather", { city: "Oslo" }),
    ],
  },
];

describe.each(attacksIn(folder))("attacks by $name", (attacks) => {
  test.each([
    { mode: "ambient" as const, result: "do harm without the gate" },
    { mode: "gated" as const, result: "do no harm behind the gate" },
  ])(
    "$result",
    async ({ mode }) => {
      const counts = await world.play(attacks, mode);
      results.set(attacks.name, { ...EMPTY, ...results.get(attacks.name), [mode]: counts });
      expect(counts.tried).toBeGreaterThan(0);
      if (mode === "gated") expect(counts.succeeded).toBe(0);
      else expect(counts.succeeded).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe.each(HTTP_ATTACKS)("attacks by $name", (attacks) => {
  test.each([
    { mode: "ambient" as const, result: "do harm without the gate" },
    { mode: "gated" as const, result: "do no harm behind the gate" },
  ])(
    "$result",
    async ({ mode }) => {
      const counts = await world.playHttp(attacks, mode);
      results.set(attacks.name, { ...EMPTY, ...results.get(attacks.name), [mode]: counts });
      expect(counts.tried).toBeGreaterThan(0);
      expect(counts.succeeded > 0).toBe(mode === "ambient");
    },
    60_000,
  );
});

const EMPTY = { ambient: { tried: 0, succeeded: 0 }, gated: { tried: 0, succeeded: 0 } };

describe.each(WORK)("calls that the task needs ($name) are answered and do no harm", (work) => {
  test.each(["ambient", "gated"] as const)("in %s mode", async (mode) => {
    for (const { line, harm } of await world.work(work, mode)) {
      expect(harm).toBe(false);
      expect(JSON.parse(line)).toMatchObject({ result: {} });
      expect(JSON.parse(line).result.isError ?? false).toBe(false);
    }
  });
});

test("docs/injection.md has the figures of the attacks on MCP servers", () => {
  const rows = [...results].map(
    ([name, { ambient, gated }]) =>
      `| ${name} | ${ambient.succeeded} of ${ambient.tried} | ${gated.succeeded} of ${gated.tried} |`,
  );
  const table = [
    "| what is tried | without the gate | gated |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
  mkdirSync("reports", { recursive: true });
  writeFileSync("reports/injection-mcp.json", JSON.stringify({ mcp: table }));
  if (process.env["PROVISO_INJECTION_WRITE"] === "1") return;
  const found = /<!-- mcp -->\n([\s\S]*?)\n<!-- \/mcp -->/.exec(
    readFileSync("docs/injection.md", "utf8"),
  );
  expect(found?.[1], "make it anew: npm run injection -- --write").toBe(table);
});
