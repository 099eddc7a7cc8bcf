import type { InspectedLink, InspectedMacaroon, RawBytes } from "../src/capability/inspection.js";
import { hopRows, type Row } from "./authority-words.js";
import type { Paint } from "./paint.js";
import { printable, quoted } from "./printable.js";

/** Rows in two columns, below one another. */
export function renderRows(rows: readonly Row[], paint: Paint, indent = ""): string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${indent}${paint.dim(label.padEnd(width))}  ${text}`);
}

/** The links of a macaroon as a tree, the first one at the top. */
export function renderLinks(macaroon: InspectedMacaroon, paint: Paint, now: number): string[] {
  const { links } = macaroon;
  if (links.length === 0) return ["no hops: nothing was taken away"];
  return links.flatMap((link, at) => {
    const last = at === links.length - 1;
    const lines = renderRows(linkRows(link, now), paint);
    return [
      `${last ? "└─" : "├─"} ${paint.bold(`hop ${link.number}`)}${linkTitle(link, paint)}`,
      ...lines.map((line) => `${last ? "  " : "│ "}    ${line}`),
    ];
  });
}

function linkTitle(link: InspectedLink, paint: Paint): string {
  if (link.kind === "third-party") return paint.yellow("  third party: needs a discharge");
  if (link.kind === "unreadable") return paint.yellow("  not a hop: every check would refuse it");
  return link.number === 1 ? "  the issuer's" : "";
}

function linkRows(link: InspectedLink, now: number): Row[] {
  if (link.hop !== undefined) return hopRows(link.hop, now);
  const rows: Row[] = [];
  if (link.location !== undefined) rows.push(["ask at", quoted(link.location)]);
  for (const { message } of link.problems ?? []) rows.push(["problem", printable(message)]);
  if (link.raw !== undefined) rows.push(["raw", rawText(link.raw)]);
  return rows;
}

/** Bytes as quoted text where they are text, else as base64url. */
export function rawText(raw: RawBytes): string {
  return raw.text === undefined ? `base64url ${raw.base64url}` : quoted(raw.text);
}
