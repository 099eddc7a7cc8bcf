import { randomBytes } from "node:crypto";
import type { Request, Response } from "express";
import { encodeBase64url } from "../../bytes/base64.js";
import { html } from "../../http/markup/markup.js";
import {
  type Confirmable,
  type Confirmation,
  type Confirming,
  endOf,
  formToKeep,
} from "../confirmations.js";
import { type Desk, goTo, type Refusal, sendRefusal, show } from "../desk.js";
import type { OpenIdLogin, SignedIn } from "../login/login.js";
import type { Session } from "../sessions.js";
import type { Visit } from "../visit.js";
import type { Assurance } from "./assurance.js";
import type { PageParts } from "./layout.js";

/** An action that the user must confirm by signing in again, with the texts for its pages. */
interface Deed extends Confirmable {
  /**
   * True if the action changes data or links a host. If the login checks presence, the sign-in must then prove
   * the user's presence.
   */
  readonly weighty: boolean;
  /** The action after "to", such as `approve`. */
  readonly verb: string;
  /** The path of the action's page, relative to the console. */
  readonly to: string;
  /** The form as the user filled it in, URL-encoded. */
  readonly form: string;
}

/** The refusal of an action if this server cannot reach the identity provider. */
export const UNAVAILABLE: Refusal = {
  status: 503,
  code: "login_unavailable",
  title: "Sign-in is not possible now",
  message:
    "The identity provider cannot be reached, or does not answer as it should. Try again soon.",
  retryAfter: 5,
  recorded: true,
};

/** The refusal of an action if this server has no space to record that the sign-in has been used. */
const FULL: Refusal = {
  status: 503,
  code: "used_once_full",
  title: "Not possible now",
  message:
    "This server has no room to note that your sign-in has been used, so nothing was confirmed. Go back, and try again in a minute.",
  retryAfter: 60,
  recorded: true,
};

/**
 * Uses up the confirmation of an action. If there is none, sends the user to sign in for the action.
 *
 * A development sign-in needs no confirmation, since no identity provider could authenticate the user again.
 *
 * @returns True if the action may be performed now. Otherwise the request has been answered.
 */
export async function confirm(desk: Desk, visit: Visit, deed: Deed): Promise<boolean> {
  const { login } = desk;
  if (login.kind === "development") return true;
  const { req, res, session } = visit;
  const present = deed.weighty && login.checksPresence;
  const found = desk.confirmations.of(req, session, deed);
  desk.confirmations.clear(res);
  if (found !== undefined && (found.present || !present)) {
    // The database records the use. A copy of the cookie is then useless even at another process whose clock is
    // slow.
    const use = { scope: "console-confirmation", id: found.id, expires: endOf(found) + KEPT };
    const outcome = await desk.parties.useOnce(use);
    if (outcome === "first") return true;
    if (outcome !== "used") {
      sendRefusal(desk, req, res, FULL);
      return false;
    }
  }
  await begin(desk, visit, deed, login, present);
  return false;
}

async function begin(
  desk: Desk,
  { req, res, session }: Visit,
  { what, digest, to, verb, form }: Deed,
  login: OpenIdLogin,
  present: boolean,
): Promise<void> {
  const kept = formToKeep(form);
  const began = desk.now();
  let begun: Awaited<ReturnType<OpenIdLogin["begin"]>>;
  try {
    begun = await login.begin(`${desk.url}/callback`, present ? "present" : "fresh");
  } catch (error) {
    desk.onFailure(error, "sign-in");
    return sendRefusal(desk, req, res, UNAVAILABLE);
  }
  const confirming = { what, digest, session: session.id, began, present, form: kept };
  desk.signIns.put(res, { ...begun.state, to, confirming });
  show(desk, req, res, confirmPage({ url: begun.url, issuer: login.issuer, verb }));
}

/** Returns the evidence that an action needs, for the action's page. */
export function assuranceOf(
  { login }: Desk,
  { weighty }: Pick<Deed, "weighty">,
  confirmation: Confirmation | undefined,
): Assurance {
  if (login.kind === "development") return { kind: "development" };
  return {
    kind: "openid",
    issuer: login.issuer,
    presence: !weighty ? "not needed" : login.checksPresence ? "checked" : "unchecked",
    ...(confirmation === undefined ? {} : { until: endOf(confirmation) }),
  };
}

/** A completed sign-in, and the action that it was to confirm. */
interface Finished {
  readonly login: OpenIdLogin;
  readonly signedIn: SignedIn;
  readonly confirming: Confirming;
  /** The path of the page to return to. */
  readonly to: string;
}

/** Stores the confirmation that a sign-in gives. If it gives none, sends the reason. */
export async function finishConfirming(
  desk: Desk,
  req: Request,
  res: Response,
  { login, signedIn, confirming, to }: Finished,
): Promise<void> {
  const now = desk.now();
  const session = desk.sessions.of(req);
  const refusal =
    refusalOf(signedIn, confirming, session, login, now) ??
    (await refusalOfUse(desk, signedIn, now));
  if (refusal !== undefined) return sendRefusal(desk, req, res, { ...refusal, back: to });
  desk.confirmations.put(res, { ...confirming, id: encodeBase64url(randomBytes(18)) });
  return goTo(desk, res, to);
}

/**
 * Records that an authentication has been used. An authentication is identified by its user and its time in seconds.
 * Each authentication can confirm only one action: a program that controls the browser cannot use it for other actions
 * that the program has started.
 *
 * @returns A refusal if the authentication was used before, or if there is no space to record the use; otherwise
 *   `undefined`.
 */
export async function refusalOfUse(
  { parties }: Pick<Desk, "parties">,
  { principal, authTime }: SignedIn,
  now: number,
): Promise<Refusal | undefined> {
  // An authentication without a time cannot confirm an action, so there is nothing to record.
  if (authTime === undefined) return undefined;
  const outcome = await parties.useOnce({
    scope: "console-authentication",
    id: JSON.stringify([principal, authTime]),
    expires: now + KEPT,
  });
  if (outcome === "first") return undefined;
  return outcome === "used" ? USED : FULL;
}

/**
 * A used authentication is remembered for this many milliseconds. After that time, every confirmation that was
 * started before the use has expired.
 */
const KEPT = 10 * 60 * 1000;

function refusalOf(
  { principal, authTime, present }: SignedIn,
  confirming: Confirming,
  session: Session | undefined,
  { clockSkew }: OpenIdLogin,
  now: number,
): Refusal | undefined {
  if (session === undefined || session.id !== confirming.session) return OTHER_SESSION;
  if (session.principal !== principal) return OTHER_USER;
  if (endOf(confirming) <= now) return TOO_LATE;
  if (authTime === undefined) return NO_AUTH_TIME;
  // The claim has whole seconds, so an authentication in the same second as the request is accepted.
  if (!(authTime >= Math.floor(confirming.began / 1000) - clockSkew)) return STALE;
  // If the claim were in milliseconds, or from a fast clock, every sign-in would look recent.
  if (!(authTime <= Math.ceil(now / 1000) + clockSkew)) return AHEAD;
  if (confirming.present && present !== true) return NOT_PRESENT;
  return undefined;
}

const NOTHING = "so nothing was confirmed. Go back, and try again.";

const OTHER_SESSION: Refusal = {
  status: 403,
  code: "confirmation_of_other_session",
  title: "Signed out meanwhile",
  message: `Your session in the console ended while you signed in, ${NOTHING}`,
};
const OTHER_USER: Refusal = {
  status: 403,
  code: "confirmation_by_other_user",
  title: "Another user signed in",
  message: `You signed in as another user than the one of this session, ${NOTHING}`,
};
const TOO_LATE: Refusal = {
  status: 403,
  code: "confirmation_late",
  title: "Too late",
  message: `The sign-in took longer than 5 minutes, ${NOTHING}`,
};
const NO_AUTH_TIME: Refusal = {
  status: 403,
  code: "auth_time_missing",
  title: "Not confirmed",
  message:
    'The identity provider does not say when you signed in (the claim "auth_time" of its ID token), so a new sign-in looks like an old one. Nothing was confirmed; the operator of this agent can have the provider add the claim.',
};
const STALE: Refusal = {
  status: 403,
  code: "auth_time_stale",
  title: "Not confirmed",
  message: `The identity provider did not ask you to sign in again, ${NOTHING}`,
};
export const USED: Refusal = {
  status: 403,
  code: "authentication_used",
  title: "Not confirmed",
  message: `This sign-in has been used already, to open the console or to confirm something else, ${NOTHING} If that was not you, look at the history.`,
};
const AHEAD: Refusal = {
  status: 403,
  code: "auth_time_ahead",
  title: "Not confirmed",
  message:
    'The identity provider gives a time for your sign-in that is still to come, so nothing was confirmed. Its clock and this server\'s differ; the operator of this agent can allow for some seconds with "clockSkew".',
};
const NOT_PRESENT: Refusal = {
  status: 403,
  code: "presence_missing",
  title: "Not confirmed",
  message:
    "The identity provider does not report that you signed in by a way that shows that you are there, such as a security key, so nothing was confirmed. Go back, and sign in that way.",
};

/** The texts of the page made by {@link confirmPage}. */
interface ConfirmParts {
  /** The URL where the user signs in. */
  readonly url: string;
  /** The identity provider's name, as users know it. */
  readonly issuer: string;
  /** The action after "to", such as `approve`. */
  readonly verb: string;
}

/**
 * Renders a page that sends the user to the identity provider. The form itself cannot redirect to the provider,
 * because `form-action` also applies to redirects.
 */
function confirmPage({ url, issuer, verb }: ConfirmParts): PageParts {
  const main = html`<div class="card"><p>Nothing is done yet. Sign in once more at <b>${issuer}</b> to ${verb}; you come back here then.</p>
<p><a class="button main" href="${url}">Sign in to ${verb}</a></p></div>`;
  return { title: `Sign in to ${verb}`, main, leadsTo: url };
}
