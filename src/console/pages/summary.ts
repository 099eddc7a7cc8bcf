import type { Approval, ApprovalKind } from "../../agent/parties/records.js";
import { textsIn } from "../../bytes/json.js";
import { meet } from "../../caveats/meet.js";
import { html, type Markup, moment, type Part, seconds } from "../../http/markup/markup.js";
import { trusted, untrusted } from "../../http/markup/untrusted-text.js";
import { authorityWords, type Row, textByOrigin } from "../hop-words.js";
import type { AskedView } from "../limits/asked-view.js";
import type { ApprovalFields } from "../limits/fields.js";
import type { Limits } from "../limits/read-limits.js";
import { partyName } from "./layout.js";

/** Facts about the party that asks. */
export interface Asker {
  /** The time at which the host registered, in milliseconds since 1970; absent if the request has no host. */
  readonly hostSince?: number;
  /** True if the host is not linked to a user. Anyone may then have sent the request. */
  readonly unknown: boolean;
  /**
   * The names of the host's default capabilities. Once the host is linked, all its agents get them without an
   * approval.
   */
  readonly defaults: readonly string[];
}

/** Renders the facts that a user needs most before a decision. */
export function summary(
  { subject, expires }: Approval,
  { asked: views }: Pick<ApprovalFields, "asked">,
  asker: Asker,
  now: number,
): Markup {
  const { agent, host, purpose, bindingMessage, kind, lifetime, audience: services } = subject;
  const bare = views.length === 0 || kind === "agent-claim";
  return html`${asker.unknown && strangerWords(subject)}<section class="card" aria-labelledby="what"><h2 id="what">What is asked for</h2>
${
  bindingMessage !== undefined &&
  html`<p>Compare: the agent shows you the message ${untrusted(bindingMessage)}. If it does not, deny.</p>`
}
<p>Agent ${partyName(agent)}${host !== undefined && html` of the host ${partyName(host)}`} asks${bare ? html` for this: ${BESIDES[kind]}` : ":"}</p>
${!bare && askedGroups(views, now)}
<p>${purpose === undefined ? "It does not say why." : html`Why, in its own words: ${untrusted(purpose, 400)}`}</p>
<p>For ${seconds(lifetime)}${
    services !== undefined &&
    html`, at ${listed(services.map(kind === "capabilities" ? (one) => untrusted(one) : trusted))}`
  }. Answer until ${moment(expires, now)}.</p>
${asker.unknown && linkingWords(asker)}</section>`;
}

/** Renders the warning at the top of a request from an unlinked host. */
function strangerWords({ hintedUser }: Approval["subject"]): Markup {
  return html`<section class="card warning" aria-labelledby="stranger"><h2 id="stranger">It is not known who asks</h2>
<p>This host is not linked to a user: anyone can have sent this request${hintedUser !== undefined && ", and have named you in it"}. Go on only if <strong>you</strong> have just started an agent that asks for this.</p></section>`;
}

function linkingWords({ defaults }: Asker): Markup {
  const names = defaults.map((one) => html`<b>${trusted(one)}</b>`);
  return html`<p>If you approve, the host is linked to you: its agents act for you from then on${
    names.length > 0 && html`, and all of them get ${listed(names)} at once`
  }.</p>`;
}

/** The note that explains how pages mark strings by their origin. */
export const LEGEND: Markup = html`<p class="note">Words in ${untrusted("quotation marks of this colour")} come from the agent, its host or others, and are not checked.</p>`;

/** The effects of a request besides its grants, by the kind of the request. */
const BESIDES: Readonly<Record<ApprovalKind, string>> = {
  "agent-grants": "only to act for you. What it may do then needs approvals of its own.",
  "agent-claim":
    "that you take over an agent that acts on its own until now. It ends, with what it may do, and its host is linked to you from then on.",
  capabilities: "nothing.",
};

/** Renders the grants, each with its limits in one line. Grants that can change data come first. */
function askedGroups(views: readonly AskedView[], now: number): Part {
  const groups = [
    ["To change data", views.filter(({ changes }) => changes)],
    ["Only to read", views.filter(({ changes }) => !changes)],
  ] as const;
  return groups.map(
    ([title, members]) =>
      members.length > 0 &&
      html`<h3>${title}</h3><ul class="asked">${members.map((view) => html`<li>${askedLine(view, now)}</li>`)}</ul>`,
  );
}

function askedLine({ asked, authority, own }: AskedView, now: number): Markup {
  const resources = asked.resources ?? [];
  const limits = authorityWords(authority, now, textByOrigin(own));
  const { operations } = asked;
  return html`<b>${trusted(asked.name ?? asked.grant)}</b>: ${trusted(asked.description)}
${operations.length > 1 && html`<div>Operations: ${listed(operations.map(trusted))}</div>`}
${resources.length > 0 && html`<div>On: ${resourceWords(resources)}</div>`}
<div>${limits.length > 0 ? html`Limits: ${inOneLine(limits)}` : "Without limits on its arguments"}</div>`;
}

const MOST_RESOURCES = 3;

function resourceWords(
  resources: readonly { readonly displayName: string; readonly kind: string }[],
): Markup {
  const more = resources.length - MOST_RESOURCES;
  const named = resources.slice(0, MOST_RESOURCES);
  return html`${listed(
    named.map(
      ({ displayName, kind }) =>
        html`${untrusted(displayName, 80)}${kind === "collection" && " and all in it"}`,
    ),
  )}${more > 0 && ` and ${more} more`}`;
}

function listed(parts: readonly Markup[]): Part {
  return parts.map((part, at) => html`${at > 0 && ", "}${part}`);
}

function inOneLine(rows: readonly Row[]): Part {
  return rows.map(([label, words], at) => html`${at > 0 && "; "}${label} ${words}`);
}

/** Renders a summary of the grants with the user's limits. */
export function whatIsLeft({ grants }: ApprovalFields, limits: Limits, now: number): Markup {
  const parts = grants.map(({ place, asked, authority, own }) => {
    const name = html`<b>${trusted(asked.name ?? asked.grant)}</b>`;
    if (!limits.granted.includes(place)) return html`<li>${name}: denied.</li>`;
    const hop = limits.hops[String(place)];
    const left = hop === undefined ? authority : meet(authority, hop, 0);
    const byOrigin = textByOrigin(new Set([...own, ...(hop === undefined ? [] : textsIn(hop))]));
    const rows = authorityWords(left, now, byOrigin);
    return html`<li>${name}: ${rows.length === 0 ? "all that is asked for" : inOneLine(rows)}.</li>`;
  });
  return html`<div class="notice" role="status"><h2>With your limits, this is left</h2><ul class="asked">${parts}</ul>
<p>Nothing is decided yet.</p></div>`;
}
