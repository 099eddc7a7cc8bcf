import type { Router } from "express";
import { isObject } from "../../../bytes/json.js";
import { type Desk, goTo, type Refusal, refuse, show } from "../desk.js";
import { formOf } from "../form.js";
import type { DevelopmentLogin, LoginState, OpenIdLogin } from "../login/login.js";
import { developmentPage, signedOutPage } from "../pages/login.js";
import { type CookieOptions, SealedCookie } from "../session/cookies.js";
import { query, visit } from "./visit.js";

/** Milliseconds that a sign-in may take. */
const SIGN_IN = 15 * 60 * 1000;

/** What a browser keeps while its user signs in. */
interface SignIn extends LoginState {
  /** The path to go to then, below the console's. */
  readonly to: string;
}

/** Signing in, for users that are not. */
export function loginRoutes(
  desk: Desk,
  router: Router,
  cookies: Pick<CookieOptions, "seal" | "secure" | "clock">,
  onFailure: (error: unknown, what: string) => void,
): void {
  if (desk.login.kind === "openid") openIdRoutes(desk, router, desk.login, cookies, onFailure);
  else developmentRoutes(desk, router, desk.login);
  router.get("/signed-out", (req, res) => show(desk, req, res, signedOutPage(desk)));
}

/** Signing out. */
export function logoutRoute(desk: Desk, router: Router): void {
  router.post(
    "/logout",
    visit(desk, async ({ res, session }) => {
      desk.sessions.end(res, session);
      goTo(desk, res, "/signed-out");
    }),
  );
}

function openIdRoutes(
  desk: Desk,
  router: Router,
  login: OpenIdLogin,
  cookies: Pick<CookieOptions, "seal" | "secure" | "clock">,
  onFailure: (error: unknown, what: string) => void,
): void {
  const cookie = new SealedCookie({
    ...{ name: "proviso-approvals-login", purpose: "console-login" },
    ...cookies,
  });
  const callback = `${desk.url}/callback`;
  const unavailable: Refusal = {
    ...{ status: 503, code: "login_unavailable", title: "Sign-in is not possible now" },
    message:
      "The identity provider cannot be reached, or does not answer as it should. Try again soon.",
    ...{ retryAfter: 5, recorded: true },
  };
  router.get("/login", async (req, res) => {
    let begun: Awaited<ReturnType<OpenIdLogin["begin"]>>;
    try {
      begun = await login.begin(callback, query(req, "again") !== "");
    } catch (error) {
      onFailure(error, "sign-in");
      return refuse(desk, req, res, unavailable);
    }
    const kept: SignIn = { ...begun.state, to: pathTo(desk, query(req, "to")) };
    cookie.write(res, JSON.stringify(kept), desk.now() + SIGN_IN);
    return res.redirect(303, begun.url);
  });
  router.get("/callback", async (req, res) => {
    const kept = signInFrom(cookie.read(req));
    // A code is good once, whatever comes of it.
    cookie.clear(res);
    if (kept === undefined) {
      return refuse(desk, req, res, {
        ...{ status: 400, code: "login_unknown", title: "Sign in again" },
        message:
          "This browser has no sign-in under way: it took too long, or was begun in another window.",
        otherUser: true,
      });
    }
    const answer = new URL(callback);
    answer.search = new URL(req.originalUrl, desk.origin).search;
    try {
      const outcome = await login.finish(answer, kept);
      if (!outcome.ok) {
        return refuse(desk, req, res, {
          ...{ status: 403, code: "login_refused", title: "Not signed in" },
          ...{ message: outcome.message, otherUser: true },
        });
      }
      desk.sessions.start(res, outcome.principal);
    } catch (error) {
      onFailure(error, "sign-in");
      return refuse(desk, req, res, unavailable);
    }
    return goTo(desk, res, kept.to);
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

/** A path of the console, from below its own, by which nothing else can be reached. */
function pathTo({ base, origin }: Desk, wanted: string): string {
  if (!URL.canParse(wanted, origin)) return "";
  const url = new URL(wanted, origin);
  if (url.origin !== origin || !url.pathname.startsWith(`${base}/`)) return "";
  return `${url.pathname.slice(base.length)}${url.search}`;
}

function signInFrom(text: string | undefined): SignIn | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { state, nonce, verifier, to } = value;
  const texts = [state, nonce, verifier, to];
  if (!texts.every((one) => typeof one === "string")) return undefined;
  const [a = "", b = "", c = "", d = ""] = texts;
  return { state: a, nonce: b, verifier: c, to: d };
}
