import type { AgentDenials } from "../../../agent/refusal.js";
import { isTexts } from "../../../bytes/json.js";
import type { GateAuthority } from "../authority/gate-authority.js";
import type { SessionOpening } from "../front/http-front.js";
import type { Message } from "../message/message.js";
import { CAPABILITY_KEY } from "./presented-tokens.js";
import { refusalAnswer } from "./refusal.js";
import { valueAt } from "./values.js";

/**
 * Judges an `initialize` over HTTP: returns who opens the session, or the answer that refuses the session. A session
 * starts servers, so its opener must present tokens that are valid at present, whatever they allow. The opener is the
 * principal of the first token or, without a principal, the token's capability.
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
  const { principal, id: capability } = presented.tokens[0].identifier;
  return {
    opener: principal === undefined ? capability : `principal ${principal}`,
    credentials: tokens,
  };
}

/**
 * Returns whether the tokens of an open session are still valid, whatever they allow. While the revocation list cannot
 * be read, the tokens count as valid: the gate then refuses every call, and the session can continue afterwards.
 */
export async function isInForce(
  authority: GateAuthority,
  credentials: readonly string[],
): Promise<boolean> {
  const presented = authority.present(credentials);
  const denials = presented.ok ? await authority.standing(presented) : presented.denials;
  return denials?.every(({ code }) => code === "revocation_stale") ?? true;
}

const HOW_TO_PRESENT =
  "over HTTP, initialize needs a token; send it with every request, initialize included, in the header " +
  "Proviso-Capability or as a bearer token in the header Authorization";
