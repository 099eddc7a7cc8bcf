import type { IncomingHttpHeaders } from "node:http";
import { readBearer } from "../../../auth/bearer.js";
import { CAPABILITY_HEADER } from "../../../http/headers.js";
import { HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST } from "../message/error-codes.js";
import { isOldVersion, type Message, versionOf } from "../message/message.js";
import { namedIn, readHeaderValue } from "../message/mirrored-headers.js";
import { objectAt } from "../message/values.js";

/** The session that receives a message, or the reason to refuse the message. */
export type Route =
  /** A request of the new era goes to the session that all HTTP clients share. */
  | { readonly kind: "shared" }
  /** A notification of the new era is dropped, because it has no effect over HTTP. */
  | { readonly kind: "dropped" }
  /** `initialize` opens a session. */
  | { readonly kind: "opening" }
  /** A message of the old era goes to the session that the header `Mcp-Session-Id` names. */
  | { readonly kind: "session" }
  | { readonly kind: "refused"; readonly code: number; readonly reason: string };

export const JSON_TYPE = "application/json";
const FIRST_NEW = "2026-07-28";
const VERSION = /^\d{4}-\d{2}-\d{2}$/;
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Chooses the session for a message by its body; for a notification, also by the header `MCP-Protocol-Version`. The
 * headers of a request must agree with its body (2026-07-28, "Server Validation").
 */
export function routeOf(message: Message, headers: IncomingHttpHeaders): Route {
  const version = versionOf(message.value);
  const header = one(headers, "mcp-protocol-version");
  const isNew = header !== undefined && VERSION.test(header) && header >= FIRST_NEW;
  if (version === undefined) {
    if (message.kind === "response") return { kind: "session" };
    if (message.kind === "notification") return { kind: isNew ? "dropped" : "session" };
    if (!isNew) return { kind: message.method === "initialize" ? "opening" : "session" };
    if (message.method === "initialize") {
      return mismatch("MCP-Protocol-Version", "initialize belongs to earlier versions");
    }
    return refused(
      INVALID_PARAMS,
      "params._meta must name the protocol version, as the header does",
    );
  }
  if (message.kind !== "request") return { kind: "dropped" };
  return mirrored(message, headers, version, header);
}

function mirrored(
  { value, method = "" }: Message,
  headers: IncomingHttpHeaders,
  version: string,
  header: string | undefined,
): Route {
  if (header !== version) return mismatch("MCP-Protocol-Version", "the body names another version");
  if (one(headers, "mcp-method") !== method) {
    return mismatch("Mcp-Method", "the body has another method");
  }
  const name = namedIn(method, value);
  const given = one(headers, "mcp-name");
  if (name !== undefined && (given === undefined || readHeaderValue(given) !== name)) {
    return mismatch("Mcp-Name", "the body has another name");
  }
  return objectAt(value, ["params", "_meta", CAPABILITIES]) !== undefined
    ? { kind: "shared" }
    : refused(INVALID_PARAMS, `params._meta must have "${CAPABILITIES}", an object`);
}

function mismatch(header: string, why: string): Route {
  return refused(
    HEADER_MISMATCH,
    `Header mismatch: ${header} is missing or does not agree: ${why}`,
  );
}

function refused(code: number, reason: string): Route {
  return { kind: "refused", code, reason };
}

/** Returns a refusal if `MCP-Protocol-Version` names an unsupported version; else `undefined`. */
export function oldHeadersFlaw(headers: IncomingHttpHeaders): Route | undefined {
  const version = one(headers, "mcp-protocol-version");
  if (version === undefined || isOldVersion(version)) return undefined;
  return refused(INVALID_REQUEST, "MCP-Protocol-Version names a version that is not supported");
}

/** The tokens in the headers of a request, or a sentence that says what is wrong with a header. */
export type HeaderTokens =
  | { readonly ok: true; readonly tokens: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Reads the tokens in `Proviso-Capability`, which commas separate, and the bearer token in `Authorization`. */
export function tokensIn(headers: IncomingHttpHeaders): HeaderTokens {
  const own = one(headers, CAPABILITY_HEADER.toLowerCase());
  const tokens = own === undefined ? [] : own.split(",").map((token) => token.trim());
  if (!tokens.every((token) => TOKEN.test(token))) {
    return { ok: false, reason: `the header ${CAPABILITY_HEADER} must hold tokens in base64url` };
  }
  const { authorization } = headers;
  if (authorization === undefined) return { ok: true, tokens };
  const bearer = readBearer({ headers }, "send a capability in it", Number.POSITIVE_INFINITY);
  if (bearer.ok) return { ok: true, tokens: [...new Set([...tokens, bearer.token])] };
  const { code, message } = bearer.denial;
  // Credentials of another scheme are meant for a proxy in front of the gate.
  return code === "token_missing" ? { ok: true, tokens } : { ok: false, reason: message };
}

/** Returns the value of a header; values of a repeated header are joined by commas. */
export function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
