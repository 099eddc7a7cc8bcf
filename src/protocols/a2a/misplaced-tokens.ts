import type { IncomingHttpHeaders } from "node:http";
import type { Request } from "express";
import { MAX_CANDIDATES, TokenSearch } from "../../agent/token-search.js";
import { isJsonObject, isObject, type Json } from "../../bytes/json.js";
import type { Issuer } from "../../issuer/issuer.js";
import { CAPABILITY_HEADER, EXTENSION_URI } from "./extension.js";
import { messageParts, misplacedName } from "./misplaced-names.js";
import { decoded, membersOf, type Outline, readIn } from "./outline.js";

/**
 * Returns the problem of a request that has a capability in a place that its method does not read. If such a
 * capability were ignored, the call would run with ambient authority, or a token would be stored. Everything
 * that is named like a capability is treated as a capability, and so is every string that is a token of this
 * issuer. Checks the request as received.
 */
export function misplacedIn(req: Request, outline: Outline, issuer: Issuer): string | undefined {
  const { originalUrl, headers, rawHeaders, rawTrailers } = req;
  const most = mostHeaders(req);
  if (Math.max(rawHeaders.length, rawTrailers.length) >= 2 * most) {
    return `a request must have fewer than ${most} headers: those beyond are not read`;
  }
  const asked = originalUrl.indexOf("?");
  const query = asked < 0 ? NO_QUERY : new URLSearchParams(originalUrl.slice(asked));
  const message = messageParts(outline.params["message"]);
  const trailers = pairsOf(rawTrailers).map(([name]) => name);
  const named = misplacedName(outline, message, Object.keys(headers), trailers, query);
  if (named !== undefined) {
    return `${named} is not read as a capability, and not passed over; capabilities are read ${readIn(outline)}`;
  }
  const search = new TokenSearch((token) => issuer.isAuthentic(token));
  const look: Look = (where, value) => {
    const found = search.look(value);
    if (found === "none") return undefined;
    if (found === "too_many") {
      return `${where} has more than ${MAX_CANDIDATES} strings that may be tokens`;
    }
    const why = where === MESSAGE ? "it is kept with its task" : "it is not read there";
    return `${where} must not hold a token: ${why}`;
  };
  const decodedUrl = decoded(originalUrl);
  return (
    misplacedInBody(outline, look) ??
    misplacedInFiles(outline, look) ??
    misplacedInHeaders(headers, rawHeaders, look) ??
    look("a trailer", rawTrailers) ??
    look("the address", originalUrl) ??
    (decodedUrl === originalUrl ? undefined : look("the address", decodedUrl)) ??
    (asked < 0 ? undefined : look("the address", [...query.values()]))
  );
}

/**
 * Searches a value for tokens.
 *
 * @returns The problem, naming the place; `undefined` if there is no token.
 */
type Look = (where: string, value: Json) => string | undefined;

const NO_QUERY = new URLSearchParams();

const MESSAGE = "a message";

/** Searches a body, except the places where its method reads capabilities. */
function misplacedInBody(
  { envelope, params, places, inMessage }: Outline,
  look: Look,
): string | undefined {
  const { message = null, metadata = null } = params;
  const found =
    look("the request", envelope) ??
    look(MESSAGE, inMessage === undefined ? message : withoutTokens(message, inMessage)) ??
    look("params.metadata", places.metadata === true ? withoutEntry(metadata) : metadata);
  if (found !== undefined) return found;
  for (const name of Object.keys(params)) {
    if (name === "message" || name === "metadata") continue;
    // Attenuations may contain only hops. A token in a hop would be stored.
    if (places.params.includes(name) && name !== "attenuations") continue;
    // A property name could itself be a token.
    const where = /^\w{1,32}$/.test(name) ? `params.${name}` : "params";
    const misplaced = look(where, [name, params[name] ?? null]);
    if (misplaced !== undefined) return misplaced;
  }
  return undefined;
}

/** Searches the message's files and the URLs of push configurations, because the agent stores both. */
function misplacedInFiles({ params }: Outline, look: Look): string | undefined {
  for (const text of fileTexts(params["message"])) {
    const misplaced = look(MESSAGE, text);
    if (misplaced !== undefined) return misplaced;
  }
  const configuration = membersOf(params["configuration"]);
  for (const [where, { url }] of [
    ["params", params],
    ...["taskPushNotificationConfig", "task_push_notification_config"].map(
      (name) => [`params.configuration.${name}`, membersOf(configuration[name])] as const,
    ),
  ] as const) {
    for (const text of typeof url === "string" ? addressTexts(url) : []) {
      const misplaced = look(`${where}.url`, text);
      if (misplaced !== undefined) return misplaced;
    }
  }
  return undefined;
}

/**
 * Searches all headers. Node sometimes keeps only the first of several headers with the same name, so `raw` is
 * searched too.
 */
function misplacedInHeaders(
  headers: IncomingHttpHeaders,
  raw: readonly string[],
  look: Look,
): string | undefined {
  for (const [name, value] of [...Object.entries(headers), ...pairsOf(raw)]) {
    if (READ_HEADERS.includes(name)) continue;
    const misplaced = look("a header", value ?? "");
    if (misplaced !== undefined) return misplaced;
  }
  return undefined;
}

/**
 * Returns the maximum number of headers, and of trailers, that Node reads for the server. Node drops further
 * headers and trailers.
 */
function mostHeaders({ socket }: Request): number {
  const server: unknown = Reflect.get(socket, "server");
  const most = isObject(server) ? server["maxHeadersCount"] : undefined;
  if (typeof most !== "number") return NODE_MOST_HEADERS;
  return most > 0 ? most : Number.POSITIVE_INFINITY;
}

/** Node's default, for a server that sets no limit. */
const NODE_MOST_HEADERS = 1000;

/** Returns the name, in lower case, and the value of each header as received. */
function pairsOf(raw: readonly string[]): readonly (readonly [name: string, value: string])[] {
  const names = raw.filter((_, at) => at % 2 === 0);
  return names.map((name, at) => [name.toLowerCase(), raw[2 * at + 1] ?? ""]);
}

const READ_HEADERS = ["authorization", CAPABILITY_HEADER.toLowerCase()];

function withoutEntry(metadata: Json): Json {
  if (!isJsonObject(metadata) || !Object.hasOwn(metadata, EXTENSION_URI)) return metadata;
  const { [EXTENSION_URI]: _, ...others } = metadata;
  return others;
}

/** Returns a message that calls a method, without the parameters in which the method reads capabilities. */
function withoutTokens(message: Json, { params, places }: NonNullable<Outline["inMessage"]>): Json {
  const { parts, ...others } = membersOf(message);
  const [part] = Array.isArray(parts) ? parts : [];
  const misplaced = Object.entries(params).filter(([name]) => !places.params.includes(name));
  return [others, { ...part, data: Object.fromEntries(misplaced) }];
}

/** Yields the content of a message's files as strings: embedded bytes, and URLs with embedded content. */
function* fileTexts(message: Json | undefined): Generator<string> {
  const { parts } = membersOf(message);
  for (const part of Array.isArray(parts) ? parts : []) {
    const { raw, url } = membersOf(part);
    if (typeof raw === "string") yield* textsOf(Buffer.from(raw, "base64"));
    if (typeof url === "string") yield* addressTexts(url);
  }
}

/** Yields a percent-decoded URL, and the content of a `data:` URL (RFC 2397). */
function* addressTexts(url: string): Generator<string> {
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
