import { MAX_PRESENTED } from "../../../agent/presented.js";
import { isTexts, textsIn } from "../../../bytes/json.js";
import type { GateAuthority, Presented } from "../authority/gate-authority.js";
import type { Exchange } from "../front/exchange.js";
import { type Edit, edit } from "../message/edit.js";
import type { Message } from "../message/message.js";
import { readHeaderValue } from "../message/mirrored-headers.js";
import { objectAt, valueAt, without } from "../message/values.js";

/** The property of `_meta` by which a message presents capability tokens: a string, or an array of strings. */
export const CAPABILITY_KEY = "dev.proviso/capability";

/** Properties that may contain `_meta`: `params` of a request or notification, `result` of a response. */
const WITH_META = ["params", "result"];

/** A message without its tokens, and these tokens; or a sentence that says what is wrong with the message. */
export type Separated =
  | { readonly ok: true; readonly message: Message; readonly credentials: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Removes the tokens from a host's message. Refuses a message that contains one of these tokens, or a token of the
 * gate, in any other part, because a server would receive it.
 */
export function separateTokens(
  given: Message,
  { credentials, headers = {} }: Exchange,
  authority: GateAuthority,
): Separated {
  const inMeta = valueAt(given.value, ["params", "_meta", CAPABILITY_KEY]) ?? [];
  const tokens = typeof inMeta === "string" ? [inMeta] : inMeta;
  if (!isTexts(tokens)) {
    const problem = `params._meta["${CAPABILITY_KEY}"] must be a token, or an array of tokens`;
    return { ok: false, problem };
  }
  const presented = [...credentials, ...tokens];
  // The time for searching the message grows with the number of tokens.
  if (presented.length > MAX_PRESENTED) {
    return { ok: false, problem: `a message may present at most ${MAX_PRESENTED} tokens` };
  }
  const message = withoutTokens(given);
  const secrets = authority.texts(presented).filter((token) => token !== "");
  const sent = [message.value, ...Object.values(headers).map(decoded)];
  if (secrets.length > 0 && hasAny(sent, secrets)) {
    return { ok: false, problem: "a token stands in a part of the message that the server gets" };
  }
  return { ok: true, message, credentials: presented };
}

/**
 * Returns whether tokens are valid at present, whatever they allow. While the revocation list cannot be read, the
 * tokens count as valid: the gate then refuses every call, and an open session or subscription can continue afterwards.
 */
export async function isInForce(authority: GateAuthority, presented: Presented): Promise<boolean> {
  const denials = await authority.standing(presented);
  return denials?.every(({ code }) => code === "revocation_stale") ?? true;
}

/** Copies a message without the tokens in its `_meta`. */
export function withoutTokens(message: Message): Message {
  let { value } = message;
  const edits: Edit[] = [];
  for (const name of WITH_META) {
    const meta = objectAt(value, [name, "_meta"]);
    if (meta === undefined || !Object.hasOwn(meta, CAPABILITY_KEY)) continue;
    edits.push({ path: [name, "_meta", CAPABILITY_KEY], value: undefined });
    const outer = { ...objectAt(value, [name]), _meta: without(meta, [CAPABILITY_KEY]) };
    value = { ...value, [name]: outer };
  }
  return edits.length === 0 ? message : { ...message, text: edit(message.text, edits), value };
}

function hasAny(value: unknown, secrets: readonly string[]): boolean {
  for (const text of textsIn(value)) {
    if (secrets.some((secret) => text.includes(secret))) return true;
  }
  return false;
}

function decoded(header: string): string {
  return readHeaderValue(header) ?? header;
}
