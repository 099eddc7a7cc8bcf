import type { AgentDenials } from "../../../agent/refusal.js";
import { isTexts } from "../../../bytes/json.js";
import { StorageError } from "../../../storage/storage-error.js";
import type { GateAuthority, Presented } from "../authority/gate-authority.js";
import type { SessionOpening } from "../front/http-front.js";
import type { Message } from "../message/message.js";
import { valueAt } from "../message/values.js";
import { CAPABILITY_KEY, isInForce } from "./presented-tokens.js";
import { refusalAnswer } from "./refusal.js";

/**
 * Judges an `initialize` over HTTP: returns who opens the session, or the answer that refuses the session. A session
 * starts servers, so its opener must present tokens that are valid at present, whatever they allow.
 *
 * @param credentials - The tokens in the HTTP headers. The tokens in `_meta` are judged too.
 */
export async function sessionOpening(
  authority: GateAuthority,
  { id, method = "", value }: Message,
  credentials: readonly string[],
): Promise<SessionOpening> {
  const given = valueAt(value, ["params", "_meta", CAPABILITY_KEY]) ?? [];
  const inMeta = typeof given === "string" ? [given] : given;
  const tokens = [...credentials, ...(isTexts(inMeta) ? inMeta : [])];
  const presented = authority.present(tokens);
  const refused = (denials: AgentDenials): SessionOpening => {
    const [first, ...more] = denials;
    const message = first.code === "capability_missing" ? HOW_TO_PRESENT : first.message;
    const about = { id: id ?? null, method, era: "old" } as const;
    return { refusal: refusalAnswer(about, [{ ...first, message }, ...more]) };
  };
  if (!presented.ok) return refused(presented.denials);
  const denials = await authority.standing(presented);
  if (denials !== undefined) return refused(denials);
  return { opener: nameOf(presented), credentials: tokens };
}

/**
 * Returns a name for the party that presents tokens, whatever they allow: the principal of the first token or, without
 * a principal, the token's capability. Returns `undefined` if a token is not in force, or if there is none.
 *
 * @throws StorageError while the keys cannot be read.
 */
export async function callerOf(
  authority: GateAuthority,
  credentials: readonly string[],
): Promise<string | undefined> {
  const presented = authority.present(credentials);
  if (presented.ok) return (await isInForce(authority, presented)) ? nameOf(presented) : undefined;
  // Tokens that cannot be judged may still be in force, so sessions must not end.
  const areKeysUnreadable = presented.denials.some(({ rule }) => rule === "keys");
  if (areKeysUnreadable) throw new StorageError("key_file_unreadable", "the issuer's keys");
  return undefined;
}

function nameOf({ tokens: [first] }: Extract<Presented, { ok: true }>): string {
  const { principal, id: capability } = first.identifier;
  return principal === undefined ? capability : `principal ${principal}`;
}

const HOW_TO_PRESENT =
  "over HTTP, initialize needs a token; send it with every request, initialize included, in the header " +
  "Proviso-Capability or as a bearer token in the header Authorization";
