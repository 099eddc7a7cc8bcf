import { html, type Markup, moment, type Part } from "../../http/markup/markup.js";

/** The console's assurance that the user, and not a program, presses the button. */
export type Assurance =
  | { readonly kind: "development" }
  | {
      readonly kind: "openid";
      /** The name by which users know the identity provider. */
      readonly issuer: string;
      /** True if the console checks the user's presence where the action needs it. */
      readonly presence: "not needed" | "checked" | "unchecked";
      /** When the sign-in made for this action expires, in milliseconds since 1970; absent until there is one. */
      readonly until?: number;
    };

/**
 * Says that the user has signed in for the action; empty before that. @param verb - The action after "to", such
 * as `approve`.
 */
export function confirmedWords(assurance: Assurance, verb: string, now: number): Part {
  if (assurance.kind === "development" || assurance.until === undefined) return undefined;
  const { until } = assurance;
  return html`<p class="good" role="status">You have signed in to ${verb}. It counts until ${moment(until, now)}.</p>`;
}

/** Explains the required sign-in, and what is not checked. @param verb - As for {@link confirmedWords}. */
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
