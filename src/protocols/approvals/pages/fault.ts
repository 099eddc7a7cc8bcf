import { html, type Part } from "../markup/markup.js";
import type { PageParts, Whereabouts } from "./layout.js";

/** What a user is shown of something that was refused. */
export interface FaultParts {
  readonly title: string;
  /** What happened, and what to do now. */
  readonly message: Part;
  /** Whether signing in as another user may help. */
  readonly otherUser?: boolean;
}

/** A page that says what happened. */
export function faultPage(
  { base }: Whereabouts,
  { title, message, otherUser = false }: FaultParts,
): PageParts {
  const main = html`<div class="card"><p>${message}</p>
<p><a href="${base}">To the waiting approvals</a></p>
${otherUser && html`<p><a href="${base}/login?again=1">Sign in as another user</a></p>`}</div>`;
  return { title, main };
}
