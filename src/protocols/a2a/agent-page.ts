import { hash } from "node:crypto";
import type { RequestHandler } from "express";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { html, type Markup } from "../../http/markup/markup.js";
import { plainText } from "../../http/markup/untrusted-text.js";
import type { CardOptions } from "./card.js";
import { METHODS } from "./extension.js";

/** The URLs that an agent's page shows. */
export interface PageAddresses {
  readonly url: string;
  readonly cardUrl: string;
  readonly rpcUrl: string;
}

// This template has no placeholders, so that the page contains exactly the text whose digest is in `POLICY`.
const STYLE = html`
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #4d545c; --page: #f6f7f8; --card: #ffffff; --hair: #d5d9dd; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #b4bac1; --page: #14171a; --card: #1d2126; --hair: #363c43; --link: #8ec2ff; }
}
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0; color: var(--ink); background: var(--page); overflow-wrap: anywhere; }
main { max-width: 48rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 1.75rem 0 .5rem; }
p { margin: 0 0 .75rem; }
a { color: var(--link); }
ul { list-style: none; margin: 0; padding: 0; }
li, pre { background: var(--card); border: 1px solid var(--hair); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 .75rem; }
li p { margin: 0; }
.soft { color: var(--soft); }
code, pre { font: .9rem/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", String(STYLE), "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cache-Control": "no-cache",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Returns the handler of a page about the agent, its grants, and how to request them. Clients that prefer HTML
 * get the page; every other request is passed on. The page shows only information from the Agent Card.
 */
export function agentPage(
  card: CardOptions,
  agent: IssuingAgent,
  addresses: PageAddresses,
): RequestHandler {
  const text = String(page(card, agent, addresses));
  return (req, res, next) => {
    res.vary("Accept");
    // For `Accept: */*`, Express chooses the first type.
    if (req.accepts(["application/json", "text/html"]) !== "text/html") return next();
    res.set(HEADERS).type("text/html").send(text);
  };
}

function page(
  { name, description, version }: CardOptions,
  agent: IssuingAgent,
  { url, cardUrl, rpcUrl }: PageAddresses,
): Markup {
  const [first] = agent.grants.keys();
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${plainText(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${plainText(name)}</h1>
<p>${plainText(description, 1000)}</p>
<p class="soft">Version ${plainText(version)}. This is an agent: programs call it over A2A${
    agent.mode === "require" && ", each call within a capability"
  }. Its <a href="${cardUrl}">Agent Card</a> describes it to them.</p>
<h2>Grants</h2>
<ul>${[...agent.grants.values()].map(
    ({ id, description: what, operations }) => html`
<li><p><code>${plainText(id)}</code> ${plainText(what, 1000)}</p>
<p class="soft">Operations: ${operations.map((one) => plainText(one)).join(", ")}</p></li>`,
  )}
</ul>
${first !== undefined && asking(first, url, rpcUrl)}
</main>
</body>
</html>
`;
}

function asking(grant: string, url: string, rpcUrl: string): Markup {
  const params = { grants: [grant], purpose: "try it out" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHODS.request, params });
  return html`<h2>How to ask</h2>
<p>With your access token in the file <code>access</code>. A grant for resources also takes the collection that
they are in: <code>--collection</code>, or <code>resourceQuery</code>.</p>
<pre>proviso request ${word(url)} --access-token @access --grant ${word(grant)} &gt; token</pre>
<pre>curl ${word(rpcUrl)} -H "Authorization: Bearer $(cat access)" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d ${word(body)}</pre>`;
}

/** Quotes a string as one word for a shell. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
