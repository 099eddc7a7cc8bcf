// Outside of this file, nothing makes markup of a text.
let make: (text: string) => Markup;

/** Markup that may be sent. Only {@link html} makes it, from this package's texts, and escapes the rest. */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static {
    make = (text) => new Markup(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** What can be put into {@link html}: nothing at all for `undefined` and `false`. */
export type Part = Markup | string | number | undefined | false | readonly Part[];

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;" },
  ...{ '"': "&quot;", "'": "&#39;" },
};

/** Escapes what is put into it, also as an attribute's value, which must stand in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0] ?? "";
  for (const [at, part] of parts.entries()) text += written(part) + (strings[at + 1] ?? "");
  return make(text);
}

function written(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string") return part.replace(/[&<>"']/g, (found) => ESCAPES[found] ?? "");
  if (typeof part === "number") return String(part);
  return part instanceof Markup ? part.toString() : part.map(written).join("");
}
