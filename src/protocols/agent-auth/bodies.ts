import type { AgentMode } from "../../agent/parties/records.js";
import { isObject, isTexts, type JsonObject } from "../../bytes/json.js";
import { type Fault, fault } from "./errors.js";

// Checks the types and the lengths of values in requests; src/agent checks the meaning of strings and constraints.
// Unknown properties are ignored, as the protocol demands. An optional property may be absent, but not null: section
// 1.4.1 of the specification lists all properties that may be null, and no property of a request is in the list.

export type Reading<Of> = { readonly ok: true; readonly value: Of } | Fault;

export interface AskedCapability {
  readonly name: string;
  readonly constraints?: JsonObject;
}

/** The properties that a registration and a request for capabilities have in common. */
export interface Asking {
  readonly purpose?: string;
  readonly bindingMessage?: string;
  readonly loginHint?: string;
  /** The preferred way to ask the user. */
  readonly method?: "user_code" | "backchannel";
}

export interface Registering extends Asking {
  readonly name: string;
  readonly mode: AgentMode;
  readonly hostName?: string;
  readonly capabilities?: readonly AskedCapability[];
}

/** Maximum number of capability names in one request. */
const MAX_CAPABILITIES = 64;
/** Longest value of each kind of string, in characters. */
const LONGEST = { name: 200, reason: 1000, message: 500, hint: 320, id: 128 } as const;
const CAPABILITY = /^[a-z0-9_]{1,64}$/;
// Reasons and binding messages are checked with `STEERING`: they may contain line feeds and tabs, but no other control
// characters.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const STEERING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

export function wrong(member: string, what: string): Fault {
  return fault("invalid_request", `${member}: ${what}`);
}

/** Reads a required string property. */
export function textIn(
  body: { readonly [name: string]: unknown },
  member: string,
): Reading<string> {
  const value = body[member];
  if (value === undefined) return wrong(member, "is missing");
  if (typeof value !== "string" || value === "" || value.length > LONGEST.id) {
    return wrong(member, `must be a string of 1 to ${LONGEST.id} characters`);
  }
  return { ok: true, value };
}

/**
 * Reads a string that is shown to people, and removes markup from it (section 8.10). The value is `undefined` if the
 * string is absent, or if only markup and spaces were in it.
 */
function wordsIn(
  body: { readonly [name: string]: unknown },
  member: string,
  longest: number,
  steering: RegExp = CONTROLS,
): Reading<string | undefined> {
  const value = body[member];
  if (value === undefined) return { ok: true, value: undefined };
  if (typeof value !== "string" || value.length > longest) {
    return wrong(member, `must be a string of at most ${longest} characters`);
  }
  if (steering.test(value)) return wrong(member, "must not hold control characters");
  const plain = withoutMarkup(value).trim();
  return { ok: true, value: plain === "" ? undefined : plain };
}

/** Matches tags, comments and declarations as HTML's tokenizer does. */
const MARKUP = /<[a-z/!?][^>]*>/gi;

/** Removes markup repeatedly until none is left, since a removal can form new markup. */
function withoutMarkup(text: string): string {
  let plain = text;
  for (;;) {
    const less = plain.replaceAll(MARKUP, "");
    if (less === plain) return plain;
    plain = less;
  }
}

export function readHostName(
  from: { readonly [name: string]: unknown },
  member: string,
): Reading<string | undefined> {
  return wordsIn(from, member, LONGEST.name);
}

export function readRegistering(body: JsonObject): Reading<Registering> {
  const name = wordsIn(body, "name", LONGEST.name);
  if (!name.ok) return name;
  if (name.value === undefined) return wrong("name", "is missing");
  const { mode = "delegated" } = body;
  if (typeof mode !== "string") return wrong("mode", "must be a string");
  if (mode !== "delegated" && mode !== "autonomous") {
    return fault("unsupported_mode", 'mode: must be "delegated" or "autonomous"');
  }
  const hostName = readHostName(body, "host_name");
  if (!hostName.ok) return hostName;
  const asking = readAsking(body);
  if (!asking.ok) return asking;
  const { capabilities } = body;
  const asked = capabilities === undefined ? undefined : readAsked(capabilities, 0);
  if (asked !== undefined && !asked.ok) return asked;
  return {
    ok: true,
    value: {
      name: name.value,
      mode,
      ...asking.value,
      hostName: hostName.value,
      ...(asked === undefined ? {} : { capabilities: asked.value }),
    },
  };
}

export function readAsking(body: JsonObject): Reading<Asking> {
  const purpose = wordsIn(body, "reason", LONGEST.reason, STEERING);
  if (!purpose.ok) return purpose;
  const message = wordsIn(body, "binding_message", LONGEST.message, STEERING);
  if (!message.ok) return message;
  const hint = wordsIn(body, "login_hint", LONGEST.hint);
  if (!hint.ok) return hint;
  const method = wordsIn(body, "preferred_method", LONGEST.id);
  if (!method.ok) return method;
  return {
    ok: true,
    value: {
      purpose: purpose.value,
      bindingMessage: message.value,
      loginHint: hint.value,
      // If a client prefers another method than `ciba`, the protocol lets the server choose.
      ...(method.value === undefined
        ? {}
        : { method: method.value === "ciba" ? "backchannel" : "user_code" }),
    },
  };
}

/**
 * Reads the requested capabilities.
 *
 * @param least - Minimum number of capabilities.
 */
export function readAsked(value: unknown, least: number): Reading<readonly AskedCapability[]> {
  if (!Array.isArray(value) || value.length < least || value.length > MAX_CAPABILITIES) {
    return wrong("capabilities", `must be an array of ${least} to ${MAX_CAPABILITIES}`);
  }
  const asked: AskedCapability[] = [];
  for (const [at, item] of value.entries()) {
    const where = `capabilities[${at}]`;
    const { name, constraints }: { name?: unknown; constraints?: unknown } = isObject(item)
      ? item
      : { name: item };
    if (typeof name !== "string") {
      return wrong(where, "must be a name, or an object with a name");
    }
    if (asked.some((one) => one.name === name)) return wrong(where, "is named already");
    if (constraints === undefined) asked.push({ name });
    else if (!isJsonObject(constraints)) {
      return wrong(`${where}.constraints`, "must be an object of limits by argument");
    } else asked.push({ name, constraints });
  }
  const odd = asked.map(({ name }) => name).filter((name) => !CAPABILITY.test(name));
  if (odd.length === 0) return { ok: true, value: asked };
  return fault("invalid_capabilities", "names of capabilities have only a-z, 0-9 and _", {
    more: { invalid_capabilities: odd.map((name) => name.slice(0, 64)) },
  });
}

export function readNames(body: JsonObject): Reading<readonly string[]> {
  const { capabilities } = body;
  if (!isTexts(capabilities) || capabilities.length < 1) {
    return wrong("capabilities", "must be an array of at least one name");
  }
  if (capabilities.length > MAX_CAPABILITIES) {
    return wrong("capabilities", `must be at most ${MAX_CAPABILITIES}`);
  }
  return { ok: true, value: [...new Set(capabilities)] };
}

/** Reads the arguments of an execution; an empty object if there are none. */
export function readArguments(value: unknown, where: string): Reading<JsonObject> {
  if (value === undefined) return { ok: true, value: {} };
  if (isJsonObject(value)) return { ok: true, value };
  return wrong(where, "must be an object");
}

export function readIdempotencyKey(header: string | undefined): Reading<string | undefined> {
  if (header === undefined || /^[\x21-\x7e]{1,128}$/.test(header))
    return { ok: true, value: header };
  return wrong("Idempotency-Key", "must be 1 to 128 printable ASCII characters without spaces");
}

/** Bodies come from `JSON.parse`, so every object in a body is a plain JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}
