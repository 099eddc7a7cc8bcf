import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApprovalSubject } from "../../src/agent/parties/records.js";
import type { Hop } from "../../src/caveats/hop.js";
import { startConsole, type TestConsole } from "./support.js";
import { words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console.close());

/** Creates a request for two operations in Alice's list. */
async function waits(request: string, hop?: Hop): Promise<{ id: string; path: string }> {
  const subject: ApprovalSubject = {
    kind: "capabilities",
    request,
    principal: "alice",
    lifetime: 3600,
    agent: { id: "assistant" },
    asked: [
      {
        grant: "payments:write",
        operations: ["balance", "transfer"],
        hops: hop === undefined ? [] : [{ by: "agent", hop }],
        description: "Transfer money",
      },
    ],
  };
  const opening = { subject, rule: {}, method: "backchannel", lifetime: 600 } as const;
  const opened = await console.parties.approvals.openAlone(opening, 10);
  if (!opened.ok) throw new Error(opened.denial.message);
  const { id } = opened.pending.approval;
  return { id, path: `/requests/${id}` };
}

const ASKED: Hop = {
  operationConstraints: {
    balance: { account: { path: "reports" } },
    transfer: { amount: { max: 50 }, bcc: { absent: true }, to: { each: { in: ["a", "b"] } } },
  },
  arguments: { transfer: ["amount", "currency", "to"] },
};

test("the page of a request counts the elements of an array", async () => {
  const transfer = { to: { items: { max: 1 } }, cc: { items: { min: 1, max: 2 } } };
  const { path } = await waits("elements", { operationConstraints: { transfer } });
  const alice = await console.signedIn("alice");
  const page = words((await alice.get(path)).text);
  expect(page).toContain("to of transfer at most 1 element;");
  expect(page).toContain("cc of transfer at least 1 element, at most 2 elements");
});

test("the page of a request shows the limits in words, and for each argument the limit of each operation", async () => {
  const { path } = await waits("words", ASKED);
  const alice = await console.signedIn("alice");
  const page = words((await alice.get(path)).text);
  expect(page).toContain("amount of transfer at most 50");
  expect(page).toContain("account of balance a path under reports");
  expect(page).toContain("bcc of transfer must be left out");
  expect(page).toContain("to of transfer each element only a, b");
  expect(page).toContain("Only arguments transfer: amount, currency, to");
  expect(page).toContain(
    "Argument amount How much, in the currency Asked for: balance: any value, transfer: at most 50.",
  );
  expect(page).toContain(
    "Argument urgent Asked for: balance: any value, transfer: must be left out.",
  );
});

test("a user's limit on an argument holds for each kept operation, even if the skill's schema lacks the argument", async () => {
  const { id, path } = await waits("narrow", ASKED);
  const alice = await console.signedIn("alice");
  await alice.get(path);
  const sent = { "g-0-granted": "yes", "g-0-keep": ["balance", "transfer"] };
  const wider = await alice.post(path, { answer: "check", ...sent, "g-0-0-max": "60" }, path);
  expect(words(wider.text)).toContain("60 goes beyond what is asked for");
  expect(words(wider.text)).toContain(
    "A limit also holds for these operations, whose calls may leave the argument out: balance.",
  );
  const limits = { ...sent, "g-0-0-max": "10" };
  const left = await alice.post(path, { answer: "check", ...limits }, path);
  expect(words(left.text)).toContain("amount of transfer at most 10");
  expect(words(left.text)).toContain("amount of balance at most 10, or left out");
  await alice.post(path, { answer: "approve", ...limits }, path);
  const approval = await console.parties.approvals.get(id);
  expect(approval?.state).toBe("approved");
  expect(approval?.decisions[0]?.hops).toEqual({
    0: {
      operationConstraints: {
        balance: { amount: { max: 10, optional: true } },
        transfer: { amount: { max: 10 } },
      },
    },
  });
  // The approval keeps the limits of the request, for the issuer's hop.
  expect(approval?.subject.asked[0]?.hops).toEqual([{ by: "agent", hop: ASKED }]);
});
