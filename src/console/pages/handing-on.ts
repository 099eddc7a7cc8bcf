import type { ApprovalSubject } from "../../agent/approvals/approval.js";
import { html, type Markup } from "../../http/markup/markup.js";
import { trusted } from "../../http/markup/untrusted-text.js";

/** Says that what is approved is good in any hands. */
export const HANDING_ON: Markup = html`<p class="note">The agent may hand on what you approve: any party that gets a token of it can use it, until it ends. Under <b>Limit it</b> you can bind it to this agent.</p>`;

/** Says where a token works that is bound to the agent. */
export function boundWords({ kind, agent, audience = [] }: ApprovalSubject): Markup {
  if (kind === "capabilities") {
    return html`It then works only for the caller that signs in as ${trusted(agent.id)}: over A2A at this server, and at services that know the caller by this name. The agent cannot hand it on, to sub-agents either.`;
  }
  return html`It then works only where the agent shows by its key who it is, which is in calls of Agent-Auth at this server. It is refused over A2A, in sessions and from other agents, so that the agent cannot hand it on, to sub-agents either.${audience.map(
    (one) =>
      html` At ${trusted(one)} it works only if that service knows the agent as ${trusted(agent.id)}.`,
  )}`;
}
