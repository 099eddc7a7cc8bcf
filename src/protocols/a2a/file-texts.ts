import type { Json } from "../../bytes/json.js";
import { membersOf } from "./places.js";

/** Yields the content of a message's files as text: bytes that are sent along, and addresses with what they hold. */
export function* fileTexts(message: Json | undefined): Generator<string> {
  const { parts } = membersOf(message);
  for (const part of Array.isArray(parts) ? parts : []) {
    const { raw, url } = membersOf(part);
    if (typeof raw === "string") yield* textsOf(Buffer.from(raw, "base64"));
    if (typeof url === "string") yield* addressTexts(url);
  }
}

/** Yields an address without its percent-encoding, and the content of one that holds it (RFC 2397). */
export function* addressTexts(url: string): Generator<string> {
  const plain = url.replace(ENCODED, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString(),
  );
  if (plain !== url) yield plain;
  const [head, content] = DATA.exec(plain) ?? [];
  if (head !== undefined && content !== undefined) yield* textsOf(Buffer.from(content, "base64"));
}

const ENCODED = /(?:%[0-9a-f]{2})+/gi;
const DATA = /^data:[^,]*;\s*base64,(.*)$/is;

function* textsOf(bytes: Buffer): Generator<string> {
  yield bytes.toString("utf8");
  if (!bytes.includes(0)) return;
  for (const encoding of ["utf-16le", "utf-16be"]) yield new TextDecoder(encoding).decode(bytes);
}
