import { html } from "../../http/markup/markup.js";
import { type PageParts, problem, type Whereabouts } from "./layout.js";

/** Signing in by a development token. */
export function developmentPage({ base }: Whereabouts, to: string, wrong?: string): PageParts {
  const main = html`${problem("token", wrong)}<p class="warning"><strong>Development only.</strong> This agent has no identity provider: a party that knows a development token is that user.</p>
<form method="post" action="${base}/login" class="card">
<input type="hidden" name="to" value="${to}">
<div class="field"><label for="token">Development token</label>
<input type="password" id="token" name="token" autocomplete="off" required${wrong !== undefined && html` aria-invalid="true"`}></div>
<button type="submit" class="main">Sign in</button>
</form>`;
  return { title: "Sign in", main, wrong: wrong !== undefined };
}

/** After signing out. */
export function signedOutPage({ base }: Whereabouts): PageParts {
  const main = html`<div class="card"><p>You are signed out of the approvals console. Your identity provider may still know you.</p>
<p><a href="${base}/login">Sign in</a></p></div>`;
  return { title: "Signed out", main };
}

/** What {@link confirmPage} says. */
interface ConfirmParts {
  /** Where the user signs in. */
  readonly url: string;
  /** What users know the identity provider by. */
  readonly issuer: string;
  /** What the sign-in is for, after "to". */
  readonly verb: string;
}

/**
 * Leads a user to the identity provider, to confirm something. A form cannot: `form-action` holds for what it is
 * redirected to, too.
 */
export function confirmPage({ url, issuer, verb }: ConfirmParts): PageParts {
  const main = html`<div class="card"><p>Nothing is done yet. Sign in once more at <b>${issuer}</b> to ${verb}; you come back here then.</p>
<p><a class="button main" href="${url}">Sign in to ${verb}</a></p></div>`;
  return { title: `Sign in to ${verb}`, main, leadsTo: url };
}
