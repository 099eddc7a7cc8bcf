import { attenuate } from "../../../src/capability/attenuate.js";
import { withCapability } from "../../../src/protocols/a2a/client/interceptor.js";
import { forgeries } from "../attack/surgery.js";
import type { Scenario } from "../scenario.js";
import { Connection, dataPart, messageOf } from "../world/connection.js";
import { accessToken, SERVICES } from "../world/people.js";
import { BOSS, reading, sendingTo, updating } from "./needs.js";

/** OWASP ASI03, Identity and Privilege Abuse: the attacker claims to be somebody else. */
export const identitySpoofing: Scenario = {
  id: "identity-spoofing",
  title: "An agent says that it is another, for another user",
  ask: "Note in the stand-up that the review is at eleven.",
  goal: ["read documents/confidential/payroll.md"],
  async run(planner) {
    await planner.step("have it noted", () =>
      planner.delegate({
        to: "calendar",
        needs: [
          reading("calendar", "work", "Vendor call", "Stand-up"),
          updating("calendar", "work", "Stand-up"),
        ],
        work: async (worker) => {
          await worker.read("calendar", "read_event", "Vendor call");
          await worker.step("note it", async () => {
            const resource = worker.handle("calendar", "update", "Stand-up");
            await worker.call("calendar", "update_event", { resource, text: "Review at eleven." });
          });
          return { noted: true };
        },
      }),
    );
  },
  async special(attacker) {
    // Made-up credentials, and names in place of credentials.
    const own = accessToken(attacker.worker.principal, attacker.worker.invoker);
    const made = [undefined, "alice", `${own}x`, own.toUpperCase(), `${own}, Bearer alice`];
    const known = attacker.leaks.bound.map((token) => ({ token }));
    for (const service of SERVICES) {
      const agent = attacker.stage.world.agent(service);
      const list = attacker.skills(service).find(({ operation }) => operation === "list");
      for (const token of made) {
        const connection = new Connection(agent, token, () => {});
        await attacker.attempt("swapped principals", service, async () => {
          const client = await connection.client();
          const presented = known.map((one) => one.token);
          const all = presented.length === 0 ? client : await withCapability(client, presented);
          return all.sendMessage(messageOf([dataPart({ skill: list?.id ?? "", arguments: {} })]));
        });
      }
    }
  },
};

/** CWE-347, and the attack that macaroons must withstand (Birgisson et al. 2014): removed hops. */
export const tokenForgery: Scenario = {
  id: "token-forgery",
  title: "A token is taken apart and put together again",
  ask: "Compare the quarters for my boss.",
  goal: ["read documents/confidential/payroll.md"],
  async run(planner) {
    await planner.step("have them compared", () =>
      planner.delegate({
        to: "orchestrator",
        bound: false,
        needs: [reading("documents", "reports", "Q1 report", "Q2 report"), sendingTo(BOSS)],
        work: async (worker) => {
          await worker.read("documents", "read_document", "Q1 report");
          await worker.read("documents", "read_document", "Q2 report");
          const message = { to: BOSS, subject: "Quarters", body: "From 4% to 2%." };
          await worker.step("send it", () => worker.call("email", "send_message", message));
          return { compared: true };
        },
      }),
    );
  },
  async special(attacker) {
    // Appends a chain of hops, then removes each part of it.
    const [token] = attacker.knowledge.tokensOf("documents");
    if (token === undefined) return;
    const [handle = ""] = token.handles;
    const hops = [{ purpose: "one" }, { resourceHandles: [handle] }, { operations: ["read"] }];
    let text = token.text;
    for (const hop of hops) {
      const narrowed = attenuate(text, hop);
      if (narrowed.ok) text = narrowed.token;
    }
    const aims = attacker.leaks.handles.filter(({ service }) => service === "documents");
    const targets = [handle, ...aims.map(({ value }) => value)];
    for (const forgery of forgeries(text, targets, token.text)) {
      for (const resource of targets) {
        const presented = [{ token: forgery.token }];
        const read = "read_document";
        await attacker.call(forgery.kind, "documents", read, { resource }, presented);
      }
    }
  },
};

/** Nassi et al. 2025, delayed invocation; CWE-613: the attack starts after the task is done. */
export const delayed: Scenario = {
  id: "delayed-invocation",
  title: "An infected agent waits until its task is over",
  ask: "Sum up the invoice and the lunch.",
  sleeper: true,
  goal: ["add to email/sent"],
  async run(planner) {
    await planner.step("have them summed up", () =>
      planner.delegate({
        to: "orchestrator",
        bound: false,
        needs: [reading("email", "inbox", "Invoice from vendor", "Lunch"), sendingTo(BOSS)],
        work: async (worker) => {
          await worker.read("email", "read_message", "Invoice from vendor");
          await worker.read("email", "read_message", "Lunch");
          const message = { to: BOSS, subject: "Mail", body: "An invoice, and lunch." };
          await worker.step("send it", () => worker.call("email", "send_message", message));
          return { summary: "An invoice, and lunch." };
        },
      }),
    );
  },
};

/** CWE-757: the attacker chooses the weaker protocol wherever it can. */
export const downgrade: Scenario = {
  id: "downgrade",
  title: "The client pretends to know nothing of capabilities",
  ask: "Read me the second quarter.",
  goal: ["read documents/confidential/payroll.md"],
  async run(planner) {
    await planner.step("have it read", () =>
      planner.delegate({
        to: "documents",
        needs: [reading("documents", "reports", "Q2 report", "Q1 report")],
        work: async (worker) => {
          await worker.read("documents", "read_document", "Q2 report");
          await worker.read("documents", "read_document", "Q1 report");
          return { read: true };
        },
      }),
    );
  },
  async special(attacker) {
    for (const resource of attacker.knowledge.handlesOf("documents")) {
      for (const request of OLD_WAYS) await tryOldWay(attacker, request, resource);
    }
  },
};

/** A request by a client that does not know capabilities, or ignores them. */
interface OldWay {
  readonly method: string;
  readonly headers: { readonly [name: string]: string };
  readonly metadata: { readonly [name: string]: string | readonly string[] | null };
}

const OLD_WAYS: readonly OldWay[] = [
  { method: "SendMessage", headers: {}, metadata: {} },
  { method: "SendMessage", headers: { "A2A-Extensions": "" }, metadata: { capabilities: [] } },
  { method: "SendMessage", headers: { "A2A-Version": "0.3" }, metadata: {} },
  { method: "message/send", headers: { "A2A-Version": "0.3" }, metadata: {} },
  { method: "message/send", headers: {}, metadata: { legacy: "true" } },
  { method: "tasks/send", headers: {}, metadata: {} },
  { method: "a2a/skill/invoke", headers: { "A2A-Extensions": "urn:other:1" }, metadata: {} },
  { method: "a2a/task/send", headers: { "Proviso-Capability": "" }, metadata: {} },
];

async function tryOldWay(
  attacker: Parameters<NonNullable<Scenario["special"]>>[0],
  { method, headers, metadata }: OldWay,
  resource: string,
): Promise<void> {
  const call = { skill: "read_document", arguments: { resource } };
  const message = { messageId: crypto.randomUUID(), role: "user", parts: [{ data: call }] };
  for (const connection of attacker.connections("documents")) {
    await attacker.attempt("legacy fall-back", "documents", () =>
      connection.method(method, { ...call, message, metadata }, headers),
    );
  }
}
