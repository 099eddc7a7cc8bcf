import { createFixedTokens } from "../../../src/auth/index.js";
import type { Json } from "../../../src/bytes/json.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import type { TaskRunner } from "../../../src/protocols/a2a/index.js";
import { ALICE, granted } from "../../agent/support.js";
import { CALLERS } from "../../support/a2a-agent.js";
import { type Answer, rpcTo } from "./callers.js";
import { desk, startDesk } from "./guard/own-agent.js";
import { agentFor, held, presenting } from "./set-up.js";

// The set-up for tests of both a served agent and a guarded agent. A message that begins with "ask" makes a
// task that waits for its caller. The next message of that task, such as "write this", completes the task.

interface SideOptions {
  readonly mostStreams?: number;
}

/** A running agent, and the headers with which alice presents a capability to it. */
export interface Reached {
  readonly rpcUrl: string;
  readonly restUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
  /** Calls a method over JSON-RPC, with `headers` unless others are given. */
  rpc(method: string, params: Json, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The headers of the same caller under another login. */
  readonly otherLogin: Readonly<Record<string, string>>;
  /** Ends the login of `headers`. */
  signOut(): void;
}

/** Completes the task of a message, or asks for input if the message begins with "ask". */
export const runTask: TaskRunner = async ({ text, answer }) =>
  text.startsWith("ask") ? answer("input-required", "which one?") : text;

async function agentItself(options: SideOptions = {}): Promise<Reached> {
  let signedIn = true;
  const alice = { principal: "alice", invoker: "orchestrator" };
  const logins = [CALLERS.alice, "another-development-token"].map((token) => ({ ...alice, token }));
  const [both, second] = [logins, logins.slice(1)].map((known) =>
    createFixedTokens(known, { development: true, announce: () => {} }),
  );
  const agent = await agentFor({
    runTask,
    pushOrigins: ["http://a.example"],
    ...options,
    authenticator: {
      authenticate: async (call) => {
        const known = signedIn ? both : second;
        if (known === undefined) throw new Error("there is no authenticator");
        return known.authenticate(call);
      },
    },
  });
  const { token } = await held(agent);
  return {
    ...agent.server,
    headers: presenting(token),
    token,
    otherLogin: { ...presenting(token), Authorization: `Bearer ${logins[1]?.token}` },
    rpc: (method, params, headers = presenting(token)) =>
      rpcTo(agent.server.rpcUrl, headers, method, params),
    signOut: () => {
      signedIn = false;
    },
  };
}

async function guarded(options: SideOptions = {}): Promise<Reached> {
  let signedIn = true;
  const issuing = await desk();
  // The desk's issuing agent has a fixed clock, but its capabilities must expire in real time.
  Object.defineProperty(issuing.clock, "now", { get: () => Date.now() });
  const { url } = await startDesk(issuing, {
    ...options,
    caller: (req) => (signedIn || req.get("Authorization") === OTHER ? ALICE : undefined),
  });
  const [capability] = await granted(issuing.agent, { grants: ["desk:use"] });
  const { token } = capability ?? { token: "" };
  const headers = {
    Authorization: "Bearer alice:assistant",
    "Content-Type": "application/json",
    "A2A-Version": "1.0",
    "A2A-Extensions": EXTENSION_URI,
    "Proviso-Capability": token,
  };
  return {
    rpcUrl: `${url}/rpc`,
    restUrl: `${url}/rest`,
    headers,
    token,
    otherLogin: { ...headers, Authorization: OTHER },
    rpc: (method, params, given = headers) => rpcTo(`${url}/rpc`, given, method, params),
    signOut: () => {
      signedIn = false;
    },
  };
}

const OTHER = "Bearer alice:other";

type Start = (options?: SideOptions) => Promise<Reached>;

export const SIDES: readonly (readonly [name: string, start: Start])[] = [
  ["an agent", agentItself],
  ["a guarded agent", guarded],
];
