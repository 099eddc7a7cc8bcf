import { CONTENT_TYPES, WHOLE } from "../generated/bodies.js";
import { send } from "../party.js";
import type { Flow } from "./flow.js";

/** Flows with invalid bodies and addresses. */
export const BODIES: readonly Flow[] = [
  {
    name: "body",
    async run(stage) {
      const { host } = await stage.linked();
      const body = { token: "e30.e30.e30" };
      for (const [about, fault] of [...WHOLE, ...CONTENT_TYPES])
        await stage.see(about, send(stage.server, "POST", "/agent/introspect", fault(body)));
      const agent = await host.agent();
      await host.register(agent);
      const rotation = { agent_id: "unknown", public_key: "text" };
      await stage.see("two faults", host.send("POST", "/agent/rotate-key", rotation));
      const empty = { capability: "" };
      await stage.see(
        "an empty text as capability",
        agent.send("POST", "/capability/execute", empty),
      );
      const token = "e30.e30.e30";
      const nameless = send(stage.server, "POST", "/agent/register", { token, body: {} });
      await stage.see("a wrong body with a wrong JWT", nameless);
    },
  },
  {
    name: "address",
    async run(stage) {
      await stage.see(
        "another method",
        send(stage.server, "PUT", "/capability/list", { body: {} }),
      );
      await stage.see("a slash at the end", send(stage.server, "GET", "/capability/list/"));
      await stage.see("another case", send(stage.server, "GET", "/CAPABILITY/LIST"));
      await stage.see("an unknown path", send(stage.server, "GET", "/capability/list-all"));
    },
  },
];
