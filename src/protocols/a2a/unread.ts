import type { Request, RequestHandler } from "express";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { MAX_CANDIDATES, TokenSearch } from "../../capability/token-search.js";
import type { Issuer } from "../../issuer/issuer.js";
import { answerFault } from "./answer.js";
import { type Binding, fault } from "./errors.js";
import { CAPABILITY_HEADER, EXTENSION_URI } from "./extension.js";
import {
  METHOD_IN_MESSAGE,
  methodIn,
  type Places,
  placesOf,
  readIn,
  restPlacesOf,
  unreadBeside,
  unreadField,
  unreadHeader,
  unreadMember,
} from "./places.js";

/** A place in a request, and what stands there. */
type Place = readonly [where: string, value: Json];

/**
 * Refuses a request that has a capability where its method reads none: passed over, the call would run
 * with ambient authority, or keep a token. What is called like a capability is one; so is any text,
 * wherever it stands, that is a token of this issuer. Judged is the request as it came.
 */
export function refuseUnread(binding: Binding, issuer: Issuer): RequestHandler {
  return (req, res, next) => {
    const body: Json = req.body ?? {};
    const problem = isJsonObject(body) ? problemIn(req, body, binding, issuer) : undefined;
    if (problem === undefined) return next();
    const id = isJsonObject(body) ? body["id"] : undefined;
    return answerFault(res, binding, fault(-32602, problem, "invalid_request"), id);
  };
}

function problemIn(
  req: Request,
  body: JsonObject,
  binding: Binding,
  issuer: Issuer,
): string | undefined {
  const isRpc = binding === "jsonrpc";
  const whole = isRpc ? placesOf(body["method"]) : restPlacesOf(req.path);
  const { params: given = {}, ...envelope } = isRpc ? body : { params: body };
  const params = isJsonObject(given) ? given : { params: given };
  const inMessage = whole.message === true ? methodIn(params["message"]) : undefined;
  const places = inMessage === undefined ? whole : METHOD_IN_MESSAGE;
  const own = inMessage === undefined ? undefined : placesOf(inMessage.method);

  const query = new URLSearchParams(req.originalUrl.replace(/^[^?]*/, ""));
  const header = unreadHeader(Object.keys(req.headers), places);
  const named =
    unreadBeside(envelope) ??
    unreadMember(params, places) ??
    (own === undefined ? undefined : unreadMember(inMessage?.params ?? {}, own)) ??
    (header === undefined ? undefined : `the header ${header.slice(0, 64)}`) ??
    (unreadField(query.keys()) === undefined ? undefined : "the query");
  const shapeless = notText(params["message"]);
  if (shapeless !== undefined) return `${shapeless} must be a string`;
  if (named !== undefined) {
    return `${named} is not read as a capability, and not passed over; capabilities are read ${readIn(own ?? places)}`;
  }
  const search = new TokenSearch((token) => issuer.isAuthentic(token));
  for (const [where, value] of unreadValues(req, query, envelope, params, places, own)) {
    const found = search.look(value);
    if (found === "token") return heldToken(where);
    if (found === "too_many") {
      return `${where} has more than ${MAX_CANDIDATES} texts that may be tokens`;
    }
  }
  return undefined;
}

const TEXTS = ["messageId", "contextId", "taskId", "text", "url", "filename", "mediaType"];

/** A member of a message that the SDK would make a text of: what it then says was not looked at. */
function notText(message: Json | undefined): string | undefined {
  if (message === undefined || !isJsonObject(message)) return undefined;
  const { parts = [], extensions = [] } = message;
  const owners: (readonly [string, Json])[] = [["params.message", message]];
  if (Array.isArray(parts)) {
    owners.push(...parts.map((part, at) => [`params.message.parts[${at}]`, part] as const));
  }
  for (const [where, owner] of owners) {
    if (!isJsonObject(owner)) continue;
    const name = TEXTS.find((one) => typeof (owner[one] ?? "") !== "string");
    if (name !== undefined) return `${where}.${name}`;
  }
  const listed = Array.isArray(extensions) ? extensions : [];
  const at = listed.findIndex((extension: Json) => typeof extension !== "string");
  return at < 0 ? undefined : `params.message.extensions[${at}]`;
}

const MESSAGE = "a message";

function heldToken(where: string): string {
  const why = where === MESSAGE ? "it is kept with its task" : "it is not read there";
  return `${where} must not hold a token: ${why}`;
}

/** All that a request has, but for the places where capabilities are read. */
function* unreadValues(
  req: Request,
  query: URLSearchParams,
  envelope: JsonObject,
  params: JsonObject,
  places: Places,
  own: Places | undefined,
): Generator<Place> {
  yield ["the request", envelope];
  const { message = null, metadata = null, ...others } = params;
  yield [MESSAGE, own === undefined ? message : withoutTokens(message, own)];
  yield ["params.metadata", places.metadata === true ? withoutEntry(metadata) : metadata];
  for (const [name, value] of Object.entries(others)) {
    // Any name may be a token itself.
    const where = /^\w{1,32}$/.test(name) ? `params.${name}` : "params";
    // Attenuations are read, but as hops by id: a token in one would be kept with it.
    if (!places.params.includes(name) || name === "attenuations") yield [where, [name, value]];
  }
  const read = ["authorization", CAPABILITY_HEADER.toLowerCase()];
  for (const [name, value = ""] of Object.entries(req.headers)) {
    if (!read.includes(name)) yield ["a header", value];
  }
  yield ["the address", [req.originalUrl, decoded(req.originalUrl), ...query.values()]];
}

function withoutEntry(metadata: Json): Json {
  if (!isJsonObject(metadata)) return metadata;
  const { [EXTENSION_URI]: _, ...others } = metadata;
  return others;
}

/** A message that calls a method, without the capabilities that the method reads. */
function withoutTokens(message: Json, places: Places): Json {
  const inMessage = methodIn(message);
  if (inMessage === undefined || !isJsonObject(message)) return message;
  const params = Object.entries(inMessage.params).filter(([name]) => !places.params.includes(name));
  const { parts, ...others } = message;
  const [part] = Array.isArray(parts) ? parts : [];
  return [others, part === undefined ? null : { ...part, data: Object.fromEntries(params) }];
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    // What cannot be decoded is refused by what routes it.
    return url;
  }
}
