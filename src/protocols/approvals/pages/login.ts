import { html } from "../markup/markup.js";
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
