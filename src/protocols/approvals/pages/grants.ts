import type { AgentGrant, AgentRecord, HostRecord } from "../../../agent/registry/records.js";
import { meetOf } from "../../../caveats/meet.js";
import { html, type Markup, moment } from "../markup/markup.js";
import { plain, said } from "../markup/said.js";
import { authorityWords } from "../markup/words.js";
import type { Session } from "../session/sessions.js";
import { cards, csrf, type PageParts, rowList, type Whereabouts } from "./layout.js";

/** An agent grant, and whose it is. */
export interface ShownGrant {
  readonly grant: AgentGrant;
  readonly agent?: AgentRecord;
  readonly host?: HostRecord;
}

/** What one agent may do, in words. */
export function grantDetails({ grant, agent, host }: ShownGrant, now: number): Markup {
  const { capability, hops, purpose, created, lastUsed, expires, grantedBy } = grant;
  const limits = authorityWords(meetOf([hops.map(({ hop }) => hop)]), now);
  return html`<h3>${said(capability)}</h3>
${rowList([
  ["Agent", said(agent?.name ?? grant.agent, 120)],
  ["Host", said(host?.name ?? grant.host, 120)],
  ...limits,
  purpose !== undefined && ["Why", said(purpose, 300)],
  [
    "Granted",
    html`${moment(created, now)}${grantedBy === undefined ? ", by default" : html` by ${said(grantedBy)}`}`,
  ],
  expires !== undefined && ["Ends", moment(expires, now)],
  ["Last used", lastUsed === undefined ? "never" : moment(lastUsed, now)],
])}`;
}

/** All that agents may do for the user now. */
export function grantsPage(
  { base }: Whereabouts,
  session: Session,
  grants: readonly ShownGrant[],
  now: number,
  revoked?: string,
): PageParts {
  const items = grants.map((one) => {
    const { id, capability } = one.grant;
    const of = one.agent?.name ?? one.grant.agent;
    return html`${grantDetails(one, now)}
<form method="post" action="${base}/grants/${encodeURIComponent(id)}/revoke">${csrf(session)}
<button type="submit" class="stop" aria-label="Revoke ${plain(capability)} of ${plain(of)}">Revoke</button></form>`;
  });
  const main = html`${
    revoked !== undefined &&
    html`<div class="notice" role="status"><p>Revoked: ${said(revoked)}. Its tokens are refused from now on.</p></div>`
  }${items.length > 0 && html`<h2>What agents may do for you</h2>`}${cards(items, "No agent may do anything for you.")}`;
  return { title: "Active grants", main };
}
