import type { AgentGrant, AgentRecord, HostRecord } from "../../agent/parties/records.js";
import { html, type Markup, moment } from "../../http/markup/markup.js";
import { trusted, untrusted } from "../../http/markup/untrusted-text.js";
import { authorityWords, textByOrigin } from "../hop-words.js";
import { type Reading, viewOfGrant } from "../limits/asked-view.js";
import { partyName, rowList } from "./layout.js";

/** A grant, with its agent and its host. */
export interface ShownGrant {
  readonly grant: AgentGrant;
  readonly agent?: AgentRecord;
  readonly host?: HostRecord;
}

/**
 * Renders grants, on one card per agent.
 *
 * @param after - Returns the markup below a grant.
 */
export function grantsByAgent(
  grants: readonly ShownGrant[],
  reading: Reading,
  now: number,
  after: (one: ShownGrant) => Markup | undefined = () => undefined,
): readonly Markup[] {
  const agents = [...new Set(grants.map(({ grant }) => grant.agent))];
  return agents.map((id) => {
    const own = grants.filter(({ grant }) => grant.agent === id);
    const agent = own.find((one) => one.agent !== undefined)?.agent ?? { id };
    const host = own.find((one) => one.host !== undefined)?.host;
    return html`<h3>${partyName(agent)}</h3>
${host !== undefined && html`<p class="note">Of the host ${partyName(host)}</p>`}
<ul class="entries">${weightiestFirst(own, reading).map((one) => html`<li>${grantDetails(one, reading, now)}${after(one)}</li>`)}</ul>`;
  });
}

/** Sorts grants. Those that can change data come first. */
function weightiestFirst(grants: readonly ShownGrant[], reading: Reading): readonly ShownGrant[] {
  const changes = ({ grant }: ShownGrant): boolean => viewOfGrant(grant, reading).changes;
  return [...grants.filter(changes), ...grants.filter((one) => !changes(one))];
}

function grantDetails({ grant }: ShownGrant, reading: Reading, now: number): Markup {
  const { capability, purpose, created, lastUsed, expires, grantedBy } = grant;
  const { authority, changes, own } = viewOfGrant(grant, reading);
  return html`<h4>${trusted(capability)}</h4>
${rowList([
  ["Effect", changes ? "may change data" : "only reads"],
  ...authorityWords(authority, now, textByOrigin(own)),
  purpose !== undefined && ["Why", untrusted(purpose, 300)],
  [
    "Granted",
    html`${moment(created, now)}${grantedBy === undefined ? ", by default" : html` by ${trusted(grantedBy)}`}`,
  ],
  expires !== undefined && ["Ends", moment(expires, now)],
  ["Last used", lastUsed === undefined ? "never" : moment(lastUsed, now)],
])}`;
}
