import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { ALICE, decideAll, type RunningAgent, startAgent, UNSAFE } from "./agent.js";
import { Bench, document, type Run, runHere, TOKEN } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent({ payments: true });
  bench.write("access", ALICE);
});
afterAll(() => agent.stop());

const words = (...args: readonly string[]): readonly string[] => [
  "request",
  agent.url,
  "--access-token",
  "@access",
  ...args,
];
const request = (...args: readonly string[]): Promise<Run> => bench.run(words(...args));
const PAYMENTS = ["--grant", "payments:transfer", "--purpose", "pay the rent"];

/** Requests capabilities, and returns the pending approval. */
async function pending(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await request(...PAYMENTS, "--json", ...args);
  expect({ status, stderr }).toEqual({ status: 9, stderr: "" });
  return document(stdout)["pending"].approvalId;
}

describe.each(["jsonrpc", "rest"])("request over %s", (binding) => {
  test("reports a capability that waits for approval, and collects that capability later", async () => {
    const { status, stdout, stderr } = await request(...PAYMENTS, "--binding", binding);
    expect({ status, stdout }).toEqual({ status: 9, stdout: "" });
    expect(stderr).toMatch(/^documents-agent grants this once people have approved it\n/);
    expect(stderr).toMatch(/^ {2}waits {5}payments:transfer: transfer$/m);
    expect(stderr).toMatch(/^ {2}until {5}\S+Z \(in 24 h\)$/m);
    const [, id = ""] = /--collect (approval_\S+)\n$/.exec(stderr) ?? [];
    const early = await request("--collect", id, "--binding", binding);
    expect(early).toMatchObject({ status: 9, stdout: "" });
    await decideAll(agent, "approve", { constraints: { amount: { max: 1000 } } });
    const late = await request("--collect", id, "--binding", binding);
    expect(late).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\S+\n$/) });
    expect(late.stderr).toMatch(/^ {2}argument +amount <= 1000$|amount <= 1000/m);
    expect(inspect(late.stdout.trim()).grant).toBe("payments:transfer");
  });
});

test("request --wait waits for the approvers' decision, and prints the token", async () => {
  let asked = "";
  const { status, stdout, stderr } = await runHere(words(...PAYMENTS, "--wait"), {
    cwd: bench.folder,
    env: {},
    onWrite: (stream, text) => {
      if (stream === "stderr") asked += text;
      if (asked.includes("approval ")) void decideAll(agent, "approve");
    },
  });
  expect(status).toBe(0);
  expect(stdout.trim()).toMatch(TOKEN);
  expect(stderr).toContain("documents-agent granted a capability");
});

test("request prints at once a token that needs no approval, and reports a capability that waits for approval", async () => {
  const both = ["--grant", "documents:read", "--collection", "reports"];
  const { status, stdout, stderr } = await request(...PAYMENTS, ...both);
  expect(status).toBe(9);
  expect(inspect(stdout.trim()).grant).toBe("documents:read");
  expect(stderr).toContain("documents-agent granted a capability");
  expect(stderr).toContain("hint: not decided yet");
});

test("request --collect prints the approver's reason for a denial", async () => {
  const id = await pending();
  await decideAll(agent, "deny");
  const { status, stdout, stderr } = await request("--collect", id);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("not before Friday");
  expect(stderr).not.toMatch(UNSAFE);
});

test("request --wait, if interrupted, says how to collect the capability later", async () => {
  const stopping = new AbortController();
  const { status, stderr } = await runHere(words(...PAYMENTS, "--wait"), {
    cwd: bench.folder,
    env: {},
    stop: stopping.signal,
    onWrite: (_stream, text) => {
      if (text.includes("approval ")) stopping.abort();
    },
  });
  expect(status).toBe(9);
  expect(stderr).toContain("hint: not decided yet; collect it later: proviso request ");
});

test.each<[readonly string[], number, string]>([
  [[], 2, "required option '--grant <grant>' not specified"],
  [["--collect", "approval_x", "--grant", "documents:read"], 2, "--collect takes no other option"],
  [["--collect", "approval_x", "--op", "transfer"], 2, "--collect takes no other option"],
  [["--collect", "approval_x"], 1, "asked for nothing"],
])("request refuses the options %j", async (args, status, message) => {
  const answer = await request(...args);
  expect(answer).toMatchObject({ status, stdout: "" });
  expect(answer.stderr).toContain(message);
});
