import { send } from "../party.js";
import type { Flow } from "./flow.js";

const transfer = (constraints: object) => ({ name: "transfer_funds", constraints });

/** Flows that request capabilities: approval, denial and escalation. */
export const REQUESTS: readonly Flow[] = [
  {
    name: "request",
    async run(stage) {
      const { host, agent } = await stage.linked();
      await stage.see("a default that it has", agent.request(["check_balance"]));
      const more = { reason: "to pay the rent", binding_message: "Rent for May" };
      const asked = await stage.see("more", agent.request(["delete_payee"], more));
      await stage.see("the same again", agent.request(["delete_payee"]));
      await stage.see("status while pending", agent.send("GET", "/agent/status"));
      await stage.see(
        "status by the host while pending",
        host.send("GET", `/agent/status?agent_id=${agent.id}`),
      );
      await stage.see("execute while pending", agent.execute("delete_payee", {}));
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("status once approved", agent.send("GET", "/agent/status"));
      await stage.see("execute once approved", agent.execute("delete_payee", {}));
      await stage.see("what it now has", agent.request(["delete_payee"]));
      const mixed = ["check_balance", "print_report"];
      await stage.see("something it has and something new", agent.request(mixed));
    },
  },
  {
    name: "request, denied",
    async run(stage) {
      const { agent } = await stage.linked();
      const asked = await stage.see("more", agent.request(["delete_payee"]));
      await stage.server.alice.deny(agent.asked(asked));
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("execute", agent.execute("delete_payee", {}));
      await stage.see("again", agent.request(["delete_payee"]));
    },
  },
  {
    name: "request, part approved",
    async run(stage) {
      const { agent } = await stage.linked();
      const asked = await stage.see("two", agent.request(["delete_payee", "print_report"]));
      await stage.server.alice.approve(agent.asked(asked), ["print_report"]);
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("execute the one", agent.execute("print_report", {}));
      await stage.see("execute the other", agent.execute("delete_payee", {}));
    },
  },
  {
    name: "request, back-channel",
    async run(stage) {
      const { agent } = await stage.linked();
      const ciba = { preferred_method: "ciba", login_hint: stage.server.alice.email };
      const asked = await stage.see("more", agent.request(["delete_payee"], ciba));
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("status", agent.send("GET", "/agent/status"));
      const unknown = { preferred_method: "pigeon" };
      await stage.see("an unknown method", agent.request(["print_report"], unknown));
    },
  },
  {
    name: "request, constrained",
    async run(stage) {
      const { agent } = await stage.linked();
      const constraints = { amount: { max: 100 }, currency: { in: ["USD", "EUR"] } };
      const asked = await stage.see("constrained", agent.request([transfer(constraints)]));
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("the same", agent.request([transfer(constraints)]));
      const narrower = { amount: { max: 10 }, currency: { in: ["USD", "EUR"] } };
      await stage.see("narrower", agent.request([transfer(narrower)]));
      await stage.see("one field of it", agent.request([transfer({ amount: { max: 10 } })]));
      await stage.see("another field", agent.request([transfer({ to: "acc_1" })]));
    },
  },
  {
    name: "request, by a JWT that is narrowed",
    async run(stage) {
      const { agent } = await stage.linked();
      const asked = { capabilities: ["delete_payee"] };
      for (const [step, capabilities] of [
        ["narrowed to nothing", []],
        ["narrowed to a default", ["check_balance"]],
      ] as const) {
        const path = "/agent/request-capability";
        await stage.see(step, agent.send("POST", path, asked, { capabilities }));
      }
    },
  },
  {
    name: "request, escalated",
    async run(stage) {
      const { agent } = await stage.granted(transfer({ amount: { max: 100 }, to: "acc_1" }));
      const beyond = { amount: 500, to: "acc_1" };
      await stage.see("execute beyond", agent.execute("transfer_funds", beyond));
      const asked = await stage.see("wider", agent.request([transfer({ amount: { max: 1000 } })]));
      await stage.see("execute beyond while pending", agent.execute("transfer_funds", beyond));
      await stage.see(
        "execute within while pending",
        agent.execute("transfer_funds", { amount: 5, to: "acc_1" }),
      );
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("status once approved", agent.send("GET", "/agent/status"));
      await stage.see("execute beyond once approved", agent.execute("transfer_funds", beyond));
      await stage.see(
        "execute for another payee",
        agent.execute("transfer_funds", { amount: 500, to: "acc_2" }),
      );
      await stage.see("introspect", stage.introspect(agent));
      const whole = await stage.see("without constraints", agent.request(["transfer_funds"]));
      await stage.server.alice.deny(agent.asked(whole));
      await stage.see("status once denied", agent.send("GET", "/agent/status"));
    },
  },
  {
    name: "request, refused",
    async run(stage) {
      const { host, agent } = await stage.linked();
      await stage.see("unknown capability", agent.request(["fly"]));
      await stage.see("known and unknown", agent.request(["transfer_funds", "fly"]));
      await stage.see("nothing", agent.request([]));
      await stage.see("no list", agent.send("POST", "/agent/request-capability", {}));
      await stage.see(
        "no credential",
        send(stage.server, "POST", "/agent/request-capability", {
          body: { capabilities: ["delete_payee"] },
        }),
      );
      await stage.see(
        "a host",
        host.send("POST", "/agent/request-capability", { capabilities: ["delete_payee"] }),
      );
      const twice = [transfer({ amount: { max: 5 } }), "transfer_funds"];
      await stage.see("a capability twice", (await stage.linked()).agent.request(twice));
      for (const [about, constraints] of Object.entries(BAD_CONSTRAINTS)) {
        const { agent: fresh } = await stage.linked();
        await stage.see(`constraint: ${about}`, fresh.request([transfer(constraints)]));
      }
    },
  },
];

const BAD_CONSTRAINTS: Readonly<Record<string, object>> = {
  "unknown operator": { amount: { maximum: 10 } },
  "const of the seed": { to: { const: "acc_456" } },
  "known and unknown operator": { amount: { max: 10, about: 5 } },
  eq: { to: { eq: "acc_1" } },
  "no operator": { amount: {} },
  "max of a text": { amount: { max: "10" } },
  "in without a list": { currency: { in: "USD" } },
  "in of nothing": { currency: { in: [] } },
  "allows nothing": { amount: { min: 10, max: 1 } },
  null: { to: null },
  "a list": { to: ["acc_1"] },
  nested: { to: { max: { of: 1 } } },
  "no field": {},
  "a field the input has not": { colour: "red" },
};
