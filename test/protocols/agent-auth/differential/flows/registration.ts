import { newKey, send } from "../party.js";
import { type Flow, P256 } from "./flow.js";

const CONSTRAINED = { name: "transfer_funds", constraints: { amount: { max: 10 } } };

/**
 * Flows that register agents: on unknown and linked hosts, for fewer and for more capabilities, repeatedly, and with
 * faults.
 */
export const REGISTRATION: readonly Flow[] = [
  {
    name: "register, unknown host",
    async run(stage) {
      const host = await stage.party();
      const agent = await host.agent();
      const mixed = ["check_balance", CONSTRAINED];
      await stage.see("more than the defaults", host.register(agent, { capabilities: mixed }));
      await stage.see("the same key again", host.register(agent, { name: "another" }));
      await stage.see("the same key in another mode", host.register(agent, { mode: "autonomous" }));
      await stage.see("list by a pending agent", agent.send("GET", "/capability/list"));
      await stage.see("list by a pending host", host.send("GET", "/capability/list"));
      await stage.see("status by the host", host.send("GET", `/agent/status?agent_id=${agent.id}`));
      await stage.see("status by the agent", agent.send("GET", "/agent/status"));
      await stage.see("execute", agent.execute("check_balance", { account_id: "a" }));
      const asked = await stage.see("and again", host.register(agent));
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("approved: status by the agent", agent.send("GET", "/agent/status"));
      await stage.see(
        "approved: status by the host",
        host.send("GET", `/agent/status?agent_id=${agent.id}`),
      );
      await stage.see("approved: the same key again", host.register(agent));
      await stage.see("approved: another agent", host.register(await host.agent()));
    },
  },
  {
    name: "register, defaults",
    async run(stage) {
      const host = await stage.party();
      const nothing = { capabilities: undefined };
      await stage.see("unknown host, nothing asked", host.register(await host.agent(), nothing));
      const { host: linked } = await stage.linked();
      await stage.see("linked host, nothing asked", linked.register(await linked.agent(), nothing));
      const one = { capabilities: ["list_payees"] };
      await stage.see("linked host, one default", linked.register(await linked.agent(), one));
      const none = { capabilities: [] };
      await stage.see("linked host, an empty list", linked.register(await linked.agent(), none));
      const narrowed = {
        capabilities: [{ name: "check_balance", constraints: { account_id: "a" } }],
      };
      await stage.see(
        "linked host, a default constrained",
        linked.register(await linked.agent(), narrowed),
      );
    },
  },
  {
    name: "register, linked host",
    async run(stage) {
      const { host } = await stage.linked();
      const agent = await host.agent();
      const mixed = { capabilities: ["check_balance", CONSTRAINED], reason: "to pay the rent" };
      const asked = await stage.see("more than the defaults", host.register(agent, mixed));
      await stage.see(
        "status before approval",
        host.send("GET", `/agent/status?agent_id=${agent.id}`),
      );
      await stage.server.alice.approve(agent.asked(asked));
      await stage.see("status after approval", agent.send("GET", "/agent/status"));
      const denied = await host.agent();
      const again = await stage.see("to be denied", host.register(denied, mixed));
      await stage.server.alice.deny(denied.asked(again));
      await stage.see(
        "denied: status by the host",
        host.send("GET", `/agent/status?agent_id=${denied.id}`),
      );
      await stage.see("denied: status by the agent", denied.send("GET", "/agent/status"));
      await stage.see("denied: the same key again", host.register(denied));
      await stage.see("denied: list by the agent", denied.send("GET", "/capability/list"));
      const autonomous = { mode: "autonomous" };
      await stage.see("autonomous", host.register(await host.agent(), autonomous));
      const ciba = {
        capabilities: ["delete_payee"],
        preferred_method: "ciba",
        login_hint: stage.server.alice.email,
      };
      const backChannel = await host.agent();
      const waiting = await stage.see("back-channel", host.register(backChannel, ciba));
      await stage.server.alice.approve(backChannel.asked(waiting));
      await stage.see("back-channel: status", backChannel.send("GET", "/agent/status"));
    },
  },
  {
    name: "register, autonomous",
    async run(stage) {
      const host = await stage.party();
      const agent = await host.agent();
      const autonomous = { mode: "autonomous", capabilities: ["check_balance", "transfer_funds"] };
      await stage.see("more than the defaults", host.register(agent, autonomous));
      await stage.see("status", agent.send("GET", "/agent/status"));
      await stage.see("execute", agent.execute("check_balance", { account_id: "a" }));
      await stage.see(
        "execute what was not granted",
        agent.execute("transfer_funds", { amount: 1, to: "b" }),
      );
      await stage.see("request more", agent.request(["transfer_funds"]));
      await stage.see("request a default", agent.request(["list_payees"]));
      await stage.see("introspect", stage.introspect(agent));
      const nothing = { mode: "autonomous", capabilities: undefined };
      await stage.see("nothing asked", host.register(await host.agent(), nothing));
    },
  },
  {
    name: "register, refused",
    async run(stage) {
      const { host } = await stage.linked();
      const body = (more: object) => ({ name: "helper", ...more });
      const register = async (claims: object, more: object = {}) =>
        send(stage.server, "POST", "/agent/register", {
          token: await host.token({ agent_public_key: (await newKey()).public, ...claims }),
          body: body(more),
        });
      await stage.see("unknown capability", register({}, { capabilities: ["fly"] }));
      const unknown = [{ name: "transfer_funds", constraints: { amount: { maximum: 10 } } }];
      await stage.see("unknown operator", register({}, { capabilities: unknown }));
      await stage.see("unknown mode", register({}, { mode: "sleepy" }));
      await stage.see("unknown method", register({}, { preferred_method: "pigeon" }));
      await stage.see("no agent key", register({ agent_public_key: undefined }));
      await stage.see("another curve", register({ agent_public_key: P256 }));
      const short = { kty: "OKP", crv: "Ed25519", x: "AAAA" };
      await stage.see("a key that is too short", register({ agent_public_key: short }));
      const jwks = {
        agent_public_key: undefined,
        agent_jwks_url: "https://x.example",
        agent_kid: "1",
      };
      await stage.see("the address of the agent's keys", register(jwks));
      for (const member of ["capabilities", "mode", "reason", "preferred_method", "host_name"])
        await stage.see(`null as ${member}`, register({}, { [member]: null }));
      await stage.see("no name", register({}, { name: undefined }));
      await stage.see("an empty name", register({}, { name: "" }));
      await stage.see("a blank name", register({}, { name: " " }));
      await stage.see("a long reason", register({}, { reason: "x".repeat(5_000) }));
      await stage.see("markup in the name", register({}, { name: "<script>alert(1)</script>x" }));
      await stage.see(
        "no credential",
        send(stage.server, "POST", "/agent/register", { body: body({}) }),
      );
      const stranger = await stage.party();
      const agentKey = (await newKey()).public;
      const keyless = { host_public_key: undefined, agent_public_key: agentKey };
      await stage.see(
        "unknown host without its key",
        send(stage.server, "POST", "/agent/register", {
          token: await stranger.token(keyless),
          body: body({}),
        }),
      );
      const borrowed = { host_public_key: host.key.public, agent_public_key: agentKey };
      await stage.see(
        "signed by another key",
        send(stage.server, "POST", "/agent/register", {
          token: await stranger.token(borrowed),
          body: body({}),
        }),
      );
      const misnamed = { iss: "another-host", agent_public_key: agentKey };
      await stage.see(
        "an issuer that is not the key's thumbprint",
        send(stage.server, "POST", "/agent/register", {
          token: await stranger.token(misnamed),
          body: body({}),
        }),
      );
    },
  },
];
