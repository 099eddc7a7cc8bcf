import { html, type Markup, type Part } from "../../http/markup/markup.js";
import type { Form } from "../form.js";
import type { FieldProblem } from "../limits/read-values.js";

/** A form that the user has sent. It is shown again with its errors. */
export interface SentForm {
  readonly form: Form;
  readonly problems: readonly FieldProblem[];
}

/** The values that the user entered and the markup of their errors, each by the name of a field. */
export interface FieldsShown {
  text(name: string): string;
  all(name: string): readonly string[] | undefined;
  wrong(name: string): Part;
  /** Returns the attributes that link a field to its hint and its error. */
  described(name: string, hint?: boolean): Part;
}

export function fieldsShown(sent: SentForm | undefined): FieldsShown {
  const wrongAt = (name: string): readonly FieldProblem[] =>
    sent?.problems.filter(({ field }) => field === name) ?? [];
  return {
    text: (name) => sent?.form.all(name)[0] ?? "",
    all: (name) => sent?.form.all(name),
    wrong(name) {
      const found = wrongAt(name);
      if (found.length === 0) return undefined;
      return html`<p class="wrong" id="${name}-wrong">${found.map(({ message }) => `${message} `)}</p>`;
    },
    described(name, hint = false) {
      const wrong = wrongAt(name).length > 0;
      const ids = [...(wrong ? [`${name}-wrong`] : []), ...(hint ? [`${name}-hint`] : [])];
      if (ids.length === 0) return undefined;
      return html` aria-describedby="${ids.join(" ")}"${wrong && html` aria-invalid="true"`}`;
    },
  };
}

export function textField(
  label: string,
  name: string,
  numeric: boolean,
  field: FieldsShown,
  hint?: string,
): Markup {
  const mode = numeric && html` inputmode="decimal"`;
  return html`<div class="field">${field.wrong(name)}<label for="${name}">${label}</label>${hintFor(name, hint)}
<input type="text"${mode} id="${name}" name="${name}" autocomplete="off" value="${field.text(name)}"${field.described(name, hint !== undefined)}></div>`;
}

export function areaField(label: string, name: string, field: FieldsShown, hint?: string): Markup {
  return html`<div class="field">${field.wrong(name)}<label for="${name}">${label}</label>${hintFor(name, hint)}
<textarea id="${name}" name="${name}" rows="2" autocomplete="off" spellcheck="false"${field.described(name, hint !== undefined)}>
${field.text(name)}</textarea></div>`;
}

function hintFor(name: string, hint: string | undefined): Part {
  return hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`;
}

export function tick(
  id: string,
  name: string,
  value: string,
  on: boolean,
  label: Part,
  described?: Part,
): Markup {
  return html`<div class="tick"><input type="checkbox" id="${id}" name="${name}" value="${value}"${on && html` checked`}${described}><label for="${id}">${label}</label></div>`;
}

export function option(value: string, label: string, chosen: string): Markup {
  return html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`;
}
