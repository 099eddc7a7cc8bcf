import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startConsole, type TestConsole } from "./support.js";
import { formIn, words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console.close());

const KEY = { kty: "OKP", crv: "Ed25519", x: "a" };
const LIMITS = { amount: { max: 5000 }, currency: { in: ["EUR", "USD"] } };

describe("a request with a code", () => {
  test("is found by its code, and approved with limits that the user adds", async () => {
    const asked = await console.ask({
      constraints: LIMITS,
      purpose: "Pay an invoice",
      bindingMessage: "BLUE-HERON-42",
    });
    const alice = await console.signedIn("alice");
    const code = asked.userCode.toLowerCase().replace("-", " ");
    const page = await alice.post("/device", { user_code: code }, "/device");
    expect(page.status).toBe(200);
    expect(page.path).toBe(`/approvals/requests/${asked.approval.id}`);
    const shown = words(page.text);
    expect(shown).toMatch(
      /^A request to approve It is not known who asks This host is not linked to a user: anyone can have sent this request\./,
    );
    expect(shown).toContain("Compare: the agent shows you the message BLUE-HERON-42.");
    expect(shown).toContain("Agent Payments helper of the host Desk assistant asks:");
    expect(shown).toContain("To change data transfer_funds: Transfers money");
    expect(shown).toContain('Limits: amount at most 5000; currency only "EUR", "USD"');
    expect(shown).toContain("Why, in its own words: Pay an invoice");
    expect(shown).toContain("For 1 h");
    expect(shown).toContain("If you approve, the host is linked to you");

    const path = page.path.replace("/approvals", "");
    const limits = { "g-0-0-max": "1000", "g-0-2-in": "acc_northwind", lifetime: "15" };
    const left = await alice.post(path, { answer: "check", ...limits }, path);
    expect(left.status).toBe(200);
    const result = words(left.text);
    expect(result).toContain("With your limits, this is left");
    expect(result).toContain("amount at most 1000");
    expect(result).toContain('to exactly "acc_northwind"');
    expect(result).toContain("Nothing is decided yet.");
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");

    const done = await alice.post(path, { answer: "approve", ...limits }, path);
    expect(done.status).toBe(200);
    expect(words(done.text)).toContain("You approved");
    expect(words(done.text)).toContain("amount at most 1000");
    const [grant] = await console.parties.grantsOf(asked.agent);
    expect(grant?.status).toBe("active");
    const own = grant?.hops.find(({ by }) => by === "approver");
    expect(own?.who).toBe("alice");
    expect(own?.hop.constraints).toEqual({ amount: { max: 1000 }, to: "acc_northwind" });
    const ends = Date.parse(own?.hop.expires ?? "") - console.now();
    expect(ends).toBeGreaterThan(14 * 60 * 1000);
    expect(ends).toBeLessThanOrEqual(15 * 60 * 1000);
  });

  test("is denied with a reason even if the form has an invalid limit", async () => {
    const asked = await console.ask();
    const alice = await console.signedIn("alice");
    const { path } = await alice.post("/device", { user_code: asked.userCode }, "/device");
    const at = path.replace("/approvals", "");
    const fields = { answer: "deny", reason: "Not today", "g-0-0-max": "many" };
    const done = await alice.post(at, fields, at);
    expect(words(done.text)).toContain("Denied You denied");
    expect(words(done.text)).toContain("Reason: Not today");
    const [grant] = await console.parties.grantsOf(asked.agent);
    expect(grant).toMatchObject({ status: "denied", reason: "Not today" });
  });
});

describe("a request in the user's list", () => {
  test("is listed as waiting, can be approved in part, and is then in the history", async () => {
    const asked = await console.askInList("bob", {
      capabilities: ["transfer_funds", "read_balance"],
      purpose: "Both, please",
    });
    const bob = await console.signedIn("bob");
    const list = await bob.get();
    expect(words(list.text)).toContain("transfer_funds, read_balance");
    const at = `/requests/${asked.approval.id}`;
    const page = await bob.get(at);
    expect(words(page.text)).not.toContain("not known");
    expect(words(page.text)).toMatch(
      /To change data transfer_funds: .* Only to read read_balance: /,
    );
    // Browsers do not send unchecked boxes.
    const done = await bob.post(at, { answer: "approve", "g-0-granted": [] }, at);
    expect(words(done.text)).toContain("transfer_funds: denied.");
    expect(words(done.text)).toContain("read_balance: as it was asked for.");
    const grants = await console.parties.grantsOf(asked.agent);
    const states = Object.fromEntries(grants.map(({ capability, status }) => [capability, status]));
    expect(states).toEqual({ transfer_funds: "denied", read_balance: "active" });
    expect(words((await bob.get()).text)).toContain("Nothing waits for you.");
    expect(words((await bob.get("/history")).text)).toContain("transfer_funds, read_balance");
    const again = await console.parties.requestGrants(asked.agent, {
      capabilities: [{ name: "transfer_funds" }],
      method: "backchannel",
    });
    if (!again.ok || again.approval === undefined) throw new Error("nothing waits");
    const second = words((await bob.get(`/requests/${again.approval.id}`)).text);
    expect(second).toMatch(/What this host was given before \(1\) Payments helper .* read_balance/);
    expect(second).toContain("Earlier requests of this host (1)");
  });

  test("can be answered once; a second answer gets 409 and changes nothing", async () => {
    const asked = await console.askInList("bob");
    const [bob, again] = [await console.signedIn("bob"), await console.signedIn("bob")];
    const at = `/requests/${asked.approval.id}`;
    const before = await again.get(at);
    await bob.post(at, { answer: "approve" }, at);
    const form = formIn(before.text, new URL(`${console.url}${at}`));
    form.set("answer", "deny");
    const late = await again.submit(at, form);
    expect(late.status).toBe(409);
    expect(words(late.text)).toContain("Decided already");
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("used");
    expect(await console.recorded()).toContain("approval.refused approval_settled");
  });
});

describe("an answer that the console does not accept", () => {
  const wrong: readonly (readonly [string, Record<string, string | string[]>, RegExp])[] = [
    ["a limit that is not a number", { "g-0-0-max": "1,000" }, /"1,000" is not a number/],
    [
      "a limit beyond the request",
      { "g-0-0-max": "9000" },
      /9000 goes beyond what is asked for, at most 5000/,
    ],
    [
      "a minimum above the maximum in the request",
      { "g-0-0-min": "9000" },
      /9000 goes beyond what is asked for, at most 5000/,
    ],
    [
      "a list of values of which none is left",
      { "g-0-0-not": "5\n6", "g-0-0-in": "5" },
      /No value would be left/,
    ],
    ["no ticked choice", { "g-0-1-in": [] }, /Leave at least one of the values/],
    [
      "a lifetime longer than asked for",
      { lifetime: "3", unit: "hours" },
      /can only be made shorter/,
    ],
    ["an invalid lifetime", { lifetime: "soon" }, /whole number above 0/],
    ["no granted capability", { "g-0-granted": [] }, /Choose at least one/],
  ];
  test.each(wrong)("shows the form again with an error: %s", async (_, fields, message) => {
    const asked = await console.askInList("carol", { constraints: LIMITS });
    const carol = await console.signedIn("carol");
    const at = `/requests/${asked.approval.id}`;
    const page = await carol.post(at, { answer: "approve", ...fields }, at);
    expect(page.status).toBe(400);
    expect(page.text).toContain("<title>Error: ");
    expect(words(page.text)).toMatch(message);
    const [, field = ""] =
      /There is a problem<\/h2>\s*<ul><li><a href="#([^"]*)"/.exec(page.text) ?? [];
    expect(page.text).toMatch(new RegExp(`id="${field}"|name="${field}"`));
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
  });

  test("is refused if the form has an unknown field, which may be a limit that the user relies on", async () => {
    const asked = await console.askInList("carol");
    const carol = await console.signedIn("carol");
    const at = `/requests/${asked.approval.id}`;
    const page = await carol.post(at, { answer: "approve", "g-0-9-max": "1" }, at);
    expect(page.status).toBe(409);
    expect(words(page.text)).toContain("What you were shown has changed");
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
  });

  test("is refused if the request has changed since the user saw it", async () => {
    const asked = await console.askInList("carol");
    const carol = await console.signedIn("carol");
    const at = `/requests/${asked.approval.id}`;
    const page = await carol.post(at, { answer: "deny", digest: "A".repeat(43) }, at);
    expect(page.status).toBe(409);
    expect(words(page.text)).toContain("What you were shown has changed");
    expect(await console.recorded()).toContain("approval.refused digest_mismatch");
  });
});

describe("limits that the user enters", () => {
  test("for arguments outside the schema become constraints of the hop", async () => {
    const asked = await console.askInList("alice", { capabilities: ["read_balance"] });
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    const other = {
      "g-0-0-not": "acc_9\nacc_8",
      "g-0-other-0-name": "depth",
      "g-0-other-0-rule": "max",
      "g-0-other-0-values": "3",
      "g-0-other-1-name": "kind",
      "g-0-other-1-values": '5\n"5"\ntrue\nx',
    };
    await alice.post(at, { answer: "approve", ...other }, at);
    const [grant] = await console.parties.grantsOf(asked.agent);
    expect(grant?.hops.at(-1)?.hop.constraints).toEqual({
      account: { not_in: ["acc_8", "acc_9"] },
      depth: { max: 3 },
      kind: { in: ["5", "x", 5, true] },
    });
  });

  test("exclude a value whose checkbox the user clears", async () => {
    const asked = await console.askInList("alice");
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    await alice.post(at, { answer: "approve", "g-0-1-in": ["0", "2"], "g-0-3-in": "1" }, at);
    const [grant] = await console.parties.grantsOf(asked.agent);
    expect(grant?.hops.at(-1)?.hop.constraints).toEqual({
      currency: { in: ["EUR", "USD"] },
      urgent: false,
    });
  });
});

describe("a request without capabilities", () => {
  test("asks only to link the agent's host to the user, and activates the agent", async () => {
    const asked = await console.ask({ capabilities: [] });
    const bob = await console.signedIn("bob");
    const page = await bob.post("/device", { user_code: asked.userCode }, "/device");
    expect(words(page.text)).toContain("only to act for you");
    expect(page.text).not.toContain("Limit it");
    const at = page.path.replace("/approvals", "");
    await bob.post(at, { answer: "approve" }, at);
    expect((await console.parties.agent(asked.agent))?.status).toBe("active");
    expect((await console.parties.host(asked.host))?.principal).toBe("bob");
  });

  test("asks a user to take over an autonomous agent's host", async () => {
    const hosts = { hostKey: KEY, hostThumbprint: "alone", hostName: "Server" };
    const alone = await console.parties.register({
      ...hosts,
      agentKey: { ...KEY, x: "b" },
      agentThumbprint: "alone-agent",
      name: "Nightly",
      mode: "autonomous",
    });
    if (!alone.ok) throw new Error(alone.message);
    const by = { host: alone.host.id };
    const claimed = await console.parties.claim({ agent: alone.agent.id, by });
    if (!claimed.ok || claimed.approval === undefined) throw new Error("nothing waits");
    const carol = await console.signedIn("carol");
    const page = await carol.post("/device", { user_code: claimed.userCode ?? "" }, "/device");
    expect(words(page.text)).toContain("you take over an agent that acts on its own until now");
    const at = page.path.replace("/approvals", "");
    await carol.post(at, { answer: "approve" }, at);
    expect((await console.parties.agent(alone.agent.id))?.status).toBe("claimed");
    expect((await console.parties.hostsOf("carol")).map(({ id }) => id)).toContain(alone.host.id);
  });
});

describe("with two approvers", () => {
  test("the second approver sees the first approver's decision, and the second approval settles the request", async () => {
    const pair = await startConsole({
      settings: { approval: { approvers: ["alice", "bob"], needed: 2 } },
    });
    try {
      const asked = await pair.askInList("alice");
      const at = `/requests/${asked.approval.id}`;
      const [alice, bob] = [await pair.signedIn("alice"), await pair.signedIn("bob")];
      const first = await alice.post(at, { answer: "approve", "g-0-0-max": "50" }, at);
      expect(words(first.text)).toContain("Waiting for more approvals: 1 of 2");
      expect(first.text).not.toContain('value="approve"');
      const second = await bob.post(at, { answer: "approve", "g-0-0-max": "70" }, at);
      expect(words(second.text)).toContain("alice approved");
      expect(words(second.text)).toContain("You approved");
      const [grant] = await pair.parties.grantsOf(asked.agent);
      expect(grant?.status).toBe("active");
      expect(grant?.hops.map(({ who, hop }) => [who, hop.constraints])).toEqual([
        ["alice", { amount: { max: 50 } }],
        ["bob", { amount: { max: 70 } }],
      ]);
    } finally {
      await pair.close();
    }
  });
});
