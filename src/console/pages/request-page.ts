import { isFromStranger, principalOf } from "../../agent/parties/approval-results.js";
import type { Approval } from "../../agent/parties/records.js";
import { html, type Markup, moment, type Part } from "../../http/markup/markup.js";
import { trusted, untrusted } from "../../http/markup/untrusted-text.js";
import type { Form } from "../form.js";
import type { Reading } from "../limits/asked-view.js";
import type { ApprovalFields } from "../limits/fields.js";
import type { Limits } from "../limits/read-limits.js";
import type { GivenBefore } from "../request-access.js";
import type { Session } from "../sessions.js";
import { decisionDetails, requestDetails, stateWords } from "./approval.js";
import { approvalForm, problemSummary } from "./approval-form.js";
import type { Assurance } from "./assurance.js";
import { grantsByAgent } from "./grant-list.js";
import { cards, type PageParts, partyName, rowList, type Whereabouts } from "./layout.js";
import { type Asker, summary, whatIsLeft } from "./summary.js";

/** The contents of the page of one request. */
export interface RequestParts {
  readonly desk: Whereabouts & Reading;
  readonly approval: Approval;
  readonly session: Session;
  readonly now: number;
  readonly fields: ApprovalFields;
  /** True if the user can approve or deny the request now. */
  readonly answerable: boolean;
  readonly assurance: Assurance;
  readonly asker: Asker;
  /** Earlier grants of the user to the same host; absent if the request has no host. */
  readonly before?: GivenBefore;
  /** The form that the user sent, to be shown again with its errors. */
  readonly sent?: { readonly form: Form; readonly limits: Limits };
  readonly notice?: string;
}

/** Renders the page of one request: a summary, then the form or the outcome, then all details. */
export function requestPage(parts: RequestParts): PageParts {
  const { desk, approval, session, now, fields, answerable, asker, before, sent, notice } = parts;
  const problems = sent?.limits.problems ?? [];
  const left = sent !== undefined && problems.length === 0 && fields.grants.length > 0;
  const form =
    answerable &&
    approvalForm({
      action: `${desk.base}/requests/${encodeURIComponent(approval.id)}`,
      approval,
      fields,
      session,
      assurance: parts.assurance,
      now,
      ...(sent === undefined ? {} : { sent: { form: sent.form, problems } }),
    });
  const main = html`${problems.length > 0 && problemSummary(problems)}${
    notice !== undefined && html`<div class="notice" role="alert"><p>${notice}</p></div>`
  }${!answerable && decisionDetails(approval, fields, session.principal, now)}${summary(approval, fields, asker, now)}${
    left && whatIsLeft(fields, sent.limits, now)
  }${form}${requestDetails(approval, fields, asker, now)}${
    before !== undefined && givenBefore(desk, before, now)
  }`;
  const title = answerable ? "A request to approve" : "A request";
  return { title, main, wrong: problems.length > 0 };
}

function givenBefore(
  desk: Whereabouts & Reading,
  { active, past }: GivenBefore,
  now: number,
): Markup {
  return html`<details><summary>What this host was given before (${active.length})</summary>
${cards(grantsByAgent(active, desk, now), "Nothing of yours that is still active.")}</details>
${
  past.length > 0 &&
  html`<details><summary>Earlier requests of this host (${past.length})</summary>${cards(
    past.map((one) => requestCard(desk.base, one, now, 3)),
    "",
  )}</details>`
}`;
}

/** Renders the list of waiting requests. Those of linked hosts come before those of unlinked hosts. */
export function waitingPage(
  { base }: Whereabouts,
  waiting: readonly Approval[],
  now: number,
): PageParts {
  const known = waiting.filter((one) => !isOfStranger(one));
  const strangers = waiting.filter(isOfStranger);
  const list = (items: readonly Approval[], level: 2 | 3): Markup =>
    cards(
      items.map((one) => requestCard(base, one, now, level)),
      "Nothing waits for you.",
    );
  const main = html`${(known.length > 0 || strangers.length === 0) && list(known, 2)}${
    strangers.length > 0 &&
    html`<section aria-labelledby="strangers"><h2 id="strangers">From hosts that are not known</h2>
<p>These hosts are not linked to a user: anyone can have sent these requests, and have named you in them.</p>
${list(strangers, 3)}</section>`
  }<p>An agent that shows you a code waits for you to <a href="${base}/device">enter it</a>.</p>`;
  return { title: "Waiting", main };
}

/** Returns whether a request is from an unlinked host, and no decision so far links the host to a user. */
export function isOfStranger(approval: Approval): boolean {
  return isFromStranger(approval) && principalOf(approval) === undefined;
}

export function historyPage(
  { base }: Whereabouts,
  past: readonly Approval[],
  now: number,
  next?: number,
): PageParts {
  const main = html`${cards(
    past.map((one) => requestCard(base, one, now)),
    "Nothing has been decided yet.",
  )}${next !== undefined && html`<p><a href="${base}/history?from=${next}">Earlier ones</a></p>`}`;
  return { title: "History", main };
}

function requestCard(base: string, approval: Approval, now: number, level: 2 | 3 = 2): Markup {
  const { id, subject, created, updated, expires, state } = approval;
  const { agent, host, asked, purpose } = subject;
  const what =
    asked.length === 0
      ? "Taking an agent on"
      : asked.map((one, at) => html`${at > 0 && ", "}${trusted(one.name ?? one.grant)}`);
  const link = html`<a href="${base}/requests/${encodeURIComponent(id)}">${what}</a>`;
  const waits = state === "pending" && approval.decisions.length === 0;
  return html`${level === 2 ? html`<h2>${link}</h2>` : html`<h3>${link}</h3>`}
${rowList([
  !waits && ["State", stateWords(approval)],
  ["Agent", partyName(agent)],
  host !== undefined && ["Host", hostWords(approval)],
  purpose !== undefined && ["Why", untrusted(purpose, 200)],
  state === "pending" ? ["Answer until", moment(expires, now)] : ["Settled", moment(updated, now)],
  ["Asked", moment(created, now)],
])}`;
}

function hostWords(approval: Approval): Part {
  const { host } = approval.subject;
  const name = host === undefined ? "" : partyName(host);
  return isOfStranger(approval) ? html`${name} <b class="bad">not known</b>` : name;
}
