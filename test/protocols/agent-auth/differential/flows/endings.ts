import { keyBody, newKey, send } from "../party.js";
import { type Flow, P256 } from "./flow.js";

/** Flows that end or renew authority: revocation, expiry and new keys. */
export const ENDINGS: readonly Flow[] = [
  {
    name: "revoke-capability",
    async run(stage) {
      const { host, agent } = await stage.granted("transfer_funds", "delete_payee");
      const { agent: other } = await stage.linked();
      const body = (...capabilities: string[]) => ({ agent_id: agent.id, capabilities });
      const path = "/agent/revoke-capability";
      await stage.see(
        "by the host",
        host.send("POST", path, body("transfer_funds", "print_report")),
      );
      await stage.see("again", host.send("POST", path, body("transfer_funds")));
      await stage.see("execute", agent.execute("transfer_funds", { amount: 1, to: "acc_1" }));
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("by the agent", agent.send("POST", path, body("delete_payee")));
      await stage.see("a default", agent.send("POST", path, body("list_payees")));
      await stage.see("execute the default", agent.execute("list_payees", {}));
      await stage.see("request the default", agent.request(["list_payees"]));
      await stage.see("by another agent", other.send("POST", path, body("check_balance")));
      await stage.see(
        "no credential",
        send(stage.server, "POST", path, { body: body("check_balance") }),
      );
      await stage.see(
        "unknown agent",
        host.send("POST", path, { ...body("check_balance"), agent_id: "unknown" }),
      );
      await stage.see("no capability", host.send("POST", path, body()));
      const denied = await stage.linked();
      const asked = await denied.agent.request(["print_report"]);
      await stage.server.alice.deny(denied.agent.asked(asked));
      const its = { agent_id: denied.agent.id, capabilities: ["print_report"] };
      await stage.see("a denied one", denied.host.send("POST", path, its));
      await stage.see("status after that", denied.agent.send("GET", "/agent/status"));
    },
  },
  {
    name: "revoke",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const { agent: other } = await stage.linked();
      const path = "/agent/revoke";
      const body = { agent_id: agent.id };
      await stage.see("no credential", send(stage.server, "POST", path, { body }));
      await stage.see("by another agent", other.send("POST", path, body));
      await stage.see("by another host", other.host.send("POST", path, body));
      await stage.see("unknown agent", host.send("POST", path, { agent_id: "unknown" }));
      await stage.see("by the host, which agent is not said", host.send("POST", path, {}));
      await stage.see("by the host", host.send("POST", path, body));
      await stage.see("again", host.send("POST", path, body));
      await stage.see("status by the host", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("status by the agent", agent.send("GET", "/agent/status"));
      await stage.see("execute", agent.execute("check_balance", { account_id: "a" }));
      await stage.see("introspect", stage.introspect(agent));
      await stage.see("reactivate", host.send("POST", "/agent/reactivate", body));
      const rotating = "/agent/rotate-key";
      const given = await keyBody(stage.server, rotating, await newKey(), agent.id);
      await stage.see("rotate-key", host.send("POST", rotating, { ...body, ...given }));
      const grants = { ...body, capabilities: ["check_balance"] };
      await stage.see("revoke-capability", host.send("POST", "/agent/revoke-capability", grants));
      await stage.see("by itself", other.send("POST", path, {}));
      await stage.see("list by a revoked agent", agent.send("GET", "/capability/list"));
      await stage.see(
        "describe by a revoked agent",
        agent.send("GET", "/capability/describe?name=list_payees"),
      );
      await stage.see("register the key again", host.register(agent));
      const denied = await stage.linked();
      const asked = await denied.agent.request(["delete_payee"]);
      await stage.server.alice.deny(denied.agent.asked(asked));
      await denied.host.send("POST", path, { agent_id: denied.agent.id });
      await stage.see(
        "status of one that was denied something",
        denied.host.send("GET", `/agent/status?agent_id=${denied.agent.id}`),
      );
    },
  },
  {
    name: "revoke host",
    async run(stage) {
      const { host, agent } = await stage.linked();
      await host.register(await host.agent());
      const { host: other } = await stage.linked();
      const path = "/host/revoke";
      await stage.see("no credential", send(stage.server, "POST", path, { body: {} }));
      await stage.see("another host", other.send("POST", path, { host_id: host.hostId }));
      const waiting = await stage.party();
      await waiting.register(await waiting.agent());
      await stage.see("one that waits for its user", waiting.send("POST", path));
      const unknown = await stage.party();
      await stage.see("one that is not registered", unknown.send("POST", path));
      await stage.see("itself", host.send("POST", path));
      await stage.see("again", host.send("POST", path));
      await stage.see("status by the host", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("status by the agent", agent.send("GET", "/agent/status"));
      await stage.see("introspect", stage.introspect(agent));
      await stage.see("register", host.register(await host.agent()));
      host.hostId = undefined;
      await stage.see("register by its key", host.register(await host.agent()));
    },
  },
  {
    name: "reactivate",
    async run(stage) {
      const { host, agent } = await stage.granted("transfer_funds");
      const { host: other } = await stage.linked();
      const path = "/agent/reactivate";
      const body = { agent_id: agent.id };
      await stage.see("an active agent", host.send("POST", path, body));
      await stage.see("by another host", other.send("POST", path, body));
      await stage.see("no credential", send(stage.server, "POST", path, { body }));
      await stage.see("by the agent", agent.send("POST", path, body));
      await stage.see("unknown agent", host.send("POST", path, { agent_id: "unknown" }));
      await stage.server.expire(agent.id ?? "");
      await stage.see("expired: introspect", stage.introspect(agent));
      await stage.see(
        "expired: status by the host",
        host.send("GET", `/agent/status?agent_id=${agent.id}`),
      );
      await stage.see("expired", host.send("POST", path, body));
      await stage.see("reactivated: status", agent.send("GET", "/agent/status"));
      await stage.see(
        "reactivated: execute what was escalated",
        agent.execute("transfer_funds", { amount: 1, to: "b" }),
      );
      await stage.server.expire(agent.id ?? "");
      await stage.see("expired: status by the agent", agent.send("GET", "/agent/status"));
      await stage.see("expired: execute", agent.execute("check_balance", { account_id: "a" }));
      const pending = await host.agent();
      await host.register(pending, { capabilities: ["delete_payee"] });
      await stage.see("a pending agent", host.send("POST", path, { agent_id: pending.id }));
    },
  },
  {
    name: "rotate-key",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const { host: other } = await stage.linked();
      const path = "/agent/rotate-key";
      const next = await newKey();
      const proved = (id: string | undefined) => keyBody(stage.server, path, next, id);
      const body = { agent_id: agent.id, public_key: next.public };
      await stage.see("no credential", send(stage.server, "POST", path, { body }));
      await stage.see("by another host", other.send("POST", path, body));
      await stage.see("another curve", host.send("POST", path, { ...body, public_key: P256 }));
      await stage.see("no key", host.send("POST", path, { ...body, public_key: {} }));
      const { kty: _, ...kindless } = next.public;
      const typeless = host.send("POST", path, { ...body, public_key: kindless });
      await stage.see("a key without kty", typeless);
      const small = { kty: "OKP", crv: "Ed25519", x: Buffer.alloc(32).toString("base64url") };
      await stage.see(
        "a key of small order",
        host.send("POST", path, { ...body, public_key: small }),
      );
      await stage.see("unknown agent", host.send("POST", path, { ...body, agent_id: "unknown" }));
      const rejected = await host.agent();
      const asked = await host.register(rejected, { capabilities: ["delete_payee"] });
      await stage.server.alice.deny(rejected.asked(asked));
      const itsKey = { agent_id: rejected.id, ...(await proved(rejected.id)) };
      await stage.see("a rejected agent", host.send("POST", path, itsKey));
      await stage.see("by the host", host.send("POST", path, body));
      await stage.see("the old key", agent.send("GET", "/agent/status"));
      agent.key = next;
      await stage.see("the new key", agent.send("GET", "/agent/status"));
      const again = { ...body, ...(await proved(agent.id)) };
      await stage.see("the same key once more", host.send("POST", path, again));
      const own = await newKey();
      await stage.see("by the agent", agent.send("POST", path, { public_key: own.public }));
    },
  },
  {
    name: "rotate-host-key",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const path = "/host/rotate-key";
      const next = await newKey();
      await stage.see(
        "no credential",
        send(stage.server, "POST", path, { body: { public_key: next.public } }),
      );
      await stage.see("by an agent", agent.send("POST", path, { public_key: next.public }));
      await stage.see("another curve", host.send("POST", path, { public_key: P256 }));
      await stage.see("no key", host.send("POST", path, { public_key: {} }));
      const rotated = await stage.see(
        "by the host",
        host.send("POST", path, await keyBody(stage.server, path, next)),
      );
      await stage.see("the old key", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("the agent under the old host's name", agent.send("GET", "/agent/status"));
      host.key = next;
      host.hostId = (rotated.body as { host_id?: string }).host_id;
      await stage.see("the new key", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("the agent", agent.send("GET", "/agent/status"));
      await stage.see("another agent", host.register(await host.agent()));
    },
  },
  {
    name: "rotate-host-key without a proof",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const next = await newKey();
      const path = "/host/rotate-key";
      const rotated = await stage.see(
        "by the host",
        host.send("POST", path, { public_key: next.public }),
      );
      host.key = next;
      host.hostId = (rotated.body as { host_id?: string }).host_id;
      await stage.see("list by the new key", host.send("GET", "/capability/list"));
      await stage.see("status", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("list after that", host.send("GET", "/capability/list"));
    },
  },
];
