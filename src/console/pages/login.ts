import type { Router } from "express";
import { html } from "../../http/markup/markup.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { formOf } from "../form.js";
import type { DevelopmentLogin, LoginOutcome, OpenIdLogin } from "../login/login.js";
import { query, visit } from "../visit.js";
import { finishConfirming, refusalOfUse, UNAVAILABLE, USED } from "./confirming.js";
import { type PageParts, problem, type Whereabouts } from "./layout.js";

/** Adds the routes for signing in to the console, and for signing in again to confirm an action. */
export function loginRoutes(desk: Desk, router: Router): void {
  if (desk.login.kind === "openid") openIdRoutes(desk, router, desk.login);
  else developmentRoutes(desk, router, desk.login);
  router.get("/signed-out", (req, res) => show(desk, req, res, signedOutPage(desk)));
}

/** Adds the route that signs a user out. */
export function logoutRoute(desk: Desk, router: Router): void {
  router.post(
    "/logout",
    visit(desk, async ({ res, session }) => {
      desk.sessions.end(res, session);
      goTo(desk, res, "/signed-out");
    }),
  );
}

function openIdRoutes(desk: Desk, router: Router, login: OpenIdLogin): void {
  const callback = `${desk.url}/callback`;
  router.get("/login", async (req, res) => {
    let begun: Awaited<ReturnType<OpenIdLogin["begin"]>>;
    try {
      begun = await login.begin(callback, query(req, "again") === "" ? "any" : "fresh");
    } catch (error) {
      desk.onFailure(error, "sign-in");
      return sendRefusal(desk, req, res, UNAVAILABLE);
    }
    desk.signIns.put(res, { ...begun.state, to: pathTo(desk, query(req, "to")) });
    return res.redirect(303, begun.url);
  });
  router.get("/callback", async (req, res) => {
    const kept = desk.signIns.take(req, res);
    if (kept === undefined) {
      return sendRefusal(desk, req, res, {
        status: 400,
        code: "login_unknown",
        title: "Sign in again",
        message:
          "This browser has no sign-in under way: it took too long, or was begun in another window.",
        otherUser: true,
      });
    }
    const { to, confirming } = kept;
    const answer = new URL(callback);
    answer.search = new URL(req.originalUrl, desk.origin).search;
    let outcome: LoginOutcome;
    try {
      outcome = await login.finish(answer, kept);
    } catch (error) {
      desk.onFailure(error, "sign-in");
      return sendRefusal(desk, req, res, UNAVAILABLE);
    }
    if (!outcome.ok) {
      return sendRefusal(desk, req, res, {
        status: 403,
        code: "login_refused",
        title: "Not signed in",
        message: outcome.message,
        ...(confirming === undefined ? { otherUser: true } : { back: to }),
      });
    }
    if (confirming !== undefined) {
      const finished = { login, signedIn: outcome, confirming, to };
      return finishConfirming(desk, req, res, finished);
    }
    // Record the use, so that this sign-in cannot also confirm an action, even if clocks differ.
    const noted = await refusalOfUse(desk, outcome, desk.now());
    if (noted !== undefined && noted !== USED) return sendRefusal(desk, req, res, noted);
    desk.sessions.start(res, outcome.principal);
    return goTo(desk, res, to);
  });
}

function developmentRoutes(desk: Desk, router: Router, login: DevelopmentLogin): void {
  router.get("/login", (req, res) => {
    show(desk, req, res, developmentPage(desk, pathTo(desk, query(req, "to"))));
  });
  router.post("/login", async (req, res) => {
    const form = formOf(req);
    const to = pathTo(desk, `${desk.base}${form.text("to")}`);
    const outcome = await login.check(form.text("token"));
    if (outcome.ok) {
      desk.sessions.start(res, outcome.principal);
      return goTo(desk, res, to);
    }
    desk.record({ status: 403, code: "login_refused", title: "", message: "" }, undefined);
    return show(desk, req, res, developmentPage(desk, to, outcome.message), 403);
  });
}

/** Returns a redirect target, relative to the console; an empty string if the target is outside the console. */
function pathTo({ base, origin }: Desk, wanted: string): string {
  if (!URL.canParse(wanted, origin)) return "";
  const url = new URL(wanted, origin);
  if (url.origin !== origin || !url.pathname.startsWith(`${base}/`)) return "";
  return `${url.pathname.slice(base.length)}${url.search}`;
}

/** Renders the page for signing in with a development token. */
function developmentPage({ base }: Whereabouts, to: string, wrong?: string): PageParts {
  const main = html`${problem("token", wrong)}<p class="warning"><strong>Development only.</strong> This agent has no identity provider: a party that knows a development token is that user.</p>
<form method="post" action="${base}/login" class="card">
<input type="hidden" name="to" value="${to}">
<div class="field"><label for="token">Development token</label>
<input type="password" id="token" name="token" autocomplete="off" required${wrong !== undefined && html` aria-invalid="true"`}></div>
<button type="submit" class="main">Sign in</button>
</form>`;
  return { title: "Sign in", main, wrong: wrong !== undefined };
}

/** Renders the page that is shown after signing out. */
function signedOutPage({ base }: Whereabouts): PageParts {
  const main = html`<div class="card"><p>You are signed out of the approvals console. Your identity provider may still know you.</p>
<p><a href="${base}/login">Sign in</a></p></div>`;
  return { title: "Signed out", main };
}
