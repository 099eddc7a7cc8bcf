import { html, type Markup, type Part } from "../../http/markup/markup.js";
import { plainText, trusted, untrusted } from "../../http/markup/untrusted-text.js";
import type { Row } from "../hop-words.js";
import type { Session } from "../sessions.js";

export interface PageParts {
  /** The heading of the page, and the title of the browser's tab. */
  readonly title: string;
  readonly main: Part;
  /** True if the page shows errors. The title of the tab then begins with "Error". */
  readonly wrong?: boolean;
  /** The URL to which the browser goes immediately. */
  readonly leadsTo?: string;
}

/** The console's address, for links in its pages. */
export interface Whereabouts {
  readonly name: string;
  readonly base: string;
}

const PLACES: readonly (readonly [path: string, label: string])[] = [
  ["", "Waiting"],
  ["/device", "Enter a code"],
  ["/grants", "Active grants"],
  ["/hosts", "Hosts"],
  ["/history", "History"],
];

export function page(
  { name, base }: Whereabouts,
  session: Session | undefined,
  { title, main, wrong = false, leadsTo }: PageParts,
): Markup {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${leadsTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${leadsTo}">`}
<title>${wrong && "Error: "}${title} – approvals of ${plainText(name)}</title>
<link rel="stylesheet" href="${base}/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="bar"><header>
<p class="name">Approvals of ${plainText(name)}</p>
${session !== undefined && menu(base, title)}
</header></div>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${main}
</main>
${session !== undefined && html`<footer>${signedIn(base, session)}</footer>`}
</body>
</html>
`;
}

function menu(base: string, title: string): Markup {
  const links = PLACES.map(([path, label]) => {
    const here = label === title ? html` aria-current="page"` : undefined;
    return html`<li><a href="${base}${path}"${here}>${label}</a></li>`;
  });
  return html`<nav aria-label="Console"><ul>${links}</ul></nav>`;
}

function signedIn(base: string, session: Session): Markup {
  return html`<p>Signed in as <b>${trusted(session.principal)}</b></p>
<form method="post" action="${base}/logout">${csrf(session)}<button type="submit">Sign out</button></form>`;
}

/** Renders the field that proves that a page of this session has sent the form. */
export function csrf(session: Session): Markup {
  return html`<input type="hidden" name="csrf" value="${session.csrf}">`;
}

/** Renders the error of a page that has only one field. */
export function problem(field: string, wrong: string | undefined): Part {
  return (
    wrong !== undefined &&
    html`<div class="summary" role="alert"><h2>There is a problem</h2><ul><li><a href="#${field}">${wrong}</a></li></ul></div>`
  );
}

/** The contents of a page that reports a refusal. */
export interface FaultParts {
  readonly title: string;
  /** The explanation, and what the user can do next. */
  readonly message: Part;
  /** True if signing in as another user may help. */
  readonly otherUser?: boolean;
  /** The path of the page to go back to, relative to the console. */
  readonly back?: string;
}

export function faultPage(
  { base }: Whereabouts,
  { title, message, otherUser = false, back }: FaultParts,
): PageParts {
  const main = html`<div class="card"><p>${message}</p>
${back !== undefined && html`<p><a href="${base}${back}">Go back</a></p>`}
<p><a href="${base}">To the waiting approvals</a></p>
${otherUser && html`<p><a href="${base}/login?again=1">Sign in as another user</a></p>`}</div>`;
  return { title, main };
}

/** Renders labels with their descriptions. */
export function rowList(
  rows: readonly (readonly [label: Part, words: Part] | undefined | false)[],
): Markup {
  const shown = rows.filter((row) => row !== undefined && row !== false);
  return html`<dl>${shown.map(([label, words]) => html`<dt>${label}</dt><dd>${words}</dd>`)}</dl>`;
}

/** Renders limits, or `none` if there are none. */
export function limitList(rows: readonly Row[], none: string): Markup {
  return rows.length === 0 ? html`<p>${none}</p>` : rowList(rows);
}

/** Renders cards below each other, or `none` if there are none. */
export function cards(items: readonly Markup[], none: string): Markup {
  if (items.length === 0) return html`<p class="card">${none}</p>`;
  return html`<ul class="cards">${items.map((item) => html`<li class="card">${item}</li>`)}</ul>`;
}

/** An agent or a host. */
interface Party {
  readonly id: string;
  readonly name?: string;
  /** True if the user chose the name of the party. */
  readonly named?: true;
}

/** Longest name that a page shows in full, in characters. */
const MOST = 120;

/**
 * Renders the name of a party, or its id if it has no name. A name that the party itself chose is in quotation
 * marks.
 */
export function partyName({ id, name, named }: Party, most: number = MOST): Markup {
  if (name === undefined) return trusted(id);
  return named === true ? trusted(name) : untrusted(name, most);
}
