import type { Approval, ApprovalKind, AskedGrant } from "../../../agent/approvals/approval.js";
import type { Hop } from "../../../caveats/hop.js";
import { meet, meetOf } from "../../../caveats/meet.js";
import type { GrantFields } from "../limits/fields.js";
import type { Limits } from "../limits/read-limits.js";
import { html, type Markup, moment, type Part, seconds } from "../markup/markup.js";
import { said } from "../markup/said.js";
import { authorityWords, hopWords } from "../markup/words.js";
import { limitList, rowList } from "./layout.js";

/** Who asks, as far as it is known. */
export interface Asker {
  /** When its host became known; absent for a request of no host. */
  readonly hostSince?: number;
  /** Whether the host is linked to the user that looks. */
  readonly hostLinked: boolean;
}

/** What is asked, by whom and why: everything that an approval is bound to. */
export function requestDetails(approval: Approval, asker: Asker, now: number): Markup {
  const { subject, expires } = approval;
  const { agent, host, audience, purpose, bindingMessage } = subject;
  return html`${
    bindingMessage !== undefined &&
    html`<section class="card" aria-labelledby="binding"><h2 id="binding">Compare this message</h2>
<p>The agent shows you a message. Go on only if it is this one:</p><p>${said(bindingMessage)}</p></section>`
  }<section class="card" aria-labelledby="who"><h2 id="who">Who asks</h2>
<p class="note">Names are what agent and host call themselves.</p>
${rowList([
  [
    "Agent",
    html`${agent.name !== undefined && html`${said(agent.name)} `}<span class="note">${said(agent.id)}</span>`,
  ],
  host !== undefined && [
    "Host",
    html`${host.name !== undefined && html`${said(host.name)} `}<span class="note">${said(host.id)}</span>`,
  ],
  asker.hostSince !== undefined && ["Host known since", moment(asker.hostSince, now)],
])}
${host !== undefined && !asker.hostLinked && html`<p class="warning">This host is not linked to you yet. If you approve, it is: its agents then act for you.</p>`}
</section>
<section class="card" aria-labelledby="what"><h2 id="what">What it asks for</h2>
${(subject.asked.length === 0 || subject.kind === "agent-claim") && html`<p>${BESIDES[subject.kind]}</p>`}
${subject.asked.map((one) => askedDetails(one, now))}
${rowList([
  ["For", seconds(subject.lifetime)],
  audience !== undefined && [
    "At the services",
    html`<ul>${audience.map((one) => html`<li>${said(one)}</li>`)}</ul>`,
  ],
  ["Answer until", moment(expires, now)],
])}</section>
<section class="card" aria-labelledby="why"><h2 id="why">Why</h2>
${
  purpose === undefined
    ? html`<p>The agent does not say.</p>`
    : html`<p>In the agent's own words, not checked:</p><p>${said(purpose)}</p>`
}</section>`;
}

/** What a request is about beside the grants that it names. */
const BESIDES: Readonly<Record<ApprovalKind, string>> = {
  "agent-grants": "Only to act for you: what it may do then needs approvals of its own.",
  "agent-claim":
    "That you take over an agent that acts on its own until now: it ends, with what it may do, and its host is linked to you from then on.",
  capabilities: "Nothing.",
};

function askedDetails(asked: AskedGrant, now: number): Markup {
  const { resources, hops } = asked;
  return html`<h3>${said(asked.name ?? asked.grant)}</h3>
<p>${said(asked.description)}</p>
${rowList([
  ["Operations", html`<ul>${asked.operations.map((one) => html`<li>${said(one)}</li>`)}</ul>`],
  resources !== undefined && [
    `Resources (${resources.length})`,
    html`<ul>${resources.map(
      ({ displayName, kind }) =>
        html`<li>${said(displayName)}${kind === "collection" && " and all in it"}</li>`,
    )}</ul>`,
  ],
])}
${limitList(authorityWords(meetOf([hops]), now), "Without limits on its arguments.")}
${hops.length > 1 && eachHop(hops, now)}`;
}

function eachHop(hops: readonly Hop[], now: number): Markup {
  return html`<details><summary>What each party demands</summary>
${hops.map((hop, at) => html`<h4>Part ${at + 1}</h4>${limitList(hopWords(hop, now), "Nothing.")}`)}</details>`;
}

/** What would be granted with the limits that the user has given. */
export function whatIsLeft(grants: readonly GrantFields[], limits: Limits, now: number): Markup {
  const parts = grants.map(({ place, asked, authority }) => {
    const name = said(asked.name ?? asked.grant);
    if (!limits.granted.includes(place)) return html`<h3>${name}</h3><p>Denied.</p>`;
    const own = limits.hops[String(place)];
    const left = own === undefined ? authority : meet(authority, own, 0);
    return html`<h3>${name}</h3>${limitList(authorityWords(left, now), "All that is asked for.")}`;
  });
  return html`<div class="notice" role="status"><h2>With your limits, this is left</h2>${parts}
<p>Nothing is decided yet.</p></div>`;
}

/** How an approval stands, in words. */
export function stateWords({ state, decisions, rule }: Approval): Part {
  const approved = decisions.filter(({ answer }) => answer === "approve").length;
  switch (state) {
    case "pending":
      return decisions.length === 0
        ? "Waiting"
        : `Waiting for more approvals: ${approved} of ${rule.needed ?? 1}`;
    case "approved":
      return html`<span class="good">Approved</span>, not yet collected by the agent`;
    case "used":
      return html`<span class="good">Approved</span>`;
    case "denied":
      return html`<span class="bad">Denied</span>`;
    case "expired":
      return html`<span class="bad">Expired</span>: no decision came in time`;
    case "cancelled":
      return "Taken back by the agent";
  }
}

/** What was decided, by whom. */
export function decisionDetails(approval: Approval, principal: string, now: number): Markup {
  const { decisions, subject } = approval;
  return html`<section class="card" aria-labelledby="decided"><h2 id="decided">${stateWords(approval)}</h2>
${decisions.map(({ approver, at, answer, granted, hops = {}, reason }) => {
  const who = approver === principal ? "You" : said(approver);
  return html`<h3>${who} ${answer === "approve" ? "approved" : "denied"}, ${moment(at, now)}</h3>
${reason !== undefined && html`<p>Reason: ${said(reason)}</p>`}
${
  answer === "approve" &&
  subject.asked.map((asked, place) => {
    const name = said(asked.name ?? asked.grant);
    if (granted?.includes(place) === false) return html`<p>${name}: denied.</p>`;
    const hop = hops[String(place)];
    if (hop === undefined) return html`<p>${name}: as it was asked for.</p>`;
    return html`<p>${name}, with these limits besides:</p>${limitList(hopWords(hop, now), "None.")}`;
  })
}`;
})}</section>`;
}
