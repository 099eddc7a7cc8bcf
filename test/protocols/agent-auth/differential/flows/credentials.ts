import { LOCATION } from "../bank.js";
import { keyBody, newKey, type PartyKey, send } from "../party.js";
import type { Flow } from "./flow.js";

/** Flows for introspection, for status, and for hosts that a claim or an enrolment adds. */
export const CREDENTIALS: readonly Flow[] = [
  {
    name: "introspect",
    async run(stage) {
      const constrained = { name: "transfer_funds", constraints: { amount: { max: 10 } } };
      const { host, agent } = await stage.granted(constrained);
      const introspect = (token: unknown) =>
        send(stage.server, "POST", "/agent/introspect", { body: { token } });
      const token = await agent.token();
      await stage.see("an agent's JWT", introspect(token));
      await stage.see("once more", introspect(token));
      await stage.see("then used", send(stage.server, "GET", "/agent/status", { token }));
      const claim = { capabilities: ["transfer_funds"] };
      await stage.see("one that names capabilities", introspect(await agent.token(claim)));
      await stage.see("one for a location", introspect(await agent.token({ aud: LOCATION })));
      const located = { aud: LOCATION, capabilities: ["print_report"] };
      await stage.see("one for a location that names it", introspect(await agent.token(located)));
      await stage.see(
        "one for another server",
        introspect(await agent.token({ aud: "https://else.example" })),
      );
      await stage.see("one without jti", introspect(await agent.token({ jti: undefined })));
      await stage.see(
        "one with iss of another host",
        introspect(await agent.token({ iss: "unknown" })),
      );
      await stage.see("one bound to a request", introspect(await agent.token({ htm: "PATCH" })));
      await stage.see("a host's JWT", introspect(await host.token()));
      await stage.see("no JWT", introspect("hello"));
      await stage.see("no text", introspect(5));
      await stage.see("nothing", send(stage.server, "POST", "/agent/introspect", { body: {} }));
      const old = Math.floor(stage.server.now() / 1000) - 120;
      await stage.see("an old one", introspect(await agent.token({ iat: old, exp: old + 60 })));
      const pending = await host.agent();
      await host.register(pending, { capabilities: ["delete_payee"] });
      await stage.see("a pending agent's", introspect(await pending.token()));
    },
  },
  {
    name: "status",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const { host: other } = await stage.linked();
      const path = `/agent/status?agent_id=${agent.id}`;
      await stage.see("by the agent", agent.send("GET", "/agent/status"));
      await stage.see(
        "by the agent, for another",
        agent.send("GET", "/agent/status?agent_id=unknown"),
      );
      await stage.see("by the host", host.send("GET", path));
      await stage.see("by another host", other.send("GET", path));
      await stage.see(
        "by the host, for an unknown agent",
        host.send("GET", "/agent/status?agent_id=unknown"),
      );
      await stage.see("by the host, for none", host.send("GET", "/agent/status"));
      const empty = host.send("GET", "/agent/status?agent_id=");
      await stage.see("by the host, for an empty id", empty);
      await stage.see("no credential", send(stage.server, "GET", path));
      const thumbprint = { iss: host.key.thumbprint };
      const token = await host.token(thumbprint);
      await stage.see("by the host's thumbprint", send(stage.server, "GET", path, { token }));
      const byId = await host.token({ iss: host.hostId });
      await stage.see("by the host's id", send(stage.server, "GET", path, { token: byId }));
      await stage.see(
        "by the agent, the host's thumbprint",
        agent.send("GET", path, undefined, thumbprint),
      );
      await stage.see(
        "by the agent, no host",
        agent.send("GET", path, undefined, { iss: undefined }),
      );
      await stage.see("session", agent.send("GET", "/agent/session"));
      await stage.see("session without a credential", send(stage.server, "GET", "/agent/session"));
    },
  },
  {
    name: "claim",
    async run(stage) {
      const host = await stage.party();
      const agent = await host.agent();
      await host.register(agent, { mode: "autonomous" });
      const claimant = await stage.party();
      await claimant.register(await claimant.agent(), { mode: "autonomous" });
      const { agent: delegated, host: other } = await stage.linked();
      const claim = (agentId: unknown, by = host) =>
        by.send("POST", "/agent/claim", { agent_id: agentId });
      await stage.see(
        "no credential",
        send(stage.server, "POST", "/agent/claim", { body: { agent_id: agent.id } }),
      );
      await stage.see("unknown agent", claim("unknown"));
      await stage.see("a delegated agent", claim(delegated.id, other));
      await stage.see("no agent", claim(undefined));
      const refused = await stage.see("an autonomous agent", claim(agent.id));
      await stage.see("status while it is asked", agent.send("GET", "/agent/status"));
      await stage.server.alice.deny(agent.asked(refused));
      await stage.see("denied: status", agent.send("GET", "/agent/status"));
      await stage.see("by another host", claim(agent.id, claimant));
      const asked = await stage.see("again", claim(agent.id));
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("claimed: status by the agent", agent.send("GET", "/agent/status"));
      await stage.see("claimed: execute", agent.execute("check_balance", { account_id: "a" }));
      await stage.see("claimed: introspect", stage.introspect(agent));
      await stage.see("claimed: again", claim(agent.id));
      await stage.see(
        "claimed: status by the host",
        host.send("GET", `/agent/status?agent_id=${agent.id}`),
      );
      await stage.see(
        "claimed: reactivate",
        host.send("POST", "/agent/reactivate", { agent_id: agent.id }),
      );
      await stage.see("claimed: register on the host", host.register(await host.agent()));
    },
  },
  {
    name: "enrolment",
    async run(stage) {
      const token = await stage.server.alice.enrolmentToken();
      const host = await stage.party();
      const enrol = (body: object) => send(stage.server, "POST", "/host/enroll", { body });
      const proved = async (key: PartyKey) => ({
        token,
        ...(await keyBody(stage.server, "/host/enroll", key)),
      });
      const body = await proved(host.key);
      await stage.see("a wrong token", enrol({ ...body, token: "x".repeat(43) }));
      await stage.see("no key", enrol({ ...body, public_key: {} }));
      await stage.see(
        "another curve",
        enrol({ ...body, public_key: { kty: "EC", crv: "P-256", x: "a", y: "b" } }),
      );
      await stage.see("no token", enrol({ public_key: host.key.public }));
      const enrolled = await stage.see(
        "with the token",
        enrol({ ...(await proved(host.key)), name: "laptop" }),
      );
      host.hostId = (enrolled.body as { hostId?: string }).hostId;
      await stage.see("the token again", enrol(await proved(await newKey())));
      const agent = await host.agent();
      await stage.see("an agent with the defaults", host.register(agent));
      await stage.see("execute", agent.execute("check_balance", { account_id: "a" }));
      const more = { capabilities: ["transfer_funds"] };
      await stage.see("an agent with more", host.register(await host.agent(), more));
      const unproved = await stage.party();
      const unprovedBody = {
        token: await stage.server.alice.enrolmentToken(),
        public_key: unproved.key.public,
        name: "laptop",
      };
      await stage.see("without a proof", enrol(unprovedBody));
      await stage.see("without a proof, an agent", unproved.register(await unproved.agent()));
    },
  },
];
