import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { granted } from "../../agent/support.js";
import { desk, startDesk } from "./guard/own-agent.js";
import { agentFor, held, presenting } from "./set-up.js";

// What holds for an agent that is served and for one behind a guard.

/** An agent that is reached, with the headers of a caller of Alice's that has a capability. */
export interface Reached {
  readonly rpcUrl: string;
  readonly restUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
}

async function agentItself(): Promise<Reached> {
  const agent = await agentFor({
    runTask: async ({ text }) => text,
    pushOrigins: ["http://a.example"],
  });
  const { token } = await held(agent);
  return { ...agent.server, headers: presenting(token), token };
}

async function guarded(): Promise<Reached> {
  const issuing = await desk();
  const { url } = await startDesk(issuing);
  const [capability] = await granted(issuing.agent, { grants: ["desk:use"] });
  const { token } = capability ?? { token: "" };
  const headers = {
    ...{ Authorization: "Bearer alice:assistant", "Content-Type": "application/json" },
    ...{ "A2A-Version": "1.0", "A2A-Extensions": EXTENSION_URI },
    "Proviso-Capability": token,
  };
  return { rpcUrl: `${url}/rpc`, restUrl: `${url}/rest`, headers, token };
}

export const SIDES: readonly (readonly [name: string, start: () => Promise<Reached>])[] = [
  ["an agent", agentItself],
  ["a guarded agent", guarded],
];
