import { CREDENTIALS, claiming, type Signer } from "../generated/credentials.js";
import { type Party, send } from "../party.js";
import type { Flow, Stage } from "./flow.js";

/** Flows in which agents and hosts present credentials of every kind. */
export const JWTS: readonly Flow[] = [
  {
    name: "Agent JWT",
    async run(stage) {
      const { host, agent } = await stage.granted("transfer_funds");
      const { server } = stage;
      const others = await othersOf(stage, host);
      for (const [about, credential] of Object.entries(CREDENTIALS)) {
        const claims = agent.claims();
        const sending = await credential({
          server,
          typ: "agent+jwt",
          key: agent.key,
          claims,
          host,
          others,
        });
        await stage.see(about, send(server, "GET", "/agent/status", sending));
      }
    },
  },
  {
    name: "Host JWT",
    async run(stage) {
      const { host, agent } = await stage.linked();
      const { server } = stage;
      const others = await othersOf(stage, host);
      const path = `/agent/status?agent_id=${agent.id}`;
      const all = { ...CREDENTIALS, "JWT with the address of its host's keys": ADDRESSED };
      for (const [about, credential] of Object.entries(all)) {
        const claims = host.claims();
        const sending = await credential({
          server,
          typ: "host+jwt",
          key: host.key,
          claims,
          host,
          others,
        });
        await stage.see(about, send(server, "GET", path, sending));
      }
    },
  },
];

/**
 * A JWT with a `host_jwks_url`. Do not use it at registration, where the reference would change its host permanently.
 */
const ADDRESSED = claiming({ host_jwks_url: "https://x.example/jwks" });

async function othersOf(stage: Stage, host: Party): Promise<Signer["others"]> {
  const { host: other, agent } = await stage.linked();
  const revoked = await host.agent();
  await host.register(revoked);
  await host.send("POST", "/agent/revoke", { agent_id: revoked.id });
  return { host: other.hostId ?? "", agent: agent.id ?? "", revoked: revoked.id ?? "" };
}
