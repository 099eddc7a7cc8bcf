import {
  type Macaroon,
  type MacaroonText,
  macaroonToBytes,
  readMacaroons,
} from "../../src/macaroon/index.js";
import { CORPUS, hex, signedContent } from "./corpus.js";

// A changed text may be allowed only if nothing signed has changed, and no part of the text was left unread. Then the
// change was one of:
//
// - the base64 alphabet, or the padding;
// - JSON white space, escapes, the order of properties, `x` in place of `x64` or the reverse, the case of hexadecimal
//   digits, an omitted empty list of caveats;
// - another of the four forms;
// - a location, which is not signed, and which may be empty or absent; the order of discharges; an omitted `v` in
//   JSON.

const GENUINE = new Set(CORPUS.map(signedContent));

/** Returns whether the text has the content of a valid token, and nothing else. */
export function isGenuine(text: string): boolean {
  const reading = readMacaroons(text);
  return GENUINE.has(signedContent(reading.macaroons)) && unread(text, reading) === undefined;
}

/** Reads the text a second time, and returns the part that the first reading omitted or invented, if any. */
export function unread(text: string, { format, macaroons }: MacaroonText): string | undefined {
  if (format === "v1" || format === "v2") {
    const given = strictBase64(text);
    const written = macaroons
      .map((one) => Buffer.from(macaroonToBytes(one, format)).toString("latin1"))
      .join("");
    const same = format === "v1" ? sameV1(given, written) : sameV2(given, written);
    return same ? undefined : "bytes differ";
  }
  const value: unknown = JSON.parse(text);
  if (colons(text) !== colons(JSON.stringify(value))) return "a member came twice";
  const given = (Array.isArray(value) ? value : [value]).map(jsonFields).join("\n");
  return given === macaroons.map(readFields).join("\n") ? undefined : "fields differ";
}

// In v1, the location of a third-party caveat may be omitted; an omitted location is equal to an empty one.
function sameV1(given: string, written: string): boolean {
  const bare = (bytes: string): string => bytes.replaceAll("0008cl \n", "");
  return bare(given) === bare(written);
}

// In v2, an empty location is equal to an absent one; writers omit it.
function sameV2(given: string, written: string): boolean {
  let at = 0;
  for (let next = 0; next < given.length; next++, at++) {
    if (given.startsWith("\u0001\0", next) && written[at] !== "\u0001") next += 2;
    if (given[next] !== written[at]) return false;
  }
  return at === written.length;
}

/** Decodes base64 of one alphabet, with complete padding or none; Node's own decoder accepts anything. */
function strictBase64(text: string): string {
  const bytes = Buffer.from(text, "base64");
  const spellings = (["base64", "base64url"] as const).flatMap((alphabet) => {
    const bare = bytes.toString(alphabet).replace(/=+$/, "");
    return [bare, bare.padEnd(Math.ceil(bare.length / 4) * 4, "=")];
  });
  return spellings.includes(text) ? bytes.toString("latin1") : `not base64: ${text}`;
}

function latin1ToHex(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("hex");
}

function colons(json: string): number {
  return (json.match(/"(?:[^"\\]|\\.)*"|:/g) ?? []).filter((token) => token === ":").length;
}

type Members = Readonly<Record<string, unknown>>;

function jsonFields(value: Members): string {
  const { c, caveats } = value;
  const links = [c, caveats].find(Array.isArray) ?? [];
  const fields = [
    plain(value["l"] ?? value["location"]),
    either(value, "i", "identifier"),
    ...links.map((link: Members) =>
      [
        either(link, "i", "cid"),
        either(link, "v", "vid", "base64"),
        plain(link["l"] ?? link["cl"]),
      ].join("+"),
    ),
    either(value, "s", "signature", "hex"),
  ];
  return fields.join();
}

function either(
  from: Members,
  v2: string,
  v1: string,
  v1Encoding: BufferEncoding = "utf8",
): string {
  const base64 = from[`${v2}64`];
  if (typeof base64 === "string") return latin1ToHex(strictBase64(base64));
  if (typeof from[v2] === "string") return plain(from[v2]);
  const text = from[v1];
  if (typeof text !== "string") return "";
  if (v1Encoding === "base64") return latin1ToHex(strictBase64(text));
  return Buffer.from(text, v1Encoding).toString("hex");
}

function plain(text: unknown): string {
  return typeof text === "string" ? Buffer.from(text).toString("hex") : "";
}

function readFields({ location, identifier, caveats, signature }: Macaroon): string {
  const links = caveats.map((link) =>
    link.kind === "first-party"
      ? [hex(link.identifier), "", ""].join("+")
      : [hex(link.identifier), hex(link.verificationId), plain(link.location)].join("+"),
  );
  return [plain(location), hex(identifier), ...links, hex(signature)].join();
}
