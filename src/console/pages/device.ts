import type { Router } from "express";
import { html } from "../../http/markup/markup.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { formOf } from "../form.js";
import { REFUSALS } from "../refusals.js";
import { canAnswer, canSee } from "../request-access.js";
import type { Session } from "../sessions.js";
import { query, visit } from "../visit.js";
import { csrf, type PageParts, problem, type Whereabouts } from "./layout.js";

/**
 * Adds the pages where the user enters an agent's code: `verification_uri`, and `verification_uri_complete`,
 * which contains the code.
 */
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
          status: 429,
          code: "code_attempts",
          title: "Too many wrong codes",
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

/** The contents of the field for the code. */
interface EnteredCode {
  readonly code: string;
  /** True if the URL contained the code. */
  readonly given?: boolean;
  readonly wrong?: string;
}

/** Renders the page where a user enters the code that an agent shows. */
function devicePage(
  { base }: Whereabouts,
  session: Session,
  { code, given = false, wrong }: EnteredCode,
): PageParts {
  const main = html`${problem("user_code", wrong)}<form method="post" action="${base}/device" class="card code" novalidate>${csrf(session)}
<p class="warning">Go on only if <strong>you</strong> started an agent just now that shows you this code. If someone sent you the code or this link, close this page.</p>
${given && html`<p>The code came with the link. Compare it with the one that the agent shows.</p>`}
<div class="field"><label for="user_code">Code that the agent shows</label>
<p class="hint" id="user_code-hint">8 letters, such as BCDF-GHJK</p>
<input type="text" id="user_code" name="user_code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" maxlength="32" required aria-describedby="user_code-hint"${wrong !== undefined && html` aria-invalid="true"`} value="${code}"></div>
<button type="submit" class="main">Continue</button>
</form>`;
  return { title: "Enter a code", main, wrong: wrong !== undefined };
}
