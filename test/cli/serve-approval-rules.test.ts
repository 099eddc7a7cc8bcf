import { beforeAll, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench, document } from "./run.js";
import { CONFIG, serve, TOKENS, writeAgent } from "./serving.js";

// A grant that needs an approval, from the configuration to the token. The tests use only commands.

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
  bench.write("access", TOKENS.alice);
});

const [grant, ...others] = CONFIG["grants"];
const config = {
  ...CONFIG,
  protocols: ["a2a", "approvals"],
  grants: [
    { ...grant, approval: { approvers: ["alice", "carol"], needed: 2, lifetime: "2h" } },
    ...others,
  ],
};

test("a request for a grant with an approval rule waits until both approvers have approved", async () => {
  const { running, url } = await serve(bench, config);
  const request = ["request", url, "--access-token", "@access"];
  const query = ["--grant", grant?.id ?? "", "--op", "read", "--collection", "notes"];
  const asked = await bench.run([...request, ...query, "--json"]);
  expect(asked).toMatchObject({ status: 9, stderr: "" });
  const { pending } = document(asked.stdout);
  expect(pending).toMatchObject({ verificationUri: `${url}/approvals` });
  const id: string = pending.approvalId;
  const { created, expires } = await bench.json("grants", "show", id);
  expect(Number(expires) - Number(created)).toBe(2 * 60 * 60 * 1000);
  const shown = await bench.output("grants", "show", id);
  expect(shown).toContain("decided by  2 of alice, carol");
  expect(await bench.output("grants", "approve", id, "--as", "carol")).toContain("pending");
  expect(await bench.run([...request, "--collect", id])).toMatchObject({ status: 9 });
  const hour = ["--expires", "1h", "--arg", "format=text"];
  await bench.output("grants", "approve", id, "--as", "alice", ...hour);
  const collected = await bench.run([...request, "--collect", id]);
  expect(collected.status).toBe(0);
  const token = collected.stdout.trim();
  const { authority } = inspect(token);
  expect(authority.constraints).toHaveProperty("format");
  await bench.output("grants", "revoke", id);
  bench.write("token", token);
  const verified = await bench.run([
    "verify",
    "@token",
    "--grant",
    grant?.id ?? "",
    "--op",
    "read",
  ]);
  expect(verified).toMatchObject({ status: 5 });
  running.stop();
  expect(await running.ended).toBe(0);
});

test.each([
  [{ needed: 2 }, "grants[0].approval.needed"],
  [{ approvers: [] }, "grants[0].approval.approvers"],
  [{ approver: "alice" }, "grants[0].approval"],
  [{ lifetime: 60 }, "grants[0].approval.lifetime"],
  [{ lifetime: "31d" }, "grants[0].approval.lifetime: must be 1 to 2592000 whole seconds"],
])("serve refuses the approval rule %j", async (approval, where) => {
  bench.write("wrong.json", JSON.stringify({ ...config, grants: [{ ...grant, approval }] }));
  const { status, stderr } = await bench.run(["serve", "wrong.json"]);
  expect(status).toBe(6);
  expect(stderr).toContain(where);
});
