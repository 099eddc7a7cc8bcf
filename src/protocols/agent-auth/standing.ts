import type { AgentRecord } from "../../agent/registry/records.js";
import { type Fault, refuse } from "./errors.js";
import { type Admission, type Anonymous, isAdmitted, type Party } from "./party.js";

const WAITING: readonly Admission[] = ["waiting-host-or-agent", "new-host"];

/** Why a party may not make this request, though it is known. */
export function standingFault(
  party: Exclude<Party, Anonymous>,
  admitted: Admission,
): Fault | undefined {
  if (!isAdmitted(party, admitted)) {
    const needed = admitted === "agent" || admitted === "introspected" ? "an agent" : "a host";
    return refuse("unauthorized", `this needs the JWT of ${needed}`, { status: 401 });
  }
  if (party.kind === "newcomer") return undefined;
  if (party.host.status === "revoked") return refuse("host_revoked", "the host was revoked");
  if (party.kind === "agent") return agentFault(party.agent);
  if (party.host.status === "active" || WAITING.includes(admitted)) return undefined;
  return refuse("host_pending", "the host waits for its first approval");
}

/** Why an agent may do nothing now. */
function agentFault({ status, denial }: AgentRecord): Fault | undefined {
  switch (status) {
    case "active":
      return undefined;
    case "pending":
      return refuse(
        "agent_pending",
        "the agent waits for an approval; ask for its status as its host",
      );
    case "expired":
      return refuse("agent_expired", "the agent has expired; its host can reactivate it");
    case "revoked":
      return refuse("agent_revoked", "the agent was revoked");
    case "claimed":
      return refuse("agent_claimed", "a user has taken the agent over; register a new one");
    case "rejected": {
      const more = denial === undefined ? {} : { more: { reason: denial } };
      return refuse("agent_rejected", "the agent's registration was denied", more);
    }
  }
}
