import type { HostRecord } from "../../agent/registry/records.js";
import { html, moment } from "../../http/markup/markup.js";
import { plainText, trusted } from "../../http/markup/untrusted-text.js";
import type { Session } from "../session/sessions.js";
import { type Assurance, assuranceWords, confirmedWords } from "./assurance.js";
import { cards, csrf, type PageParts, problem, rowList, type Whereabouts } from "./layout.js";
import { partyName } from "./parties.js";

/** What a new host is shown with, once. */
interface NewHost {
  readonly host: HostRecord;
  readonly enrolmentToken: string;
}

/** What the page says about what was done just now. */
export interface HostsNotice {
  readonly made?: NewHost;
  readonly wrong?: string;
  /** What is in the field for the name. */
  readonly name: string;
}

/** Characters of a host's name. */
export const LONGEST_NAME = 120;

const STATES: Readonly<Record<HostRecord["status"], string>> = {
  enrolling: "Waits for its enrolment token",
  pending: "Waits for an approval",
  active: "Active",
  revoked: "Revoked",
};

export function hostsPage(
  { base }: Whereabouts,
  session: Session,
  hosts: readonly HostRecord[],
  now: number,
  { made, wrong, name, assurance }: HostsNotice & { readonly assurance: Assurance },
): PageParts {
  const items = hosts.map(
    (host) => html`<h3>${partyName(host)}</h3>
${rowList([
  ["State", STATES[host.status]],
  ["Id", trusted(host.id)],
  host.defaults.length > 0 && [
    "Its agents get at once",
    host.defaults.map((one, at) => html`${at > 0 && ", "}${trusted(one)}`),
  ],
  ["Added", moment(host.created, now)],
  ["Last used", host.lastUsed === undefined ? "never" : moment(host.lastUsed, now)],
])}
${
  host.status !== "revoked" &&
  html`<form method="post" action="${base}/hosts/${encodeURIComponent(host.id)}/revoke">${csrf(session)}
<button type="submit" class="stop" aria-label="Revoke, with all of its agents: host ${plainText(host.name ?? host.id)}">Revoke, with all of its agents</button></form>`
}`,
  );
  const main = html`${problem("name", wrong)}${
    made !== undefined &&
    html`<div class="notice" role="status"><h2>The host ${trusted(made.host.name ?? made.host.id)} can enrol</h2>
<p>Give it this enrolment token. It is shown only now, and good once${
      made.host.enrolment !== undefined && html`, until ${moment(made.host.enrolment.expires, now)}`
    }.</p>
<code class="secret">${made.enrolmentToken}</code></div>`
  }<p>A host is a program that runs agents for you, such as an assistant on your computer.</p>
<h2>Your hosts</h2>${cards(items, "You have no hosts.")}
<form method="post" action="${base}/hosts" class="card" novalidate>${csrf(session)}<h2>Add a host</h2>
<div class="field"><label for="name">Its name</label>
<input type="text" id="name" name="name" maxlength="${LONGEST_NAME}" autocomplete="off" value="${name}"${wrong !== undefined && html` aria-invalid="true"`}></div>
${confirmedWords(assurance, "add a host", now)}
<button type="submit" class="main">Add the host</button>
${assuranceWords(assurance, "add a host")}</form>`;
  return { title: "Hosts", main, wrong: wrong !== undefined };
}
