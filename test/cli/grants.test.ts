import { statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Parties } from "../../src/agent/parties/parties.js";
import type { Home } from "../../src/home/index.js";
import { FULL } from "../support/size.js";
import { NASTY, UNSAFE } from "./agent.js";
import { asking, hostOf, newKey, partiesOn } from "./granting.js";
import { Bench, document, runHere } from "./run.js";
import { Shell } from "./shell.js";

const bench = new Bench();
let home: Home;
let parties: Parties;
let host: ReturnType<typeof newKey>;

beforeAll(async () => {
  await bench.init("--grant", "payments:send=transfer", "--grant", "payments:read=list");
  ({ home, parties } = await partiesOn(bench.home));
  host = await hostOf(parties);
});
afterAll(() => home.close());

const grants = (...args: readonly string[]) => bench.run(["grants", ...args]);

test("grants lists, shows, approves with limits and revokes an agent's grant; the ledger records the operator", async () => {
  const { approval, agent, grants: made } = await asking(parties, host);
  const listed = await bench.output("grants", "list", "--principal", "alice");
  expect(listed).toMatch(
    new RegExp(
      `^\\S+Z {2}pending  {2} ${approval.id} {2}"Payments agent" for alice asks for transfer_funds {2}ends in `,
    ),
  );

  const shown = await bench.output("grants", "show", approval.id);
  expect(shown).toContain(`asked by    "Payments agent" (${agent.id})`);
  expect(shown).toContain('why         "pay the rent"');
  expect(shown).toContain("decided by  1 of alice");
  expect(shown).toContain('0: transfer_funds  "Transfer money to a payee"');
  expect(shown).toContain("payments:send: transfer");

  const approved = await bench.output(
    ...["grants", "approve", approval.id, "--as", "alice"],
    ...["--arg", "amount<=1000", "--arg", "payee=ACME", "--expires", "1h"],
  );
  expect(approved).toMatch(/approved by alice/);
  expect(approved).toContain("taken away by alice");
  expect(approved).toContain("amount <= 1000");
  expect(approved).toContain("payee = ACME");

  const [grant] = await parties.grantsOf(agent.id);
  expect(grant).toMatchObject({
    status: "active",
    grantedBy: "alice",
    hops: [
      {
        by: "approver",
        who: "alice",
        hop: { constraints: { amount: { max: 1000 }, payee: "ACME" }, expires: expect.any(String) },
      },
    ],
  });
  const id = made[0]?.id ?? "";
  expect(await bench.output("grants", "list")).toMatch(
    new RegExp(`active {4,}${id} {2}${agent.id} may transfer_funds`),
  );
  expect(await bench.output("grants", "show", id)).toContain("granted by  alice");

  expect(await bench.output("grants", "revoke", id)).toBe(
    `revoked ${id}: the grant, with every token of it`,
  );
  expect(await bench.output("grants", "revoke", id)).toMatch(/^already revoked/);
  expect(await parties.grant(id)).toMatchObject({ status: "revoked" });
  // The operator has decided on Alice's behalf. Each event of the ledger names both.
  const decided = await home.ledger.list({ kind: "approval" });
  const registered = await home.ledger.list({ kind: "registration" });
  const events = [...decided, ...registered].filter(({ operator }) => operator === true);
  const changes = [
    ["approval.approved", approval.id],
    ["agent.activated", agent.id],
    ["grant.activated", id],
    ["grant.revoked", id],
  ] as const;
  for (const [change, record] of changes) {
    const found = events.filter((one) => one.change === change && one.record === record);
    expect(found, change).toMatchObject([{ principal: "alice", invoker: agent.id }]);
  }
  expect(registered.find(({ change }) => change === "agent.registered")).not.toHaveProperty(
    "operator",
  );
});

test("grants approve --arg with an operation limits only the grants that have the operation", async () => {
  const asked = { capabilities: ["transfer_funds", "list_payments"] };
  const { approval, agent } = await asking(parties, host, asked);
  const mistaken = await grants("approve", approval.id, "--arg", "transfr:amount<=5");
  expect(mistaken).toMatchObject({ status: 2, stdout: "" });
  expect(mistaken.stderr).toContain('did you mean "transfer"?');
  const approved = await bench.output(
    ...["grants", "approve", approval.id, "--arg", "transfer:amount<=1000"],
    ...["--only-args", "transfer:amount,payee", "--arg", "list:?limit<=10"],
  );
  expect(approved).toContain("transfer: amount <= 1000");
  const made = await parties.grantsOf(agent.id);
  const hops = made.map(({ operation, hops: [first] }) => [operation, first?.hop]);
  expect(Object.fromEntries(hops)).toEqual({
    transfer: {
      operationConstraints: { transfer: { amount: { max: 1000 } } },
      arguments: { transfer: ["amount", "payee"] },
    },
    list: { operationConstraints: { list: { limit: { max: 10, optional: true } } } },
  });
});

test("grants deny --reason stores the reason in the agent's record", async () => {
  const { approval, agent } = await asking(parties, host);
  const denied = await grants("deny", approval.id, "--reason", "not before Friday");
  expect(denied).toMatchObject({ status: 0, stderr: "" });
  expect(denied.stdout).toContain('denied by alice: "not before Friday"');
  expect(await parties.agent(agent.id)).toMatchObject({
    status: "rejected",
    denial: "not before Friday",
  });
  const again = await grants("approve", approval.id);
  expect(again).toMatchObject({ status: 1, stdout: "" });
  expect(again.stderr).toMatch(/^proviso: it is settled already: denied\nhint: /);
});

test("grants approve --only grants the named capability of a request and denies the request's other capability", async () => {
  const asked = { capabilities: ["transfer_funds", "list_payments"] };
  const { approval, agent } = await asking(parties, host, asked);
  const { status, state } = await bench.json(
    ...["grants", "approve", approval.id, "--only", "list_payments"],
  );
  expect({ status, state }).toEqual({ status: 0, state: "used" });
  const after = await parties.grantsOf(agent.id);
  expect(Object.fromEntries(after.map((one) => [one.capability, one.status]))).toEqual({
    transfer_funds: "denied",
    list_payments: "active",
  });
});

describe("grants refuses", () => {
  test("an approval whose limits leave nothing, and denies the request", async () => {
    const { approval, agent } = await asking(parties, host);
    const approved = await grants("approve", approval.id, "--op", "list");
    expect(approved.status).toBe(1);
    expect(approved.stderr).toMatch(
      /^proviso: it is denied: nothing is left of what was asked for\n/,
    );
    expect(await parties.grantsOf(agent.id)).toMatchObject([{ status: "denied" }]);
  });

  test("a decision as a user who may not decide, and a misspelt capability in --only", async () => {
    const { approval } = await asking(parties, host);
    const foreign = await grants("approve", approval.id, "--as", "bob");
    expect(foreign).toMatchObject({ status: 1 });
    expect(foreign.stderr).toMatch(
      /"bob" does not decide about this\nhint: those who decide: alice/,
    );
    const near = await grants("approve", approval.id, "--as", "alicee");
    expect(near.stderr).toContain("hint: did you mean alice?");
    const other = await grants("approve", approval.id, "--only", "transfer_fund");
    expect(other).toMatchObject({ status: 2 });
    expect(other.stderr).toContain('--only "transfer_fund": the request does not ask for it');
    expect(other.stderr).toContain("did you mean transfer_funds?");
    expect(await parties.approvals.get(approval.id)).toMatchObject({ state: "pending" });
    await grants("revoke", approval.id);
    expect(await parties.approvals.get(approval.id)).toMatchObject({ state: "cancelled" });
    // The ledger names the operator who revoked the approval, and the user whom it concerns.
    const audit = await bench.output("audit", "--kind", "approval", "--refused");
    const line = audit.split("\n").find((one) => one.includes("approval.cancelled"));
    expect(line).toMatch(/ operator for alice and agent_/);
    expect(line).toContain(approval.id);
  });

  test("an unknown id, and suggests the nearest", async () => {
    const { approval, grants: made } = await asking(parties, host);
    const typo = `${approval.id.slice(0, -1)}!`;
    for (const verb of ["show", "approve", "deny", "revoke"]) {
      const { status, stderr } = await grants(verb, typo);
      expect({ verb, status }).toEqual({ verb, status: 2 });
      expect(stderr).toContain(`hint: did you mean ${approval.id}?`);
    }
    const grant = await grants("approve", made[0]?.id ?? "");
    expect(grant.stderr).toContain(`its approval is ${approval.id}`);
  });

  test("a decision without --as if there are several approvers", async () => {
    const rule = { approvers: ["alice", "carol"], needed: 2 };
    const own = await partiesOn(bench.home, { approval: rule });
    const { approval, agent } = await asking(own.parties, host);
    const unnamed = await grants("approve", approval.id);
    expect(unnamed).toMatchObject({ status: 2 });
    expect(unnamed.stderr).toContain("those who may decide: alice, carol");
    const first = await grants("approve", approval.id, "--as", "carol", "--arg", "amount<=500");
    expect(first.stdout).toMatch(/^approval_\S+ {2}pending/);
    const second = await grants("approve", approval.id, "--as", "alice", "--arg", "amount>=10");
    expect(second.stdout).toMatch(/^approval_\S+ {2}used/);
    const [grant] = await own.parties.grantsOf(agent.id);
    expect(grant?.hops.map(({ who }) => who)).toEqual(["carol", "alice"]);
    await own.home.close();
  });
});

test("grants escapes control characters in an agent's strings", async () => {
  const { approval } = await asking(parties, host, { name: NASTY, purpose: NASTY });
  for (const args of [["list"], ["show", approval.id], ["deny", approval.id, "--reason", NASTY]]) {
    const { stdout, stderr } = await grants(...args);
    expect(`${stdout}${stderr}`).not.toMatch(UNSAFE);
    const json = await grants(...args, "--json");
    expect(`${json.stdout}${json.stderr}`).not.toMatch(UNSAFE);
  }
});

test("grants enrol -o writes the token into a file with mode 0600", async () => {
  const { status, stdout } = await grants("enrol", "--principal", "bob", "-o", "enrolment");
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  expect(bench.read("enrolment")).toMatch(/^\S{20,}\n$/);
  expect(statSync(bench.path("enrolment")).mode & 0o777).toBe(0o600);
});

test("grants enrol creates a host for a user, and prints an enrolment token that works once", async () => {
  const { stdout, stderr } = await grants(
    "enrol",
    "--principal",
    "bob",
    "--name",
    "Bob's phone",
    "--default",
    "list_payments",
  );
  expect(stderr).toMatch(/^made "Bob's phone" \(host_\S+\) for bob; give it this token/);
  const key = newKey();
  const enrolled = await parties.enrollHost({ token: stdout.trimEnd(), ...key, proven: true });
  expect(enrolled).toMatchObject({
    ok: true,
    host: { principal: "bob", status: "active", defaults: ["list_payments"] },
  });
  const again = { token: stdout.trimEnd(), ...newKey(), proven: true };
  expect(await parties.enrollHost(again)).toMatchObject({ ok: false });
  const id = enrolled.ok ? enrolled.host.id : "";
  expect(await bench.output("grants", "revoke", id)).toMatch(
    /^revoked host_\S+: the host, with 0 agents$/,
  );
  const events = await home.ledger.list({ kind: "registration" });
  const done = events.filter(({ record }) => record === id);
  expect(done.map(({ change, operator = false }) => [change, operator]).sort()).toEqual([
    ["host.created", true],
    ["host.enrolled", false],
    ["host.revoked", true],
  ]);
});

test("grants revoke --principal revokes the tokens, requests, hosts and agents of that user only", async () => {
  const own = await hostOf(parties, "dave");
  const { approval, agent } = await asking(parties, own, { name: "Dave's agent" });
  const token = home.issuer.mint({
    grant: "payments:send",
    operations: ["transfer"],
    principal: "dave",
  }).token;
  const pay = () =>
    home.issuer.authorize(token, { grant: "payments:send", operation: "transfer" }).allowed;
  expect(pay()).toBe(true);
  const line = await bench.output("grants", "revoke", "--principal", "dave");
  expect(line).toBe(
    "revoked dave: every token issued up to now, pending approvals, and one host with one agent",
  );
  await expect.poll(pay).toBe(false);
  expect(await parties.agent(agent.id)).toMatchObject({ status: "revoked" });
  expect(await parties.hostByKey(own.thumbprint)).toMatchObject({ status: "revoked" });
  expect(await parties.approvals.get(approval.id)).toMatchObject({ state: "cancelled" });
  expect(await parties.hostByKey(host.thumbprint)).toMatchObject({ status: "active" });
  const again = await grants("revoke", "--principal", "dave", "--json");
  expect(document(again.stdout)).toMatchObject({
    principal: "dave",
    kind: "user",
    hosts: 0,
    agents: 0,
  });
  for (const args of [[], ["grant_x", "--principal", "dave"]]) {
    const { status, stderr } = await grants("revoke", ...args);
    expect(status).toBe(2);
    expect(stderr).toContain("name one: the id of what is to be revoked, or --principal");
  }
});

test("grants list --watch prints pending requests and each change, until the command is stopped", async () => {
  const stopping = new AbortController();
  const lines: string[] = [];
  const { approval, grants: made } = await asking(parties, host, { name: "Watched" });
  const running = runHere(["grants", "list", "--watch", "--json"], {
    cwd: bench.folder,
    env: { PROVISO_HOME: bench.home },
    stop: stopping.signal,
    onWrite: (stream, text) => {
      if (stream !== "stdout") return;
      const one = document(text);
      lines.push(`${one["id"]} ${one["state"] ?? one["status"]}`);
      // The command notices later changes, since it reads the database regularly.
      if (lines.at(-1) === `${approval.id} pending`) void grants("approve", approval.id);
      if (lines.at(-1) === `${made[0]?.id} active`) stopping.abort();
    },
  });
  expect(await running).toMatchObject({ status: 0, stderr: "" });
  const own = lines.filter(
    (line) => line.startsWith(approval.id) || line.startsWith(made[0]?.id ?? ""),
  );
  expect(own).toEqual([`${approval.id} pending`, `${approval.id} used`, `${made[0]?.id} active`]);
});

if (FULL) {
  test("the help of every grants verb has a description, and examples that work", async () => {
    const verbs = ["", "list", "show", "approve", "deny", "revoke", "enrol"];
    const shell = new Shell(bench);
    for (const verb of verbs) {
      const help = await bench.output("grants", ...(verb === "" ? [] : [verb]), "--help");
      expect(help).toMatch(
        new RegExp(`^Usage: proviso grants ?${verb}\\b.*\\n\\n[A-Z].*\\.\\n`, "s"),
      );
      const examples = [...help.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = ""]) => line);
      expect(examples.length).toBeGreaterThan(0);
      for (const line of examples) {
        // `--watch` runs until it is stopped. Another test covers it.
        if (line.includes("--watch")) continue;
        const { approval, grants: made } = await asking(parties, host);
        if (line.includes("grant_")) await grants("approve", approval.id);
        const own = line
          .replace(/approval_[A-Za-z0-9]+/, approval.id)
          .replace(/grant_[A-Za-z0-9]+/, made[0]?.id ?? "");
        expect(await shell.runLines([own])).not.toContain("proviso:");
      }
    }
  });
}

test("grants list marks a request of an unlinked host; grants approve refuses a request of another user's host", async () => {
  const [host, first, second] = [newKey(), newKey(), newKey()];
  const asked = async (own: ReturnType<typeof newKey>) => {
    const answer = await parties.register({
      hostKey: host.key,
      hostThumbprint: host.thumbprint,
      name: "Helper",
      mode: "delegated",
      agentKey: own.key,
      agentThumbprint: own.thumbprint,
      capabilities: [{ name: "transfer_funds" }],
    });
    if (!answer.ok || answer.approval === undefined) return expect.fail("nothing waits");
    return { id: answer.approval.id, code: answer.userCode ?? "" };
  };
  const [one, other] = [await asked(first), await asked(second)];
  const list = await bench.output("grants", "list");
  expect(list).toContain(`${one.id}  "Helper" on an unknown host asks for transfer_funds`);
  expect(await bench.output("grants", "show", one.id)).toContain(
    "unknown: this host was not linked to a user when it asked",
  );
  const decide = (as: string, { id, code }: typeof one) =>
    grants("approve", id, "--as", as, "--user-code", code);
  expect((await decide("alice", one)).status).toBe(0);
  const late = await decide("bob", other);
  expect(late.status).toBe(1);
  expect(late.stderr).toContain("linked to another user");
});
