/** A page, or any other answer. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The path of the page after all redirects. */
  readonly path: string;
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A minimal browser without scripts. It has cookies, follows redirects and sends forms. */
export class Visitor {
  readonly #base: URL;
  readonly cookies: Map<string, string> = new Map();

  /** @param base - The URL of the console. */
  constructor(base: string) {
    this.#base = new URL(base);
  }

  async get(path = "", headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#follow(this.#at(path), { headers });
  }

  /** Sends a request without following redirects. */
  async once(path: string, init: RequestInit = {}): Promise<Page> {
    return this.#send(this.#at(path), init);
  }

  /** Sends the form of a page with the user's input. Other fields keep the values that the page gave them. */
  async post(path: string, fields: Fields, from: string, other: Fields = {}): Promise<Page> {
    const page = from === "/" ? undefined : await this.get(from);
    const body = page === undefined ? new URLSearchParams() : formIn(page.text, this.#at(path));
    for (const [name, value] of [...Object.entries(fields), ...Object.entries(other)]) {
      body.delete(name);
      for (const one of [value].flat()) body.append(name, one);
    }
    return this.submit(path, body);
  }

  /** Sends the fields of a form unchanged. */
  async submit(
    path: string,
    body: URLSearchParams | string,
    headers: Readonly<Record<string, string>> = { Origin: this.#base.origin },
  ): Promise<Page> {
    return this.#follow(this.#at(path), {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: String(body),
    });
  }

  #at(path: string): URL {
    return new URL(path.startsWith("http") ? path : `${this.#base.pathname}${path}`, this.#base);
  }

  async #follow(url: URL, init: RequestInit): Promise<Page> {
    let page = await this.#send(url, init);
    for (let steps = 0; steps < 8; steps++) {
      const to = page.headers.get("location");
      if (to === null) return page;
      page = await this.#send(new URL(to, new URL(page.path, this.#base)), {});
    }
    throw new Error("it leads nowhere");
  }

  async #send(url: URL, init: RequestInit): Promise<Page> {
    const cookie = Array.from(this.cookies, (pair) => pair.join("=")).join("; ");
    const headers = { ...(cookie === "" ? {} : { cookie }), ...Object(init.headers) };
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const path = url.origin === this.#base.origin ? `${url.pathname}${url.search}` : url.href;
    return { status: response.status, headers: response.headers, text, path };
  }
}

/** Returns the prefilled fields of the form that is sent to this URL. */
export function formIn(text: string, to: URL): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [, action = "", inside = ""] of text.matchAll(
    /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
  )) {
    if (unescaped(action) !== to.pathname) continue;
    for (const [tag] of inside.matchAll(/<input[^>]*>/g)) {
      const type = attribute(tag, "type");
      const on = type !== "checkbox" || tag.includes(" checked");
      const name = attribute(tag, "name");
      if (on && name !== undefined) fields.append(name, attribute(tag, "value") ?? "");
    }
    return fields;
  }
  throw new Error(`the page has no form for ${to.pathname}: ${text}`);
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescaped(value);
}

/** Returns the text of a page in one line, without markup. */
export function words(text: string): string {
  const body = text
    .replace(/“<bdi>|<\/bdi>”/g, "")
    .replace(/<!DOCTYPE[\s\S]*<main[^>]*>/, "")
    .replace(/<\/main>[\s\S]*$/, "");
  return unescaped(
    body.replace(/<\/?(bdi|q|b|span|strong|a)\b[^>]*>/g, "").replace(/<[^>]*>/g, " "),
  )
    .replace(/\s+/g, " ")
    .trim();
}

function unescaped(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
