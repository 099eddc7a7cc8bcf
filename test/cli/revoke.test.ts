import { join } from "node:path";
import Database from "libsql";
import { beforeAll, describe, expect, test } from "vitest";
import { bindDischarges, revocationId } from "../../src/index.js";
import { answering, needing } from "../capability/made.js";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";

const bench = new Bench();
beforeAll(() => bench.init());

const OP = ["--grant", "documents:read", "--op", "retrieve"];
const mint = (...args: string[]): Promise<string> => bench.output("mint", ...OP, ...args);
const narrow = (token: string): Promise<string> =>
  bench.output("attenuate", token, "--op", "retrieve");

/** Verifies each token, and returns the exit codes. */
async function verified(...tokens: readonly string[]): Promise<(number | null)[]> {
  const runs = await Promise.all(tokens.map((token) => bench.run(["verify", token, ...OP])));
  return runs.map(({ status }) => status);
}

test("revoke revokes a token and its descendants, but not its parent and siblings", async () => {
  const parent = await mint();
  const [first, second] = await Promise.all([narrow(parent), narrow(parent)]);
  const below = await narrow(first);
  bench.write("first", first);
  const revoked = await bench.json("revoke", "@first", "--reason", "task done");
  expect(revoked).toMatchObject({
    status: 0,
    already: false,
    revoked: { kind: "link", id: revocationId(first), reason: "task done" },
    effect: "this token and everything narrowed from it; its parent and its siblings live on",
  });
  expect(await verified(parent, second, first, below)).toEqual([0, 0, 5, 5]);
  const { stdout } = await bench.run(["verify", below, ...OP]);
  expect(stdout).toContain("link 2 and all that descends from it is revoked");
  expect(stdout).not.toContain("task done");

  const again = await bench.run(["revoke"], { input: first });
  expect(again).toMatchObject({ status: 0, stderr: "" });
  expect(again.stdout).toBe(
    `already revoked ${revocationId(first)}: this token and everything narrowed from it; ` +
      "its parent and its siblings live on\n",
  );
});

test("revoking the first token of a capability revokes the whole capability", async () => {
  const parent = await mint();
  const child = await narrow(parent);
  const { stdout } = await bench.run(["revoke", parent]);
  expect(stdout).toMatch(/^revoked rv_\S+: the whole capability cap_\S+, with everything/);
  expect(await verified(parent, child)).toEqual([5, 5]);
});

test("revoke revokes the token itself even if its discharge is already revoked", async () => {
  const token = needing(await mint(), "q1");
  const dead = answering("q1", '{"purpose":"first"}');
  const [presented, another] = [dead, answering("q1", '{"purpose":"second"}')].map(
    ({ discharge }) => bindDischarges(token, [discharge]),
  );
  expect(await bench.json("revoke", "--id", dead.revocationId)).toMatchObject({ status: 0 });
  expect(await verified(presented ?? "", another ?? "")).toEqual([5, 0]);
  const revoked = await bench.run(["revoke", presented ?? ""]);
  expect(revoked).toMatchObject({ status: 0, stderr: "" });
  expect(revoked.stdout).toContain(`revoked ${revocationId(token)}: `);
  expect(revoked.stdout).not.toContain("already");
  expect(await verified(presented ?? "", another ?? "")).toEqual([5, 5]);
  const again = await bench.run(["revoke", another ?? ""]);
  expect(again.stdout).toContain(`already revoked ${revocationId(token)}: `);
});

test("revoke accepts a revocation id or a capability id", async () => {
  const [one, two] = await Promise.all([bench.json("mint", ...OP), bench.json("mint", ...OP)]);
  const child = await narrow(one["token"]);
  expect((await bench.run(["revoke", "--id", revocationId(child)])).status).toBe(0);
  expect(await verified(one["token"], child, two["token"])).toEqual([0, 5, 0]);
  expect((await bench.run(["revoke", "--capability", one["id"]])).status).toBe(0);
  expect(await verified(one["token"], two["token"])).toEqual([5, 0]);
});

test("revoke --principal revokes the tokens minted for the user so far, but none minted from the next second on", async () => {
  const [theirs, others] = await Promise.all([
    mint("--principal", "user_1"),
    mint("--principal", "user_2"),
  ]);
  const { revoked } = await bench.json("revoke", "--principal", "user_1");
  expect(revoked).toMatchObject({ kind: "principal", before: expect.stringMatching(/Z$/) });
  expect(Date.parse(revoked["before"])).toBeGreaterThan(Date.parse(revoked["at"]));
  expect(await verified(theirs, others)).toEqual([5, 0]);
  await new Promise((resolve) =>
    // A timer may be a millisecond early.
    setTimeout(resolve, Math.max(0, Date.parse(revoked["before"]) - Date.now()) + 5),
  );
  expect(await verified(await mint("--principal", "user_1"))).toEqual([0]);
});

test("revoke --key of the minting key says to rotate; mint is refused until keys rotate has run", async () => {
  const own = new Bench();
  await own.init();
  const token = await own.output("mint", ...OP);
  const { keys } = await own.json("keys", "list");
  const { kid } = keys[0];
  const revoked = await own.run(["revoke", "--key", kid]);
  expect(revoked.status).toBe(0);
  expect(revoked.stderr).toMatch(/^note: this is the key that mints; run proviso keys rotate/);
  expect((await own.run(["verify", token, ...OP])).status).toBe(5);
  const minted = await own.run(["mint", ...OP]);
  expect(minted).toMatchObject({ status: 5, stdout: "" });
  expect(minted.stderr).toContain("hint: proviso keys rotate makes a new one");
  await own.output("keys", "rotate");
  const fresh = await own.output("mint", ...OP);
  expect((await own.run(["verify", fresh, ...OP])).status).toBe(0);
  const { entries } = await own.json("revocations", "list");
  expect(entries).toEqual([{ kind: "key", id: kid, at: expect.any(String) }]);
});

describe("revoke refuses", () => {
  test.each<[readonly string[], number, RegExp]>([
    [["--id", "rv_1"], 2, /--id "rv_1" is not a revocation id\nhint: it is rv_ and 22 characters/],
    [["--capability", "cap_1"], 2, /--capability "cap_1" is not a capability's id/],
    [["--key", "key_1"], 2, /there is no key key_1\nhint: proviso keys list shows them/],
    [["--principal", "a", "--key", "b"], 2, /one thing at a time, not --principal and --key/],
    [["AgIB", "--principal", "a"], 2, /one thing at a time, not a token and --principal/],
    [[], 2, /name one: a token, --id, --capability, --principal or --key\nhint: /],
    [["-"], 3, /the token is empty/],
    [["AgIBYQ"], 3, /ends/],
    [[FOREIGN()], 3, /not a capability/],
  ])("%j", async (args, expected, message) => {
    const { status, stdout, stderr } = await bench.run(["revoke", ...args]);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: expected, stdout: "" });
  });

  function FOREIGN(): string {
    return "AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA";
  }

  test("a token that was altered", async () => {
    const token = await mint();
    const altered = `${token.slice(0, -6)}AAAAAA`;
    const { status, stderr } = await bench.run(["revoke", altered]);
    expect(status).toBe(4);
    expect(stderr).toContain("the signature does not match");
  });
});

if (FULL) {
  test("six processes that run revoke at once all succeed", async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, () => mint()));
    const runs = await Promise.all(tokens.map((token) => bench.spawned(["revoke", token])));
    expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      tokens.map(() => ({ status: 0, stderr: "" })),
    );
    expect(await verified(...tokens)).toEqual(tokens.map(() => 5));
  });
}

test("revocations list shows the entries; revocations prune removes expired entries", async () => {
  const own = new Bench();
  await own.init();
  expect(await own.output("revocations", "list")).toBe("Nothing is revoked.");
  const short = await own.output("mint", ...OP, "--expires", "10m");
  const long = await own.output("mint", ...OP);
  await own.output("revoke", short, "--reason", "line\nbreak\u001b");
  await own.output("revoke", long);
  const list = await own.output("revocations", "list");
  expect(list.split("\n")).toHaveLength(2);
  expect(list).toMatch(/^\S+Z {2}link {8}rv_\S+ {2}until \S+Z {2}"line\\nbreak\\u001b"\n/);
  const { entries, version } = await own.json("revocations", "list");
  expect([entries.length, version]).toEqual([2, 2]);
  const database = new Database(join(own.home, "proviso.db"));
  const until = Date.parse(entries[0].until) / 1000;
  database.exec(`UPDATE revocation SET until = until - 600 WHERE until = ${until}`);
  database.close();
  expect(await own.output("revocations", "prune")).toBe("1 entry removed");
  expect(await own.json("revocations", "prune")).toMatchObject({ removed: 0 });
  expect((await own.json("revocations", "list"))["entries"]).toMatchObject([
    { id: revocationId(long) },
  ]);
});
