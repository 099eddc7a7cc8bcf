import type { Router } from "express";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { formOf } from "../form.js";
import { devicePage } from "../pages/device.js";
import { canAnswer, canSee } from "../request-access.js";
import { REFUSALS } from "./refusals.js";
import { query, visit } from "./visit.js";

/** Entering the code that an agent shows: `verification_uri`, with the code in `verification_uri_complete`. */
export function deviceRoutes(desk: Desk, router: Router): void {
  router.get(
    "/device",
    visit(desk, async ({ req, res, session }) => {
      const code = query(req, "user_code").slice(0, 32);
      show(desk, req, res, devicePage(desk, session, { code, given: code !== "" }));
    }),
  );
  router.post(
    "/device",
    visit(desk, async ({ req, res, session }) => {
      const wait = await desk.attempts.take(session);
      if (wait !== undefined) {
        return sendRefusal(desk, req, res, {
          ...{ status: 429, code: "code_attempts", title: "Too many wrong codes" },
          message: `Wait ${Math.ceil(wait / 60)} minutes, then ask the agent for a new code and enter that.`,
          retryAfter: wait,
        });
      }
      const code = formOf(req).text("user_code").slice(0, 64);
      const approval = await desk.approvals.byUserCode(code);
      if (approval?.state === "expired") {
        return sendRefusal(desk, req, res, { ...REFUSALS.approval_expired, record: approval.id });
      }
      if (
        approval === undefined ||
        (approval.state !== "pending" && !canSee(desk, approval, session))
      ) {
        desk.record({ status: 400, code: "user_code_invalid", title: "", message: "" }, session);
        const wrong =
          "No request has this code now. Compare it with what the agent shows: 8 letters, no vowels, no digits.";
        return show(desk, req, res, devicePage(desk, session, { code, wrong }), 400);
      }
      await desk.attempts.right(session);
      const entered = { ...session, codes: [[approval.id, code] as const] };
      if (canAnswer(desk, approval, entered))
        desk.sessions.entered(res, session, approval.id, code);
      return goTo(desk, res, `/requests/${encodeURIComponent(approval.id)}`);
    }),
  );
}
