import { afterAll, beforeAll, expect, test } from "vitest";
import { startConsole, type TestConsole } from "./support.js";
import { words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console.close());

test("a user who approves an agent of a host that another user has linked gets 409, and grants nothing", async () => {
  const { parties } = console;
  const first = await console.ask();
  const hostKey = (await parties.host(first.host))?.key ?? expect.fail("no host");
  const hostThumbprint = (await parties.host(first.host))?.thumbprint ?? "";
  const second = await parties.register({
    hostKey,
    hostThumbprint,
    name: "Second helper",
    mode: "delegated",
    agentKey: { kty: "OKP", crv: "Ed25519", x: "second" },
    agentThumbprint: "second",
    capabilities: [{ name: "read_balance" }],
  });
  if (!second.ok || second.approval === undefined) return expect.fail("nothing waits");

  const bob = await console.signedIn("bob");
  const { path } = await bob.post("/device", { user_code: second.userCode ?? "" }, "/device");
  const alice = await console.signedIn("alice");
  const own = await alice.post("/device", { user_code: first.userCode }, "/device");
  const at = own.path.replace("/approvals", "");
  expect((await alice.post(at, { answer: "approve" }, at)).status).toBe(200);

  const late = path.replace("/approvals", "");
  const answer = await bob.post(late, { answer: "approve" }, late);
  expect(answer.status).toBe(409);
  expect(words(answer.text)).toContain("This host has since been linked to another user");
  expect(await parties.agent(second.agent.id)).toMatchObject({ status: "pending" });
  expect(await parties.activeGrants("bob")).toEqual([]);
  expect(await console.recorded()).toContain("approval.refused host_taken");
});
