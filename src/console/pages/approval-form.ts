import type { Approval, ApprovalSubject } from "../../agent/parties/records.js";
import type { Scalar, ScalarType } from "../../caveats/scalar.js";
import { html, type Markup, seconds } from "../../http/markup/markup.js";
import { trusted } from "../../http/markup/untrusted-text.js";
import { joined, leftWords, type TextByOrigin, textByOrigin } from "../hop-words.js";
import { mayLack } from "../limits/arguments.js";
import {
  type ApprovalFields,
  type ArgumentFields,
  BIND,
  type GrantFields,
  type OtherFields,
} from "../limits/fields.js";
import type { FieldProblem } from "../limits/read-values.js";
import type { Session } from "../sessions.js";
import { type Assurance, assuranceWords, confirmedWords } from "./assurance.js";
import {
  areaField,
  type FieldsShown,
  fieldsShown,
  option,
  type SentForm,
  textField,
  tick,
} from "./form-fields.js";
import { csrf } from "./layout.js";
import { LEGEND } from "./summary.js";

export interface ApprovalFormParts {
  readonly action: string;
  readonly approval: Approval;
  readonly fields: ApprovalFields;
  readonly session: Session;
  readonly assurance: Assurance;
  readonly now: number;
  readonly sent?: SentForm;
}

const APPROVE = html`<button type="submit" name="answer" value="approve" class="main">Approve</button> `;
const DENY = html`<button type="submit" name="answer" value="deny" class="stop">Deny</button> `;
const SHOW = html`<button type="submit" name="answer" value="check">Show what is left</button>`;

/** Renders the form in which a user limits a request, and then approves or denies it. */
export function approvalForm(parts: ApprovalFormParts): Markup {
  const { action, approval, fields, session, sent, assurance, now } = parts;
  const { digest } = approval;
  const field = fieldsShown(sent);
  const limitable = fields.grants.length > 0;
  return html`<form method="post" action="${action}" novalidate>
${csrf(session)}
<input type="hidden" name="digest" value="${digest}">
<input type="hidden" name="form" value="${fields.form}">
${defaultButton(limitable ? "check" : "deny")}
${confirmedWords(assurance, "approve", now)}
<div class="buttons">${APPROVE}${DENY}</div>
${assuranceWords(assurance, "approve")}
${limitable && HANDING_ON}
${LEGEND}
${limitable && limitFields(parts, field)}
<details${field.text("reason") !== "" && html` open`}><summary>Deny it with a reason</summary>
<div class="field">${field.wrong("reason")}<label for="reason">Why (the agent sees it)</label>
<input type="text" id="reason" name="reason" maxlength="500" autocomplete="off" value="${field.text("reason")}"></div>
</details>
</form>`;
}

/** Renders the first button of the form, which the Enter key presses. It must not approve the request. */
function defaultButton(answer: "check" | "deny"): Markup {
  return html`<button type="submit" name="answer" value="${answer}" class="default" tabindex="-1" aria-hidden="true">Enter</button>`;
}

function limitFields(
  { approval: { subject }, fields, sent }: ApprovalFormParts,
  field: FieldsShown,
): Markup {
  const several = fields.grants.length > 1;
  const wrong = (sent?.problems.length ?? 0) > 0;
  return html`<details${wrong && html` open`}><summary>Limit it</summary>
<p>Each field only takes something away from what is asked for. A field that is empty takes nothing away. Where you limit an argument, a call must have it, unless the words beside the argument say otherwise.</p>
${fields.grants.map((grant) => grantFields(grant, several, field))}
<fieldset><legend>How long</legend>
${field.wrong("lifetime")}
<p class="hint" id="lifetime-hint">Asked for: ${seconds(subject.lifetime)}. Leave this empty for all of it.</p>
<div class="pair">
<div class="field"><label for="lifetime">Ends after at most</label>
<input type="text" inputmode="numeric" id="lifetime" name="lifetime" autocomplete="off" value="${field.text("lifetime")}"${field.described("lifetime", true)}></div>
<div class="field"><label for="unit">Unit of that time</label>
<select id="unit" name="unit">${["minutes", "hours", "days"].map((unit) => option(unit, unit, field.text("unit")))}</select></div>
</div></fieldset>
<fieldset><legend>Handing on</legend>
${field.wrong(BIND)}
${tick(BIND, BIND, "yes", field.all(BIND)?.includes("yes") ?? false, "Bind it to this agent", field.described(BIND, true))}
<p class="hint" id="${BIND}-hint">${boundWords(subject)}</p></fieldset>
<div class="buttons">${SHOW}</div></details>`;
}

/** Renders the list of errors at the top of the page, with links to the fields. */
export function problemSummary(problems: readonly FieldProblem[]): Markup {
  return html`<div class="summary" role="alert" aria-labelledby="problems"><h2 id="problems">There is a problem</h2>
<ul>${problems.map(({ field, message }) => html`<li><a href="#${field}">${message}</a></li>`)}</ul></div>`;
}

function grantFields(grant: GrantFields, several: boolean, field: FieldsShown): Markup {
  const { asked, operations, closable, others, granted, keep } = grant;
  const ticked = field.all(granted)?.includes("yes") ?? true;
  const kept = field.all(keep);
  return html`<fieldset><legend>${trusted(asked.name ?? asked.grant)}</legend>
${
  several
    ? html`${field.wrong(granted)}${tick(granted, granted, "yes", ticked, "Grant this; if not ticked, it is denied")}`
    : html`<input type="hidden" name="${granted}" value="yes">`
}
${
  operations.length > 0 &&
  html`<fieldset id="${keep}" tabindex="-1"><legend>Operations</legend>${field.wrong(keep)}
${operations.map((one, at) =>
  tick(`${keep}-${at}`, keep, one, kept?.includes(one) ?? true, html`Keep ${trusted(one)}`),
)}</fieldset>`
}
${grant.arguments.map((one) => argumentFields(one, grant, field))}
${
  others.length > 0 &&
  html`<details><summary>Limit another argument</summary>${others.map((one, at) => otherFields(one, at, field))}</details>`
}
${closable.length > 0 && closableFields(grant, field)}
</fieldset>`;
}

function argumentFields(
  { argument, ...names }: ArgumentFields,
  { authority, left, own }: GrantFields,
  field: FieldsShown,
): Markup {
  const { name, types, choices, description } = argument;
  const byOrigin = textByOrigin(own);
  const lacking = left.filter((operation) => mayLack(argument, operation));
  return html`<fieldset><legend>Argument ${byOrigin.name(name)}</legend>
${description !== undefined && html`<p class="hint">${trusted(description)}</p>`}
<p class="hint">Asked for: ${leftWords(name, left, authority, byOrigin)}.</p>
${
  lacking.length > 0 &&
  html`<p class="hint">A limit also holds for these operations, whose calls may leave the argument out: ${joined(lacking.map(byOrigin.name))}.</p>`
}
${choices === undefined ? valueFields(types, names, field) : choiceFields(choices, names.in, byOrigin, field)}</fieldset>`;
}

function valueFields(
  types: readonly ScalarType[],
  names: Omit<ArgumentFields, "argument">,
  field: FieldsShown,
): Markup {
  const hint = types.length > 1 ? MIXED_HINT : undefined;
  const lists = html`<div class="pair">
${areaField("Only these values, one a line", names.in, field, hint)}
${areaField("None of these values, one a line", names.not_in, field, hint)}
</div>`;
  const texts = types.includes("string") && textFields(names, field);
  if (!types.includes("number")) return html`${lists}${texts}`;
  const bounds = html`<div class="pair">${textField("At least", names.min, true, field)}${textField("At most", names.max, true, field)}</div>`;
  if (types.length > 1) return html`${bounds}${lists}${texts}`;
  const used = [names.in, names.not_in].some((name) => field.text(name) !== "");
  return html`${bounds}<details${used && html` open`}><summary>Single values</summary>${lists}</details>`;
}

/** Renders the fields for limits that interpret a string as a path or a URL. */
function textFields({ path, url }: Omit<ArgumentFields, "argument">, field: FieldsShown): Markup {
  const used = [path, url].some((name) => field.text(name) !== "");
  return html`<details${used && html` open`}><summary>A folder or URLs</summary><div class="pair">
${textField("Under the folder", path, false, field, FOLDER_HINT)}
${areaField("A URL of, one a line", url, field, URL_HINT)}
</div></details>`;
}

function closableFields({ closable, granted, own }: GrantFields, field: FieldsShown): Markup {
  const byOrigin = textByOrigin(own);
  const hint = `${granted}-closed-hint`;
  return html`<fieldset><legend>Other arguments</legend>
<p class="hint" id="${hint}">If ticked, a call with any other argument is refused. Arguments that your limits require stay allowed.</p>
${closable.map(({ operation, names, closed }) =>
  tick(
    closed,
    closed,
    "yes",
    field.all(closed)?.includes("yes") ?? false,
    html`No other arguments of ${byOrigin.name(operation)} than ${joined(names.map(byOrigin.name))}`,
    html` aria-describedby="${hint}"`,
  ),
)}</fieldset>`;
}

function choiceFields(
  choices: readonly Scalar[],
  name: string,
  byOrigin: TextByOrigin,
  field: FieldsShown,
): Markup {
  const ticked = field.all(name);
  return html`<div id="${name}" tabindex="-1">${field.wrong(name)}
${choices.map((choice, at) =>
  tick(
    `${name}-${at}`,
    name,
    String(at),
    ticked?.includes(String(at)) ?? true,
    html`Allow ${byOrigin.value(choice)}`,
  ),
)}</div>`;
}

function otherFields(names: OtherFields, at: number, field: FieldsShown): Markup {
  const rules = [
    ["in", "only these values"],
    ["not_in", "none of these values"],
    ["max", "at most"],
    ["min", "at least"],
    ["path", "under the folder"],
    ["url", "a URL of"],
  ] as const;
  return html`<fieldset><legend>Another argument, ${at + 1}</legend>
<div class="pair">${textField("Its name", names.name, false, field)}
<div class="field"><label for="${names.rule}">How it is limited</label>
<select id="${names.rule}" name="${names.rule}">${rules.map(([rule, label]) => option(rule, label, field.text(names.rule)))}</select></div></div>
${areaField("Values, one a line", names.values, field, MIXED_HINT)}
</fieldset>`;
}

const MIXED_HINT = '5 and true are a number and a truth value; "5" in quotation marks is text.';
const FOLDER_HINT =
  "Such as /data or reports/2026: this folder and everything below it. A call must give a plain path.";
const URL_HINT =
  "Such as https://*.example.com/docs: this folder and everything below it; *. stands for every host below example.com.";

/** A note for the user: every holder of a token can use an approved grant. */
const HANDING_ON: Markup = html`<p class="note">The agent may hand on what you approve: any party that gets a token of it can use it, until it ends. Under <b>Limit it</b> you can bind it to this agent.</p>`;

/** Describes where a token that is bound to the agent can be used. */
function boundWords({ kind, agent, audience = [] }: ApprovalSubject): Markup {
  if (kind === "capabilities") {
    return html`It then works only for the caller that signs in as ${trusted(agent.id)}: over A2A at this server, and at services that know the caller by this name. The agent cannot hand it on, to sub-agents either.`;
  }
  return html`It then works only where the agent shows by its key who it is, which is in calls of Agent-Auth at this server. It is refused over A2A, in sessions and from other agents, so that the agent cannot hand it on, to sub-agents either.${audience.map(
    (one) =>
      html` At ${trusted(one)} it works only if that service knows the agent as ${trusted(agent.id)}.`,
  )}`;
}
