import type { FixedToken } from "../../../src/auth/fixed-tokens.js";

/** Names of the agents that have contents. */
export const SERVICES = ["documents", "calendar", "email", "code"] as const;

/** The name of an agent that has contents. */
export type Service = (typeof SERVICES)[number];

/** All agents. Each is also a client of the others. */
export const AGENTS = ["documents", "calendar", "email", "code", "orchestrator"] as const;

export type AgentName = (typeof AGENTS)[number];

/** A user, or an agent that acts for itself. */
export type Principal = "alice" | "bob" | "itself";

/**
 * An invoker: a user's console, the orchestrator's planner, or an agent that works for the planner. The executor is the
 * part of the orchestrator that reads texts from others; it has its own identity.
 */
export type Invoker = AgentName | "executor" | "console";

const INVOKERS: readonly Invoker[] = [...AGENTS, "executor", "console"];

/** Returns the principal of an agent that acts for itself; policies give it no rights. */
function ownName(invoker: Invoker): string {
  return `agent:${invoker}`;
}

/** Returns the fixed access token that an invoker uses for a principal. */
export function accessToken(principal: Principal, invoker: Invoker): string {
  return `access-token-${principal}-${invoker}`;
}

/** Returns every access token, for the agents' authenticators. */
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

/** Returns the invoker that acts in the name of an agent; for the orchestrator, its executor. */
export function workerOf(agent: AgentName): Invoker {
  return agent === "orchestrator" ? "executor" : agent;
}

/** Matches places in agents' contents, but not tasks and revocations. */
export const OPERATED: RegExp = /^(?:documents|calendar|email|code)\//;
