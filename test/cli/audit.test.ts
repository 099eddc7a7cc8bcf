import { chmodSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate, inspect } from "../../src/index.js";
import { createStores, openLedger } from "../../src/stores/index.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import { ALICE, BOB, type RunningAgent, startAgent } from "./agent.js";
import { Bench, document, signatureForms } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
/** A token as it was issued to Alice, then narrowed once, then narrowed twice. */
let token = "";
let listing = "";
let brief = "";
let capability = "";
const started = new Date();

beforeAll(async () => {
  agent = await startAgent();
  const ask = ["request", agent.url, "--grant", "documents:read", "--collection", "reports"];
  token = (await as(ALICE, ...ask, "--purpose", "sum up the year")).stdout.trim();
  capability = inspect(token).capability?.id ?? "";
  await as(BOB, ...ask);
  listing = narrowed(token, { operations: ["list"], purpose: "only the list" });
  brief = narrowed(listing, { maxFurtherHops: 0 });
  for (const one of [token, listing, listing, brief])
    await as(ALICE, "invoke", agent.url, "list_documents", one);
  await as(ALICE, "invoke", agent.url, "delete_document", listing, "--arg", "document=x");
  await rpc("a2a/capabilities/revoke", { token: listing, reason: "task done" });
  await as(ALICE, "invoke", agent.url, "list_documents", brief);
  // The agent writes invocations to the ledger with a delay, and the command reads only what is written.
  await agent.ledger.flush();
});
afterAll(() => agent.stop());

const as = (who: string, ...args: readonly string[]): ReturnType<Bench["run"]> =>
  bench.run(args, { env: { PROVISO_ACCESS_TOKEN: who } });

function narrowed(from: string, hop: Parameters<typeof attenuate>[1]): string {
  const child = attenuate(from, hop);
  if (!child.ok) throw new Error("not narrowed");
  return child.token;
}

async function rpc(method: string, params: object): Promise<void> {
  const response = await fetch(agent.rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${ALICE}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  expect(await response.text()).toContain('"result"');
}

const audit = (...args: readonly string[]): Promise<string> =>
  bench.output("audit", "--database", agent.ledgerPath, ...args);
const tree = (...args: readonly string[]): Promise<string> =>
  bench.output("audit", "tree", capability, "--database", agent.ledgerPath, ...args);
const rv = (of: string): string => inspect(of).revocationId;

test("audit prints one line for each decision, with the time, the outcome, the principal and the purpose", async () => {
  const text = await audit();
  const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
  const who = "alice via assistant";
  const invoked = `invocation    ${who}  list_documents \\(list\\)  ${capability}`;
  const expected = [
    `allowed  issuance      ${who}  ${capability}  documents:read  3 handles  "sum up the year"`,
    "refused  issuance      bob via assistant  nothing_left",
    `allowed  ${invoked}  "sum up the year"`,
    ...Array(3).fill(`allowed  ${invoked}  "only the list"`),
    `refused  invocation    ${who}  delete_document \\(delete\\)  ${capability}  .*operation_denied.*`,
    `allowed  revocation    ${who}  ${rv(listing)}  ${capability}  "task done"`,
    `refused  ${invoked}  revoked.*`,
  ];
  const lines = text.split("\n");
  expect(lines).toHaveLength(expected.length);
  for (const [at, line] of lines.entries()) {
    expect(line).toMatch(new RegExp(`^${time}  ${expected[at]}$`));
  }
  for (const form of [token, listing].flatMap(signatureForms)) expect(text).not.toContain(form);
});

test("audit filters by principal, capability, kind, time and outcome", async () => {
  const count = async (...args: readonly string[]): Promise<number> =>
    (await audit(...args)).split("\n").length;
  expect(await count("--principal", "alice")).toBe(8);
  expect(await count("--capability", capability, "--refused")).toBe(2);
  expect(await count("--kind", "issuance")).toBe(2);
  expect(await count("--kind", "revocation")).toBe(1);
  expect(await count("--since", started.toISOString())).toBe(9);
  expect(await count("--since", "1h")).toBe(9);
  expect(await audit("--since", new Date(Date.now() + 60_000).toISOString())).toBe(
    "Nothing matches.",
  );
  expect(await audit("--since", "0s", "--principal", "mallory")).toBe("Nothing matches.");
});

test("audit list prints the same as audit, with options before or after the verb", async () => {
  const at = ["--database", agent.ledgerPath, "--refused"];
  const [bare, before, behind] = await Promise.all([
    bench.output("audit", ...at),
    bench.output("audit", ...at, "list"),
    bench.output("audit", "list", ...at),
  ]);
  expect(bare).toContain("refused");
  expect([before, behind]).toEqual([bare, bare]);
});

test("audit --limit 2 prints the latest 2 events, and a note that there are more", async () => {
  const args = ["audit", "--database", agent.ledgerPath, "--limit", "2"];
  const { stdout, stderr } = await bench.run(args);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/)[2])).toEqual([
    "revocation",
    "invocation",
    undefined,
  ]);
  expect(stderr).toBe("note: only the latest 2 are listed; --limit asks for more\n");
  const all = await bench.run(["audit", "--database", agent.ledgerPath, "--limit", "9"]);
  expect(all.stderr).toBe("");
});

test("audit --json prints the events as one JSON document", async () => {
  const { stdout, stderr } = await bench.run([
    "audit",
    "--database",
    agent.ledgerPath,
    "--limit",
    "1",
    "--json",
  ]);
  expect(stderr).toBe("");
  expect(document(stdout)).toMatchObject({
    events: [
      {
        kind: "invocation",
        decision: "refused",
        capability,
        skill: "list_documents",
        codes: expect.arrayContaining(["revoked"]),
        path: [
          { revocationId: rv(token) },
          { revocationId: rv(listing) },
          { revocationId: rv(brief) },
        ],
      },
    ],
    more: true,
    gaps: [],
  });
});

describe("audit tree", () => {
  test("shows the restrictions, the invokers and the outcomes of every hop", async () => {
    const text = (await tree())
      .replaceAll(/\d{4}-\S+Z/g, "T")
      .replaceAll(/\(in \d+ min\)/g, "(in)");
    expect(text.split("\n")).toEqual([
      capability,
      "  issued     T to alice via assistant",
      "  grant      documents:read",
      '  purpose    "sum up the year"',
      "  resources  3 handles",
      `└─ hop 1  ${rv(token)}  the issuer's`,
      "   │  operations   fail, list, retrieve",
      "   │  resources    3 handles",
      "   │  expires      T (in)",
      '   │  purpose      "sum up the year"',
      "   │  invocations  1 allowed",
      "   │  by           assistant",
      "   │  seen         T to T",
      `   └─ hop 2  ${rv(listing)}`,
      "      │  operations   list",
      '      │  purpose      "only the list"',
      expect.stringMatching(
        /^ {6}│ {2}invocations {2}2 allowed, 1 refused: grant_denied, operation_denied/,
      ),
      "      │  by           assistant",
      "      │  seen         T to T",
      '      │  revoked      T by alice via assistant: "task done"',
      `      └─ hop 3  ${rv(brief)}`,
      "            further hops  none",
      expect.stringMatching(/^ {12}invocations {3}1 allowed, 1 refused: revoked/),
      "            by            assistant",
      "            seen          T to T",
    ]);
  });

  test("with --json prints the tree as data", async () => {
    expect(document(`${await tree("--json")}\n`)).toMatchObject({
      capability,
      issuance: { kind: "issuance", purpose: "sum up the year" },
      tree: {
        revocationId: rv(token),
        allowed: 1,
        refused: 0,
        children: [
          {
            revocationId: rv(listing),
            allowed: 2,
            refused: 1,
            invokers: ["assistant"],
            hop: { operations: ["list"], purpose: "only the list" },
            children: [{ revocationId: rv(brief), allowed: 1, refused: 1, children: [] }],
          },
        ],
      },
      revocations: [{ kind: "revocation", purpose: "task done" }],
    });
  });

  test("shows a capability that nobody has used, before and after its revocation", async () => {
    const ask = ["request", agent.url, "--grant", "documents:read", "--collection", "notes"];
    const unused = (await as(ALICE, ...ask)).stdout.trim();
    const { capability: other } = inspect(unused);
    const args = ["audit", "tree", other?.id ?? "", "--database", agent.ledgerPath];
    expect(await bench.output(...args)).toMatch(/\n {2}no invocation has shown it yet$/);
    await rpc("a2a/capabilities/revoke", { token: unused });
    expect(await bench.output(...args)).toMatch(
      new RegExp(
        `\\nrevoked {2}${rv(unused)}, which no invocation has shown: .* by alice via assistant$`,
      ),
    );
  });

  test.each<[string, () => string, RegExp]>([
    [
      "a misspelt id",
      () => `${capability.slice(0, -1)}~`.replace("~", capability.endsWith("x") ? "y" : "x"),
      /has nothing about cap_\S+\nhint: did you mean cap_/,
    ],
    [
      "an unknown id",
      () => "cap_AAAAAAAAAAAAAAAA",
      /hint: proviso audit --kind issuance lists the/,
    ],
    ["a token", () => token, /is not the id of a capability\nhint: it starts with cap_/],
    ["an empty string", () => "", /is not the id of a capability/],
  ])("refuses an argument that names no known capability: %s", async (_what, id, message) => {
    const run = await bench.run(["audit", "tree", id(), "--database", agent.ledgerPath]);
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toContain(token.slice(0, 41));
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status: 2, stdout: "" });
  });
});

describe("audit", () => {
  test("reads the home's ledger by default, and exits with 6 if there is no database", async () => {
    const missing = await bench.run(["audit"]);
    expect(missing.status).toBe(6);
    expect(missing.stderr).toBe(
      `proviso: ${bench.home}/proviso.db: there is no database here\n` +
        "hint: name its home with --home, check the path, or restore a lost database from a backup\n",
    );
    await bench.init();
    const { stdout, stderr } = await bench.run(["audit"]);
    expect(stdout).toBe("The ledger is empty.\n");
    expect(stderr).toBe(
      "note: agents, services and gates record what they decide; proviso mint, verify and revoke record nothing\n",
    );
  });

  test("refuses a file that is not a database", async () => {
    const path = bench.write("no-ledger", "x".repeat(4096));
    chmodSync(path, 0o600);
    const { status, stderr } = await bench.run(["audit", "--database", path]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/this is not a .+, or it is damaged/);
  });

  test("lists events of hosts, grants and approvals", async () => {
    const path = bench.path("registry.db");
    const database = await createStores(path);
    await openParties(database).change(async (draft) => {
      const event = { at: "2030-01-01T00:00:00.000Z", principal: "alice" } as const;
      const [allowed, refused] = [{ decision: "allowed" }, { decision: "refused" }] as const;
      const [about, by] = [{ grant: "payments:write" }, { invoker: "payer" }];
      const record = "ag\u202e1";
      draft.note({ ...event, ...allowed, kind: "registration", change: "host.activated" });
      draft.note({
        ...event,
        ...allowed,
        ...by,
        kind: "registration",
        change: "grant.revoked",
        record,
        ...about,
      });
      draft.note({
        ...event,
        ...refused,
        kind: "approval",
        change: "approval.denied",
        codes: ["denied"],
      });
    });
    await database.close();
    const args = ["audit", "--database", path];
    const start = "2030-01-01T00:00:00.000Z  ";
    expect((await bench.output(...args)).split("\n")).toEqual([
      `${start}allowed  registration  alice  host.activated`,
      `${start}allowed  registration  alice via payer  grant.revoked  ag\\u{202e}1  payments:write`,
      `${start}refused  approval      alice  approval.denied  denied`,
    ]);
    expect((await bench.output(...args, "--kind", "approval")).split("\n")).toHaveLength(1);
  });

  test('names "a holder of the token" if the event has no principal', async () => {
    const path = bench.path("holder.db");
    const database = await createStores(path);
    const ledger = openLedger(database);
    const at = "2030-01-01T00:00:00.000Z";
    ledger.note({ kind: "invocation", at, decision: "allowed", capability: "cap_1", path: [] });
    await ledger.close();
    await database.close();
    const { stdout } = await bench.run(["audit", "--database", path]);
    expect(stdout).toContain("invocation    a holder of the token  cap_1");
  });

  test("prints a note about a gap in the ledger, with the number of missing events", async () => {
    const path = bench.path("gap.db");
    const database = await createStores(path);
    const ledger = openLedger(database, { capacity: 1, interval: 60_000 });
    const event = {
      kind: "invocation",
      at: "2030-01-01T00:00:00.000Z",
      decision: "allowed",
    } as const;
    for (let i = 0; i < 3; i++) ledger.note(event);
    await ledger.close();
    await database.close();
    const { stdout, stderr } = await bench.run(["audit", "--database", path]);
    expect(stdout).toBe("2030-01-01T00:00:00.000Z  allowed  invocation    an unknown caller\n");
    expect(stderr).toMatch(
      /^note: 2 events could not be written between \S+ and \S+, and are missing/,
    );
  });
});

test.each<[readonly string[], RegExp]>([
  [
    ["--kind", "other"],
    /Allowed choices are issuance, invocation, revocation, approval, registration/,
  ],
  [["--limit", "0"], /Give a whole number from 1 to 1000000/],
  [["--since", "yesterday"], /neither a duration nor a time/],
  [["--capability", "cap"], /is not the id of a capability/],
  [["trees"], /audit takes no argument, and one is given/],
  [
    ["tree", "cap_a", "--since", "1h"],
    /--since is for the list, not for the tree\nhint: proviso audit tree --help/,
  ],
])("a wrong audit command is a usage error: %j", async (args, message) => {
  const { status, stdout, stderr } = await bench.run(["audit", ...args]);
  expect(stderr).toMatch(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});
