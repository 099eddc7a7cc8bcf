import type { Router } from "express";
import type { Approval } from "../../../agent/approvals/approval.js";
import { type Desk, goTo, refuse, show } from "../desk.js";
import { formOf } from "../form.js";
import { fieldsOf, namesOf } from "../limits/fields.js";
import { readLimits } from "../limits/read-limits.js";
import { requestPage, waitingPage } from "../pages/requests.js";
import { REFUSALS, STALE } from "./refusals.js";
import { canAnswer, canSee, enteredCode, givenBefore } from "./standing.js";
import { idIn, type Visit, visit } from "./visit.js";

/** What waits for the user, and one request: shown, and answered. */
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
      const approval = await found(desk, one);
      if (approval !== undefined) await showRequest(desk, one, approval);
    }),
  );
  router.post(
    "/requests/:id",
    visit(desk, async (one) => {
      const approval = await found(desk, one);
      if (approval !== undefined) await answer(desk, one, approval);
    }),
  );
}

/** The approval that is asked for, if the user may see it; else it is refused. */
async function found(desk: Desk, { req, res, session }: Visit): Promise<Approval | undefined> {
  const id = idIn(req);
  const approval = await desk.approvals.get(id);
  if (approval !== undefined && canSee(approval, session)) return approval;
  const refusal = REFUSALS[approval === undefined ? "approval_unknown" : "approver_denied"];
  refuse(desk, req, res, approval === undefined ? refusal : { ...refusal, record: id });
  return undefined;
}

async function answer(desk: Desk, one: Visit, approval: Approval): Promise<void> {
  const { req, res, session } = one;
  const form = formOf(req);
  const fields = fieldsOf(approval, desk.argumentsOf);
  const wanted = form.text("answer");
  const known = namesOf(fields);
  const stale = form.text("form") !== fields.form || form.names().some((name) => !known.has(name));
  const limits = readLimits(form, fields, approval.subject, desk.now());
  if (wanted !== "deny" && stale && canAnswer(approval, session) && approval.state === "pending") {
    return showRequest(desk, one, approval, { notice: STALE, status: 409 });
  }
  if (wanted !== "deny" && limits.problems.length > 0) {
    return showRequest(desk, one, approval, { form, limits, status: 400 });
  }
  if (wanted !== "deny" && wanted !== "approve") {
    return showRequest(desk, one, approval, { form, limits });
  }
  const reason = form.text("reason").trim();
  const outcome = await desk.approvals.decide(
    approval.id,
    { principal: session.principal, userCode: enteredCode(approval, session) },
    {
      ...{ answer: wanted, digest: form.text("digest") },
      ...(wanted === "approve" && fields.grants.length > 0
        ? { granted: limits.granted, hops: limits.hops }
        : {}),
      ...(reason === "" ? {} : { reason }),
    },
  );
  if (outcome.ok) return goTo(desk, res, `/requests/${encodeURIComponent(approval.id)}`);
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
  return refuse(desk, req, res, { ...REFUSALS[outcome.code], record, recorded: true });
}

interface Again {
  readonly form?: ReturnType<typeof formOf>;
  readonly limits?: ReturnType<typeof readLimits>;
  readonly notice?: string;
  readonly status?: number;
}

async function showRequest(
  desk: Desk,
  { req, res, session }: Visit,
  approval: Approval,
  { form, limits, notice, status = 200 }: Again = {},
): Promise<void> {
  const { host } = approval.subject;
  const known = host === undefined ? undefined : await desk.registry.host(host.id);
  const linked = known?.principal === session.principal;
  const parts = requestPage({
    ...{ desk, approval, session, now: desk.now() },
    fields: fieldsOf(approval, desk.argumentsOf),
    answerable:
      approval.state === "pending" &&
      canAnswer(approval, session) &&
      !decided(approval, session.principal),
    asker: { ...(known === undefined ? {} : { hostSince: known.created }), hostLinked: linked },
    ...(host === undefined ? {} : { before: await givenBefore(desk, session.principal, host.id) }),
    ...(form === undefined || limits === undefined ? {} : { sent: { form, limits } }),
    ...(notice === undefined ? {} : { notice }),
  });
  show(desk, req, res, parts, status);
}

function decided({ decisions }: Approval, principal: string): boolean {
  return decisions.some(({ approver }) => approver === principal);
}
