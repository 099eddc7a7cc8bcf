import { isTexts } from "../../../bytes/json.js";
import type { GateAuthority } from "../authority/gate-authority.js";
import type { Message } from "../message/message.js";
import { CAPABILITY_KEY } from "./presented-tokens.js";
import { refusalAnswer } from "./refusal.js";
import { valueAt } from "./values.js";

/**
 * Returns the answer to an `initialize` whose caller gets no session over HTTP; `undefined` if it gets one. A session
 * starts servers, so whoever opens one must have tokens that are in force, whatever they allow.
 *
 * @param credentials - The tokens in the headers; those in `_meta` count too.
 */
export async function sessionRefusal(
  authority: GateAuthority,
  { id, method = "", value }: Message,
  credentials: readonly string[],
): Promise<string | undefined> {
  const given = valueAt(value, ["params", "_meta", CAPABILITY_KEY]) ?? [];
  const tokens = typeof given === "string" ? [given] : given;
  const presented = authority.present([...credentials, ...(isTexts(tokens) ? tokens : [])]);
  const denials = await authority.standing(presented);
  if (denials === undefined) return undefined;
  const [first, ...more] = denials;
  const message = first.code === "capability_missing" ? HOW_TO_PRESENT : first.message;
  return refusalAnswer({ id: id ?? null, method, era: "old" }, [{ ...first, message }, ...more]);
}

const HOW_TO_PRESENT =
  "over HTTP, initialize needs a token; send it with every request, initialize included, in the header " +
  "Proviso-Capability or as a bearer token in the header Authorization";
