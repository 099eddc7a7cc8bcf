import { inspect } from "../src/capability/inspect.js";
import { seenFromNow } from "./moment.js";
import { printable } from "./printable.js";

/** One line about a token that was just made, for standard error. Never holds the token. */
export function summaryLine(token: string): string {
  const { capability, authority, revocationId } = inspect(token);
  const { expires } = authority;
  const id = printable(capability?.id ?? "not a capability");
  const seen = seenFromNow(expires ?? "", Date.now());
  const verb = seen.endsWith("ago") ? "expired" : "expires";
  const when = expires === undefined ? "never expires" : `${verb} ${seen} (${expires})`;
  return `${id} ${when}, revocation id ${revocationId}`;
}
