import { html, type Markup, moment, type Part } from "../../http/markup/markup.js";

/** The evidence that the user, and not a program in the browser, confirms an action. */
export type Assurance =
  | { readonly kind: "development" }
  | {
      readonly kind: "openid";
      /** The identity provider's name, as users know it. */
      readonly issuer: string;
      /**
       * `not needed`: the action needs no proof of presence. `checked`: the console checks the proof.
       * `unchecked`: the action needs the proof, but the console cannot check it.
       */
      readonly presence: "not needed" | "checked" | "unchecked";
      /** The expiry of the sign-in for this action, in milliseconds since 1970; absent before the sign-in. */
      readonly until?: number;
    };

/**
 * Says that the user has signed in for the action; `undefined` before the sign-in.
 *
 * @param verb - The action after "to", such as `approve`.
 */
export function confirmedWords(assurance: Assurance, verb: string, now: number): Part {
  if (assurance.kind === "development" || assurance.until === undefined) return undefined;
  const { until } = assurance;
  return html`<p class="good" role="status">You have signed in to ${verb}. It counts until ${moment(until, now)}.</p>`;
}

/**
 * Explains the required sign-in, and what the console does not check.
 *
 * @param verb - The action after "to", such as `approve`.
 */
export function assuranceWords(assurance: Assurance, verb: string): Markup {
  if (assurance.kind === "development") {
    return html`<p class="note">Development sign-in: to ${verb} takes no further sign-in, and does not show that you are there.</p>`;
  }
  const { issuer, presence, until } = assurance;
  const how = presence === "checked" && ", in a way that shows that you are there";
  return html`${
    until === undefined &&
    html`<p class="note">To ${verb}, you sign in once more at ${issuer}${how}.</p>`
  }${
    presence === "unchecked" &&
    html`<p class="note">This server does not check that you are there in person: a password alone is enough to ${verb}.</p>`
  }`;
}
