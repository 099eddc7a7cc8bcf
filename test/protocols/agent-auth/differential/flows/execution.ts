import { LOCATION, REMOVABLE } from "../bank.js";
import { send } from "../party.js";
import type { Flow } from "./flow.js";

const CONSTRAINTS = {
  amount: { min: 1, max: 100 },
  currency: { in: ["USD", "EUR"] },
  to: { not_in: ["acc_9"] },
};

/** Flows that execute capabilities, singly and in batches. */
export const EXECUTION: readonly Flow[] = [
  {
    name: "execute",
    async run(stage) {
      const { host, agent } = await stage.granted("transfer_funds", "always_fails", "print_report");
      await stage.see("a default", agent.execute("check_balance", { account_id: "a" }));
      await stage.see("a granted one", agent.execute("transfer_funds", { amount: 5, to: "acc_1" }));
      await stage.see("without arguments", agent.execute("list_payees"));
      await stage.see("one that fails", agent.execute("always_fails", {}));
      await stage.see("one with a location", agent.execute("print_report", {}));
      await stage.see("not granted", agent.execute("delete_payee", {}));
      await stage.see("unknown", agent.execute("fly", {}));
      await stage.see(
        "argument of the wrong type",
        agent.execute("check_balance", { account_id: 5 }),
      );
      await stage.see("required argument missing", agent.execute("check_balance", {}));
      await stage.see(
        "argument unknown to the schema",
        agent.execute("check_balance", { account_id: "a", b: 1 }),
      );
      await stage.see("arguments as a list", agent.execute("check_balance", ["a"]));
      await stage.see("arguments null", agent.execute("check_balance", null));
      await stage.see("no capability", agent.send("POST", "/capability/execute", {}));
      const body = { capability: "check_balance", arguments: { account_id: "a" } };
      await stage.see("no credential", send(stage.server, "POST", "/capability/execute", { body }));
      await stage.see("a host", host.send("POST", "/capability/execute", body));
      const claim = { capabilities: ["check_balance"] };
      await stage.see(
        "in the JWT's capabilities",
        agent.execute("check_balance", { account_id: "a" }, claim),
      );
      await stage.see(
        "not in the JWT's capabilities",
        agent.execute("transfer_funds", { amount: 5, to: "b" }, claim),
      );
      await stage.see(
        "a default not in the JWT's capabilities",
        agent.execute("list_payees", {}, claim),
      );
      await stage.see(
        "a JWT for the location",
        agent.execute("print_report", {}, { aud: LOCATION }),
      );
      const located = { aud: LOCATION, capabilities: ["print_report"] };
      await stage.see(
        "a JWT for the location that names it",
        agent.execute("print_report", {}, located),
      );
    },
  },
  {
    name: "execute, constrained",
    async run(stage) {
      const { agent } = await stage.granted({ name: "transfer_funds", constraints: CONSTRAINTS });
      const transfer = (more: object) =>
        agent.execute("transfer_funds", { amount: 5, currency: "USD", to: "acc_1", ...more });
      await stage.see("within", transfer({}));
      await stage.see("too much", transfer({ amount: 101 }));
      await stage.see("too little", transfer({ amount: 0 }));
      await stage.see("just as much", transfer({ amount: 100 }));
      await stage.see("not in", transfer({ currency: "GBP" }));
      await stage.see("excluded", transfer({ to: "acc_9" }));
      await stage.see("three at once", transfer({ amount: 101, currency: "GBP", to: "acc_9" }));
      await stage.see("missing", transfer({ currency: undefined }));
      await stage.see("missing where values are excluded", transfer({ to: undefined }));
      await stage.see("another type", transfer({ amount: "5" }));
      await stage.see("no arguments", agent.execute("transfer_funds"));
      const exact = await stage.granted({ name: "transfer_funds", constraints: { to: "acc_1" } });
      await stage.see(
        "exact, equal",
        exact.agent.execute("transfer_funds", { amount: 1, to: "acc_1" }),
      );
      await stage.see(
        "exact, another",
        exact.agent.execute("transfer_funds", { amount: 1, to: "acc_2" }),
      );
    },
  },
  {
    name: "execute, removed",
    async run(stage) {
      const { agent } = await stage.granted(REMOVABLE);
      await stage.see("before", agent.execute(REMOVABLE, {}));
      await stage.server.offer(REMOVABLE, false);
      await stage.see("execute", agent.execute(REMOVABLE, {}));
      await stage.see("describe", agent.send("GET", `/capability/describe?name=${REMOVABLE}`));
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("introspect", stage.introspect(agent));
      await stage.see("request", agent.request([REMOVABLE]));
      await stage.server.offer(REMOVABLE, true);
      await stage.see("offered again", agent.execute(REMOVABLE, {}));
    },
  },
  {
    name: "batch-execute",
    async run(stage) {
      const { host, agent } = await stage.granted(
        { name: "transfer_funds", constraints: CONSTRAINTS },
        "always_fails",
      );
      const batch = (requests: unknown) =>
        agent.send("POST", "/capability/batch-execute", { requests });
      const balance = { capability: "check_balance", arguments: { account_id: "a" } };
      await stage.see(
        "of all kinds",
        batch([
          balance,
          { id: "b", capability: "fly" },
          { id: "c", capability: "transfer_funds", arguments: { amount: 5000, to: "acc_1" } },
          { id: "d", capability: "print_report" },
          { id: "e", capability: "always_fails" },
          { id: "f", capability: "check_balance", arguments: { account_id: 5 } },
        ]),
      );
      const narrowed = { capabilities: ["check_balance"] };
      const two = {
        requests: [balance, { capability: "always_fails" }, { capability: "list_payees" }],
      };
      await stage.see(
        "narrowed by the JWT",
        agent.send("POST", "/capability/batch-execute", two, narrowed),
      );
      await stage.see("none", batch([]));
      await stage.see("no list", batch({}));
      await stage.see("too many", batch(Array.from({ length: 51 }, () => balance)));
      await stage.see(
        "one id twice",
        batch([
          { ...balance, id: "a" },
          { ...balance, id: "a" },
        ]),
      );
      const body = { requests: [balance] };
      await stage.see(
        "no credential",
        send(stage.server, "POST", "/capability/batch-execute", { body }),
      );
      await stage.see("a host", host.send("POST", "/capability/batch-execute", body));
    },
  },
];
