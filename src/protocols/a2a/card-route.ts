import { hash } from "node:crypto";
import { Extensions } from "@a2a-js/sdk";
import type { RequestHandler } from "express";
import type { CardTexts } from "./card.js";
import { EXTENSION_URI } from "./extension.js";

/** Seconds for which a card may be kept: it changes only when its agent is started anew. */
const MAX_AGE = 300;

/**
 * Serves the card with all that caches need (A2A 1.0, section 8.6); Express compares `If-None-Match`
 * and `If-Modified-Since`.
 */
export function cardRoute({ plain, extended }: CardTexts): RequestHandler {
  const since = new Date().toUTCString();
  const tags = { plain: tagOf(plain), extended: tagOf(extended) };
  return (req, res) => {
    const named = Extensions.parseServiceParameter(req.get("A2A-Extensions"));
    const asked = named.includes(EXTENSION_URI);
    if (asked) res.set("A2A-Extensions", EXTENSION_URI);
    res.set({
      "Cache-Control": `public, max-age=${MAX_AGE}`,
      "Last-Modified": since,
      ETag: asked ? tags.extended : tags.plain,
      Vary: "A2A-Extensions",
    });
    // For caches on the way, and fetch sends it with every condition: Express would not look at those.
    delete req.headers["cache-control"];
    // The two forms have one date, so only their tags show which of them a client has.
    if (asked) delete req.headers["if-modified-since"];
    res.type("application/json").send(asked ? extended : plain);
  };
}

function tagOf(text: string): string {
  return `"${hash("sha256", text, "base64url")}"`;
}
