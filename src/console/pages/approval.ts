import { causeWords } from "../../agent/parties/approval-results.js";
import type { Approval, GrantHop } from "../../agent/parties/records.js";
import { textsIn } from "../../bytes/json.js";
import { html, type Markup, moment, type Part, seconds } from "../../http/markup/markup.js";
import { MOST_SHOWN, trusted, untrusted } from "../../http/markup/untrusted-text.js";
import { hopWords, textByOrigin } from "../hop-words.js";
import type { AskedView } from "../limits/asked-view.js";
import type { ApprovalFields } from "../limits/fields.js";
import { limitList, partyName, rowList } from "./layout.js";
import type { Asker } from "./summary.js";

/** Renders everything that an approval covers. */
export function requestDetails(
  { subject, created, expires }: Approval,
  { asked: views }: Pick<ApprovalFields, "asked">,
  { hostSince }: Asker,
  now: number,
): Markup {
  const { agent, host, audience, purpose, kind, principal, lifetime } = subject;
  const services = audience?.map(
    (one) => html`<li>${(kind === "capabilities" ? untrusted : trusted)(one)}</li>`,
  );
  return html`<details><summary>All that is asked for, in full</summary>
${rowList([
  ["Agent", named(agent)],
  host !== undefined && ["Host", named(host)],
  hostSince !== undefined && ["Host known since", moment(hostSince, now)],
  principal !== undefined && ["For the user", trusted(principal)],
  purpose !== undefined && ["Why", untrusted(purpose)],
  services !== undefined && ["At the services", html`<ul>${services}</ul>`],
  ["For", seconds(lifetime)],
  ["Asked", moment(created, now)],
  ["Answer until", moment(expires, now)],
])}
${views.map((view) => askedDetails(view, now))}</details>`;
}

/** Renders the name of a party, with the id under which this server knows it. */
function named(party: NonNullable<Approval["subject"]["host"]>): Markup {
  const own = html`<span class="note">${trusted(party.id)}</span>`;
  return party.name === undefined ? own : html`${partyName(party, MOST_SHOWN)} ${own}`;
}

const PARTIES: Readonly<Record<GrantHop["by"], string>> = {
  agent: "Limits that the agent sets itself",
  server: "Limits of this server",
  approver: "Limits of an approver",
};

function askedDetails({ asked, own, changes }: AskedView, now: number): Markup {
  const { resources, hops, operations } = asked;
  return html`<h3>${trusted(asked.name ?? asked.grant)}</h3>
<p>${trusted(asked.description)}</p>
${rowList([
  ["Effect", changes ? "may change data" : "only reads"],
  ["Grant", trusted(asked.grant)],
  ["Operations", html`<ul>${operations.map((one) => html`<li>${trusted(one)}</li>`)}</ul>`],
  resources !== undefined && [
    `Resources (${resources.length})`,
    html`<ul>${resources.map(
      ({ displayName, kind }) =>
        html`<li>${untrusted(displayName)}${kind === "collection" && " and all in it"}</li>`,
    )}</ul>`,
  ],
])}
${hops.length === 0 && html`<p>Neither agent nor server limits it.</p>`}
${hops.map(
  ({ by, hop }) =>
    html`<h4>${PARTIES[by]}</h4>${limitList(hopWords(hop, now, textByOrigin(own)), "None.")}`,
)}`;
}

/** Describes the state of an approval. */
export function stateWords(approval: Approval): Part {
  const { state, decisions, rule } = approval;
  const cause = causeWords(approval);
  if (cause !== undefined) return html`<span class="bad">Ended</span>: ${cause}`;
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

/** Renders the decisions, with the users who made them. */
export function decisionDetails(
  approval: Approval,
  { asked: views }: Pick<ApprovalFields, "asked">,
  principal: string,
  now: number,
): Markup {
  return html`<section class="card" aria-labelledby="decided"><h2 id="decided">${stateWords(approval)}</h2>
${approval.decisions.map(({ approver, at, answer, granted, hops = {}, reason }) => {
  const who = approver === principal ? "You" : trusted(approver);
  return html`<h3>${who} ${answer === "approve" ? "approved" : "denied"}, ${moment(at, now)}</h3>
${reason !== undefined && html`<p>Reason: ${trusted(reason)}</p>`}
${
  answer === "approve" &&
  views.map(({ asked, place, own }) => {
    const name = html`<b>${trusted(asked.name ?? asked.grant)}</b>`;
    if (granted?.includes(place) === false) return html`<p>${name}: denied.</p>`;
    const hop = hops[String(place)];
    if (hop === undefined) return html`<p>${name}: as it was asked for.</p>`;
    const byOrigin = textByOrigin(new Set([...own, ...textsIn(hop)]));
    return html`<p>${name}, with these limits besides:</p>${limitList(hopWords(hop, now, byOrigin), "None.")}`;
  })
}`;
})}</section>`;
}
