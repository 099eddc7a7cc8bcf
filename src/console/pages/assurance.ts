import { html, type Markup, moment, type Part } from "../../http/markup/markup.js";

/** The level of certainty that the user pressed the button. */
export type Assurance =
  | { readonly kind: "development" }
  | {
      readonly kind: "openid";
      /** The name by which users know the identity provider. */
      readonly issuer: string;
      /** The check of the user's presence, if the action needs one. */
      readonly presence: "not needed" | "checked" | "unchecked";
      /** Milliseconds since 1970 until which a sign-in made for it counts; absent before it. */
      readonly until?: number;
    };

/** Says that the user has signed in for it; nothing before that. @param verb - After "to": `approve`. */
export function confirmedWords(assurance: Assurance, verb: string, now: number): Part {
  if (assurance.kind === "development" || assurance.until === undefined) return undefined;
  const { until } = assurance;
  return html`<p class="good" role="status">You have signed in to ${verb}. It counts until ${moment(until, now)}.</p>`;
}

/** Explains the required authentication, and what is not checked. @param verb - As in {@link confirmedWords}. */
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
