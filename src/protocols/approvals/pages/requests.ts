import type { Approval } from "../../../agent/approvals/approval.js";
import type { Form } from "../form.js";
import type { ApprovalFields } from "../limits/fields.js";
import type { Limits } from "../limits/read-limits.js";
import { html, type Markup, moment } from "../markup/markup.js";
import { said } from "../markup/said.js";
import type { GivenBefore } from "../routes/standing.js";
import type { Session } from "../session/sessions.js";
import { type Asker, decisionDetails, requestDetails, stateWords, whatIsLeft } from "./approval.js";
import { approvalForm, problemSummary } from "./approval-form.js";
import type { Assurance } from "./assurance.js";
import { grantDetails } from "./grants.js";
import { cards, type PageParts, rowList, type Whereabouts } from "./layout.js";

/** What the page of one request is made of. */
export interface RequestParts {
  readonly desk: Whereabouts;
  readonly approval: Approval;
  readonly session: Session;
  readonly now: number;
  readonly fields: ApprovalFields;
  /** Whether the user can answer it now. */
  readonly answerable: boolean;
  readonly assurance: Assurance;
  readonly asker: Asker;
  /** What this host was given before, on the user's behalf; absent for a request of no host. */
  readonly before?: GivenBefore;
  /** The form as it was sent, to be shown again. */
  readonly sent?: { readonly form: Form; readonly limits: Limits };
  readonly notice?: string;
}

/** One request: what is asked, and the form to answer it or what became of it. */
export function requestPage(parts: RequestParts): PageParts {
  const { desk, approval, session, now, fields, answerable, asker, before, sent, notice } = parts;
  const problems = sent?.limits.problems ?? [];
  const form =
    answerable &&
    approvalForm({
      ...{ action: `${desk.base}/requests/${encodeURIComponent(approval.id)}`, approval },
      ...{ fields, session, assurance: parts.assurance, now },
      ...(sent === undefined ? {} : { sent: { form: sent.form, problems } }),
    });
  const main = html`${problems.length > 0 && problemSummary(problems)}${
    notice !== undefined && html`<div class="notice" role="alert"><p>${notice}</p></div>`
  }${sent !== undefined && problems.length === 0 && whatIsLeft(fields.grants, sent.limits, now)}${
    !answerable && decisionDetails(approval, session.principal, now)
  }${requestDetails(approval, asker, now)}${before !== undefined && givenBefore(desk.base, before, now)}${form}`;
  const title = answerable ? "A request to approve" : "A request";
  return { title, main, wrong: problems.length > 0 };
}

function givenBefore(base: string, { active, past }: GivenBefore, now: number): Markup {
  return html`<section aria-labelledby="before"><h2 id="before">What this host was given before</h2>
${cards(
  active.map((one) => grantDetails(one, now)),
  "Nothing of yours that is still active.",
)}
${
  past.length > 0 &&
  html`<details><summary>Earlier requests of this host (${past.length})</summary>${cards(
    past.map((one) => requestCard(base, one, now, 3)),
    "",
  )}</details>`
}</section>`;
}

export function waitingPage(
  { base }: Whereabouts,
  waiting: readonly Approval[],
  now: number,
): PageParts {
  const main = html`${cards(
    waiting.map((one) => requestCard(base, one, now)),
    "Nothing waits for you.",
  )}<p>An agent that shows you a code waits for you to <a href="${base}/device">enter it</a>.</p>`;
  return { title: "Waiting", main };
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
      : asked.map((one, at) => html`${at > 0 && ", "}${said(one.name ?? one.grant, 80)}`);
  const link = html`<a href="${base}/requests/${encodeURIComponent(id)}">${what}</a>`;
  return html`${level === 2 ? html`<h2>${link}</h2>` : html`<h3>${link}</h3>`}
${rowList([
  ["State", stateWords(approval)],
  ["Agent", said(agent.name ?? agent.id, 120)],
  host !== undefined && ["Host", said(host.name ?? host.id, 120)],
  purpose !== undefined && ["Why", said(purpose, 200)],
  state === "pending" ? ["Answer until", moment(expires, now)] : ["Settled", moment(updated, now)],
  ["Asked", moment(created, now)],
])}`;
}
