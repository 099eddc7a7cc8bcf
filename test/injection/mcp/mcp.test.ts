import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { runHere } from "../../cli/run.js";
import { type Attacks, attacksIn, type Folder } from "./attacks.js";
import { HTTP_ATTACKS } from "./http-attacks.js";
import { type Counts, McpWorld, type Mode } from "./world.js";

/** One world for each mode, so that the attacks in both modes can run at the same time. */
const worlds: Readonly<Record<Mode, McpWorld>> = { ambient: new McpWorld(), gated: new McpWorld() };
const results = new Map<string, Record<Mode, Counts>>();

const mint = async (
  world: McpWorld,
  file: string,
  operations: readonly string[],
  args: readonly string[],
) => {
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
  for (const world of Object.values(worlds)) {
    const env = { PROVISO_HOME: world.home };
    const made = await runHere(["init", "--issuer", "alice"], { env });
    expect(made).toMatchObject({ status: 0, stderr: expect.any(String) });
    const files = ["read_text_file", "list_directory", "write_file"];
    const limits = files.map((name) => `${name}:path under ${world.folder.reports}`);
    await mint(world, "files.token", files, limits);
    await mint(world, "poisoned.token", TOOLS, LIMITS);
    for (const file of ["alice.token", "eve.token"]) await mint(world, file, SLOW_TOOLS, LIMITS);
  }
});

const call = (name: string, given: object) => ({
  method: "tools/call",
  params: { name, arguments: given },
});

const workIn = (folder: Folder): readonly Attacks[] => [
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

const MODES = [
  { mode: "ambient" as const, result: "do harm without the gate" },
  { mode: "gated" as const, result: "do no harm behind the gate" },
];

describe.each(namesOf(attacksIn))("attacks by %s", (name) => {
  test.concurrent.each(MODES)(
    "$result",
    async ({ mode }) => {
      const counts = await worlds[mode].play(attacksOf(attacksIn, mode, name), mode);
      results.set(name, { ...EMPTY, ...results.get(name), [mode]: counts });
      expect(counts.tried).toBeGreaterThan(0);
      if (mode === "gated") expect(counts.succeeded).toBe(0);
      else expect(counts.succeeded).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe.each(HTTP_ATTACKS)("attacks by $name", (attacks) => {
  test.concurrent.each(MODES)(
    "$result",
    async ({ mode }) => {
      const counts = await worlds[mode].playHttp(attacks, mode);
      results.set(attacks.name, { ...EMPTY, ...results.get(attacks.name), [mode]: counts });
      expect(counts.tried).toBeGreaterThan(0);
      expect(counts.succeeded > 0).toBe(mode === "ambient");
    },
    60_000,
  );
});

function namesOf(listed: typeof attacksIn): readonly string[] {
  return listed(worlds.gated.folder).map(({ name }) => name);
}

/** Returns the attacks or calls with a name, in the folder of a mode's world. */
function attacksOf(listed: typeof attacksIn, mode: Mode, name: string): Attacks {
  const found = listed(worlds[mode].folder).find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`there are no attacks by ${name}`);
  return found;
}

const EMPTY = { ambient: { tried: 0, succeeded: 0 }, gated: { tried: 0, succeeded: 0 } };

describe.each(namesOf(workIn))(
  "calls that the task needs (%s) are answered and do no harm",
  (name) => {
    test.concurrent.each(["ambient", "gated"] as const)("in %s mode", async (mode) => {
      for (const { line, harm } of await worlds[mode].work(attacksOf(workIn, mode, name), mode)) {
        expect(harm).toBe(false);
        expect(JSON.parse(line)).toMatchObject({ result: {} });
        expect(JSON.parse(line).result.isError ?? false).toBe(false);
      }
    });
  },
);

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
