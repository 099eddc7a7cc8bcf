import { html } from "../../http/markup/markup.js";
import type { Session } from "../session/sessions.js";
import { csrf, type PageParts, problem, type Whereabouts } from "./layout.js";

/** What is in the field for the code. */
export interface EnteredCode {
  readonly code: string;
  /** Whether the code came with the address. */
  readonly given?: boolean;
  readonly wrong?: string;
}

/** Where a user enters the code that an agent shows. */
export function devicePage(
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
