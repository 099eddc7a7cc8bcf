import type { Router } from "express";
import type { ApproverAnswer } from "../../agent/parties/approval-decisions.js";
import type { DecisionOutcome } from "../../agent/parties/approval-settlement.js";
import type { Approval } from "../../agent/parties/records.js";
import type { Confirmable, Confirmation } from "../confirmations.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { Form, formOf } from "../form.js";
import { isWeighty } from "../limits/asked-view.js";
import { fieldsOf, namesOf } from "../limits/fields.js";
import { readLimits } from "../limits/read-limits.js";
import { REFUSALS, STALE, TOO_LONG } from "../refusals.js";
import { canAnswer, canSee, enteredCode, givenBefore } from "../request-access.js";
import type { Session } from "../sessions.js";
import { idIn, type Visit, visit } from "../visit.js";
import { assuranceOf, confirm } from "./confirming.js";
import { isOfStranger, requestPage, waitingPage } from "./request-page.js";

/** Adds two pages: the list of waiting requests, and the page of one request. */
export function requestRoutes(desk: Desk, router: Router): void {
  router.get(
    "/",
    visit(desk, async ({ req, res, session }) => {
      const waiting = await desk.approvals.waitingFor(session.principal);
      show(desk, req, res, waitingPage(desk, waiting, desk.now()));
    }),
  );
  router.get(
    "/requests/:id",
    visit(desk, async (one) => {
      const approval = await approvalIn(desk, one);
      if (approval !== undefined) await showConfirmed(desk, one, approval);
    }),
  );
  router.post(
    "/requests/:id",
    visit(desk, async (one) => {
      const approval = await approvalIn(desk, one);
      if (approval !== undefined) await answer(desk, one, approval);
    }),
  );
}

/** Returns the approval that the URL names, if the user may see it. Otherwise sends a refusal. */
async function approvalIn(desk: Desk, { req, res, session }: Visit): Promise<Approval | undefined> {
  const id = idIn(req);
  const approval = await desk.approvals.get(id);
  if (approval !== undefined && canSee(desk, approval, session)) return approval;
  const refusal = REFUSALS[approval === undefined ? "approval_unknown" : "approver_denied"];
  sendRefusal(desk, req, res, approval === undefined ? refusal : { ...refusal, record: id });
  return undefined;
}

async function answer(desk: Desk, one: Visit, approval: Approval): Promise<void> {
  const { req, res, session } = one;
  const form = formOf(req);
  const fields = fieldsOf(approval, desk);
  const wanted = form.text("answer");
  const reason = form.text("reason").trim();
  const known = namesOf(fields);
  const stale = form.text("form") !== fields.form || form.names().some((name) => !known.has(name));
  const limits = readLimits(form, fields, approval.subject, desk.now());
  const confirmation = desk.confirmations.of(req, session, confirmableOf(approval));
  const again = confirmation === undefined ? {} : { confirmation };
  if (
    wanted !== "deny" &&
    stale &&
    canAnswer(desk, approval, session) &&
    approval.state === "pending"
  ) {
    return showRequest(desk, one, approval, { ...again, notice: STALE, status: 409 });
  }
  if (wanted !== "deny" && limits.problems.length > 0) {
    return showRequest(desk, one, approval, { ...again, form, limits, status: 400 });
  }
  if (wanted !== "deny" && wanted !== "approve") {
    return showRequest(desk, one, approval, { ...again, form, limits });
  }
  const outcome = await decide(desk, one, approval, {
    answer: wanted,
    digest: form.text("digest"),
    ...(wanted === "approve" && fields.grants.length > 0
      ? { granted: limits.granted, hops: limits.hops }
      : {}),
    ...(reason === "" ? {} : { reason }),
  });
  if (outcome === undefined) return;
  if (outcome.ok) return goTo(desk, res, pathOf(approval));
  if (outcome.code === "digest_mismatch") {
    return showRequest(desk, one, approval, { notice: STALE, status: 409 });
  }
  if (outcome.code === "hop_invalid") {
    const problem = { field: "reason", message: `This cannot be kept: ${outcome.message}.` };
    return showRequest(desk, one, approval, {
      form,
      limits: { ...limits, problems: [problem] },
      status: 400,
    });
  }
  const { id: record } = approval;
  return sendRefusal(desk, req, res, { ...REFUSALS[outcome.code], record, recorded: true });
}

/**
 * Records the user's decision. To approve, the user must have signed in again for this request. To deny, the
 * session is enough.
 *
 * @returns The outcome; `undefined` if the user must sign in first.
 */
async function decide(
  desk: Desk,
  visit: Visit,
  approval: Approval,
  answer: ApproverAnswer,
): Promise<DecisionOutcome | undefined> {
  const { req, session } = visit;
  const by = { principal: session.principal, userCode: enteredCode(approval, session) };
  if (answer.answer === "approve") {
    // If the decision would be refused anyway, the user need not sign in.
    const tentative = desk.approvals.tryDecision(approval, by, answer);
    if (!tentative.ok) {
      desk.record({ ...REFUSALS[tentative.code], record: approval.id }, session);
      return tentative;
    }
    const form = formOf(req).without(["csrf", "digest", "answer"]);
    const deed = { ...confirmableOf(approval), ...weightOf(desk, approval), form };
    const words = { verb: "approve", to: pathOf(approval) };
    if (!(await confirm(desk, visit, { ...deed, ...words }))) return undefined;
  }
  return desk.approvals.decide(approval.id, by, answer);
}

function confirmableOf({ id, digest }: Approval): Confirmable {
  return { what: id, digest };
}

function weightOf({ onlyReads }: Desk, approval: Approval): { readonly weighty: boolean } {
  return { weighty: isWeighty(approval, onlyReads) };
}

function pathOf({ id }: Approval): string {
  return `/requests/${encodeURIComponent(id)}`;
}

/** Shows a request. If the user has signed in to approve it, fills in the form as it was before the sign-in. */
async function showConfirmed(desk: Desk, one: Visit, approval: Approval): Promise<void> {
  const confirmation = desk.confirmations.of(one.req, one.session, confirmableOf(approval));
  if (confirmation === undefined || !isAnswerable(desk, approval, one.session)) {
    return showRequest(desk, one, approval);
  }
  const fields = fieldsOf(approval, desk);
  const form = new Form(confirmation.form);
  if (form.text("form") !== fields.form) {
    const notice = confirmation.form === "" ? TOO_LONG : STALE;
    return showRequest(desk, one, approval, { confirmation, notice });
  }
  const limits = readLimits(form, fields, approval.subject, desk.now());
  const all = limits.granted.length === fields.grants.length;
  if (all && Object.keys(limits.hops).length === 0 && limits.problems.length === 0) {
    return showRequest(desk, one, approval, { confirmation });
  }
  return showRequest(desk, one, approval, { confirmation, form, limits });
}

interface Again {
  readonly form?: ReturnType<typeof formOf>;
  readonly limits?: ReturnType<typeof readLimits>;
  readonly confirmation?: Confirmation;
  readonly notice?: string;
  readonly status?: number;
}

async function showRequest(
  desk: Desk,
  { req, res, session }: Visit,
  approval: Approval,
  { form, limits, confirmation, notice, status = 200 }: Again = {},
): Promise<void> {
  const { host } = approval.subject;
  const known = host === undefined ? undefined : await desk.parties.host(host.id);
  const parts = requestPage({
    desk,
    approval,
    session,
    now: desk.now(),
    fields: fieldsOf(approval, desk),
    answerable: isAnswerable(desk, approval, session),
    assurance: assuranceOf(desk, weightOf(desk, approval), confirmation),
    asker: {
      unknown: isOfStranger(approval),
      ...(known === undefined
        ? { defaults: [] }
        : { hostSince: known.created, defaults: desk.parties.defaultsOf(known) }),
    },
    ...(host === undefined ? {} : { before: await givenBefore(desk, session.principal, host.id) }),
    ...(form === undefined || limits === undefined ? {} : { sent: { form, limits } }),
    ...(notice === undefined ? {} : { notice }),
  });
  show(desk, req, res, parts, status);
}

/** Returns whether the user of a session can approve or deny a request now. */
function isAnswerable(desk: Desk, approval: Approval, session: Session): boolean {
  const decided = approval.decisions.some(({ approver }) => approver === session.principal);
  return approval.state === "pending" && canAnswer(desk, approval, session) && !decided;
}
