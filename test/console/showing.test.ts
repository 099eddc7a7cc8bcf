import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startConsole, type TestConsole } from "./support.js";
import { words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole({
    settings: {
      defaults: ["read_balance"],
      lifetimes: { approval: 300, grant: 86_400 },
      constraints: { transfer_funds: { currency: { in: ["EUR", "USD"] }, region: "north" } },
    },
  });
});

afterAll(() => console.close());

const stranger = (text: string): string => `<span class="untrusted">“<bdi>${text}</bdi>”</span>`;

describe("strings are marked by their origin", () => {
  test("strings of the agent are quoted and marked as untrusted; strings of the server and the user are not", async () => {
    const limits = { amount: { max: 5000 }, "approved by the bank": "yes", to: "acc_1" };
    const asked = await console.askInList("alice", { constraints: limits, purpose: "Rent" });
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    const { text } = await alice.get(at);
    for (const own of ["Payments helper", "Desk assistant", "Rent", "approved by the bank"]) {
      expect(text).toContain(stranger(own));
      expect(text).not.toContain(`<bdi>${own}</bdi></b>`);
    }
    // Values from the agent are marked as untrusted. The names of arguments come from the skill, so they are
    // not.
    expect(text).toContain(stranger("yes"));
    expect(text).toContain(stranger("acc_1"));
    for (const ours of [
      "transfer_funds",
      "amount",
      "region",
      "currency",
      "alice",
      "payments:write",
    ]) {
      expect(text).toContain(`<bdi>${ours}</bdi>`);
      expect(text).not.toContain(stranger(ours));
    }
    expect(text).toContain("<bdi>Transfers money from one of your accounts to a payee.</bdi>");
    expect(text).toContain('<b class="value"><bdi>&quot;EUR&quot;</bdi></b>');
    const left = await alice.post(at, { answer: "check", "g-0-2-in": "acc_1" }, at);
    expect(left.text).toContain('<b class="value"><bdi>&quot;acc_1&quot;</bdi></b>');
    const denied = await alice.post(at, { answer: "deny", reason: "Not today" }, at);
    expect(denied.text).toContain("Reason: <bdi>Not today</bdi>");
  });

  test("a value that the server's limits allow is not marked as untrusted; a value that they do not allow is marked", async () => {
    const limits = { currency: { in: ["EUR", "EURO"] } };
    const asked = await console.askInList("alice", { constraints: limits });
    const alice = await console.signedIn("alice");
    const { text } = await alice.get(`/requests/${asked.approval.id}`);
    expect(text).toContain(stranger("EURO"));
    expect(text).not.toContain(stranger("EUR"));
  });

  test("a right-to-left override is escaped even in the user's own strings", async () => {
    const asked = await console.askInList("bob");
    const bob = await console.signedIn("bob");
    const at = `/requests/${asked.approval.id}`;
    const page = await bob.post(at, { answer: "deny", reason: "a\u202eb" }, at);
    expect(page.text).toContain('a<span class="escape">\\u{202e}</span>b');
  });
});

test("the page of a request shows the agent's limits and the server's limits under separate headings", async () => {
  const asked = await console.askInList("alice", { constraints: { amount: { max: 5000 } } });
  const alice = await console.signedIn("alice");
  const page = words((await alice.get(`/requests/${asked.approval.id}`)).text);
  expect(page).toMatch(/Limits that the agent sets itself amount at most 5000/);
  expect(page).toMatch(/Limits of this server currency only "EUR", "USD" region exactly "north"/);
  expect(page).not.toMatch(/Part \d/);
  expect(page).toContain("For 1 day.");
  expect(page).not.toContain("1 days");
});

test("the page of a request lists grants that change data before read-only grants", async () => {
  const other = await startConsole();
  try {
    const asked = await other.askInList("bob", {
      capabilities: ["read_balance", "transfer_funds"],
    });
    const bob = await other.signedIn("bob");
    const page = words((await bob.get(`/requests/${asked.approval.id}`)).text);
    expect(page).toMatch(
      /To change data transfer_funds: Transfers .* Without limits on its arguments Only to read read_balance: Reads the balance/,
    );
  } finally {
    await other.close();
  }
});

test("the page of active grants groups a user's grants by agent", async () => {
  const asked = await console.askInList("carol", {
    capabilities: ["read_balance", "transfer_funds"],
    name: "Clerk",
  });
  const carol = await console.signedIn("carol");
  const at = `/requests/${asked.approval.id}`;
  await carol.post(at, { answer: "approve" }, at);
  const { text } = await carol.get("/grants");
  expect(text.match(/<li class="card">/g)).toHaveLength(1);
  expect(text.match(new RegExp(stranger("Clerk"), "g"))).toHaveLength(1);
  expect(words(text)).toMatch(/Clerk Of the host Desk assistant .*transfer_funds .*read_balance/);
});

test("a host is shown under the name that its user gave, not under the name that the host gave itself", async () => {
  const given = "Alice's laptop";
  const asked = await console.askInList("alice", { givenName: given, hostName: "Your bank" });
  const other = await console.askInList("alice", { hostName: "desk.local" });
  const alice = await console.signedIn("alice");
  const shown = "<bdi>Alice&#39;s laptop</bdi>";
  for (const path of ["", `/requests/${asked.approval.id}`, "/hosts"]) {
    const { text } = await alice.get(path);
    expect(text, path).toContain(shown);
    expect(text, path).not.toContain(`“${shown}`);
    expect(text, path).not.toContain("Your bank");
  }
  // A name that a host gave itself is marked as untrusted, even if the host belongs to the user.
  const { text } = await alice.get(`/requests/${other.approval.id}`);
  expect(text).toContain(stranger("desk.local"));
  for (const { approval } of [asked, other]) {
    const at = `/requests/${approval.id}`;
    await alice.post(at, { answer: "deny" }, at);
  }
});

describe("requests of unlinked hosts", () => {
  test("are last in the list and marked; requests of linked hosts are not marked", async () => {
    const unknown = await console.askAsStranger("bob", { hostName: "Bank of Bob" });
    const own = await console.askInList("bob", { hostName: "Laptop" });
    const bob = await console.signedIn("bob");
    const page = words((await bob.get()).text);
    expect(page).toMatch(
      /Host Laptop Answer .* From hosts that are not known These hosts are not linked to a user: .* Host Bank of Bob not known/,
    );
    expect(page).not.toContain("Laptop not known");
    for (const { approval } of [unknown, own]) {
      const at = `/requests/${approval.id}`;
      await bob.post(at, { answer: "deny" }, at);
    }
  });

  test("have a page that says that the asker is unknown, and that linking the host grants the default capabilities", async () => {
    const asked = await console.askAsStranger("bob", { purpose: "I am your bank" });
    const bob = await console.signedIn("bob");
    const at = `/requests/${asked.approval.id}`;
    const page = words((await bob.get(at)).text);
    expect(page).toMatch(
      /^A request to approve It is not known who asks This host is not linked to a user: anyone can have sent this request, and have named you in it\./,
    );
    expect(page.indexOf("I am your bank")).toBeGreaterThan(page.indexOf("What is asked for"));
    expect(page).toContain(
      "its agents act for you from then on, and all of them get read_balance at once",
    );
    await bob.post(at, { answer: "approve" }, at);
    // After the decision, the page shows no warning.
    expect(words((await bob.get(at)).text)).not.toContain("It is not known who asks");
  });

  test("have a page that, like the page of hosts, names only capabilities that are still default capabilities", async () => {
    const unknown = await console.askAsStranger("bob");
    const own = await console.askInList("bob", { hostName: "Laptop" });
    // The state after a restart with fewer defaults and without one of the skills.
    await console.store.change(async (draft) => {
      for (const { host: id } of [unknown, own]) {
        const host = await draft.hosts.get(id);
        if (host === undefined) throw new Error("there is no host");
        const defaults = ["read_balance", "transfer_funds", "close_account"];
        await draft.put("hosts", { ...host, defaults });
      }
    });
    const bob = await console.signedIn("bob");
    const at = `/requests/${unknown.approval.id}`;
    expect(words((await bob.get(at)).text)).toContain("all of them get read_balance at once");
    const hosts = words((await bob.get("/hosts")).text);
    expect(hosts).toContain("Its agents get at once read_balance");
    expect(hosts).not.toContain("close_account");
    expect(hosts).not.toContain("transfer_funds");
    for (const { approval } of [unknown, own]) {
      const path = `/requests/${approval.id}`;
      await bob.post(path, { answer: "deny" }, path);
    }
  });
});

test("the page of a linked host's request does not say that the asker is unknown, and names the linked user to another approver", async () => {
  const pair = await startConsole({
    settings: { approval: { approvers: ["alice", "bob"], needed: 2 } },
  });
  try {
    const asked = await pair.askInList("alice");
    const bob = await pair.signedIn("bob");
    const page = words((await bob.get(`/requests/${asked.approval.id}`)).text);
    expect(page).not.toContain("not known who asks");
    expect(page).not.toContain("the host is linked to you");
    expect(page).toContain("For the user alice");
  } finally {
    await pair.close();
  }
});

describe("the checkbox that binds a capability to the agent", () => {
  test("has a warning that the agent may hand the capability on, and binds the capability if ticked", async () => {
    const asked = await console.askInList("alice");
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    const page = await alice.get(at);
    expect(words(page.text)).toContain("The agent may hand on what you approve");
    expect(words(page.text)).toContain("It is refused over A2A, in sessions and from other agents");
    expect(page.text).toMatch(/name="bind" value="yes"(?! checked)/);
    const left = await alice.post(at, { answer: "check", bind: "yes" }, at);
    expect(words(left.text)).toContain(`Agents that may use it ${asked.agent}`);
    expect(left.text).toMatch(/name="bind" value="yes" checked/);
    await alice.post(at, { answer: "approve", bind: "yes" }, at);
    const grants = await console.parties.grantsOf(asked.agent);
    const own = grants.find(({ capability }) => capability === "transfer_funds");
    expect(own?.hops.at(-1)).toEqual({
      by: "approver",
      who: "alice",
      hop: { invokers: [asked.agent] },
    });
    // The agent has a bound grant, so it cannot request an unbound one for the same capability.
    const again = await console.parties.requestGrants(asked.agent, {
      capabilities: [{ name: "transfer_funds" }],
    });
    expect(again).toMatchObject({ ok: false, code: "already_granted" });
  });

  test("is off by default, and the approval then does not bind the capability", async () => {
    const asked = await console.askInList("alice");
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    await alice.post(at, { answer: "approve" }, at);
    const grants = await console.parties.grantsOf(asked.agent);
    expect(grants.flatMap(({ hops }) => hops.filter(({ by }) => by === "approver"))).toEqual([]);
  });
});
