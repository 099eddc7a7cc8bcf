import type { FixedToken } from "../../../src/auth/fixed-tokens.js";

/** The agents that hold something. */
export const SERVICES = ["documents", "calendar", "email", "code"] as const;

/** An agent that holds something. */
export type Service = (typeof SERVICES)[number];

/** Every agent that is served; each is a client of the others, too. */
export const AGENTS = ["documents", "calendar", "email", "code", "orchestrator"] as const;

export type AgentName = (typeof AGENTS)[number];

/** A user, or an agent on its own behalf. */
export type Principal = "alice" | "bob" | "itself";

/**
 * Who makes calls: users at a console, the orchestrator's planner, and what works for it. The
 * executor is the part of the orchestrator that reads what others wrote; it has its own identity.
 */
export type Invoker = AgentName | "executor" | "console";

const INVOKERS: readonly Invoker[] = [...AGENTS, "executor", "console"];

/** How an agent on its own behalf is called in policies, where none has any rights. */
function ownName(invoker: Invoker): string {
  return `agent:${invoker}`;
}

/** The fixed access token of a principal through an agent. */
export function accessToken(principal: Principal, invoker: Invoker): string {
  return `access-token-${principal}-${invoker}`;
}

/** Every access token, for each agent's authenticator. */
export function accessTokens(): readonly FixedToken[] {
  const principals: readonly Principal[] = ["alice", "bob", "itself"];
  return principals.flatMap((principal) =>
    INVOKERS.map((invoker) => ({
      token: accessToken(principal, invoker),
      principal: principal === "itself" ? ownName(invoker) : principal,
      invoker,
    })),
  );
}

/** Who works under the name of an agent: of the orchestrator, its executor. */
export function workerOf(agent: AgentName): Invoker {
  return agent === "orchestrator" ? "executor" : agent;
}

/** Places of what agents hold, unlike those of tasks and revocations. */
export const OPERATED: RegExp = /^(?:documents|calendar|email|code)\//;
