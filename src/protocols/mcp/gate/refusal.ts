import { type AgentDenials, MOST_DENIALS } from "../../../agent/refusal.js";
import type { ArgumentRemedy } from "../../../caveats/argument-remedies.js";
import { counted } from "../../../display/counted.js";
import type { GateRemedy } from "../authority/gate-authority.js";
import { INVALID_PARAMS, REFUSED } from "../message/error-codes.js";
import { type Era, errorText, resultText } from "../message/message.js";

/** A request that is refused. */
interface Refused {
  readonly id: string | number | null;
  readonly method: string;
  readonly era: Era;
}

/** The property with the envelope of SEP-2643, which any MCP client can read. */
const ENVELOPE = "io.modelcontextprotocol/authorization";
/** The property with every reason, for clients that know proviso. */
const DENIALS = "dev.proviso/denials";
/** The property with remedies that change no argument: another token, or a request for a capability. */
const REMEDIES = "dev.proviso/remedies";

/**
 * Makes the answer to a refused request. A refused tools/call gets a result with `isError`, which the model reads and
 * which does not end the session. Any other refused request gets a JSON-RPC error with the same data. A retry that does
 * not continue a known call also gets an error, because a result would complete the call as if the server had accepted
 * its state (SEP-2322).
 */
export function refusalAnswer(
  request: Refused,
  denials: AgentDenials,
  remedies: readonly GateRemedy[] = [],
): string {
  const data = {
    [ENVELOPE]: envelope([...changesIn(denials), ...remedies]),
    [DENIALS]: denials.slice(0, MOST_DENIALS),
    [REMEDIES]: remedies.length === 0 ? undefined : remedies,
  };
  const sentence = sentenceOf(denials);
  const [{ code }] = denials;
  return code === "input_unknown"
    ? errorText(request.id, INVALID_PARAMS, sentence, data)
    : answer(request, sentence, data);
}

function envelope(remedies: readonly (ArgumentRemedy | GateRemedy)[]): object {
  const reason = "insufficient_authorization";
  if (remedies.length === 0) return { reason, remediation: "undisclosed" };
  const hints = remedies.map(({ kind, ...how }) => ({ type: `dev.proviso/${kind}`, ...how }));
  return { reason, remediation: "available", remediationHints: hints };
}

function answer({ id, method, era }: Refused, sentence: string, data: object): string {
  if (method !== "tools/call") return errorText(id, REFUSED, sentence, data);
  const result = { content: [{ type: "text", text: sentence }], isError: true, _meta: data };
  return resultText(id, era === "new" ? { resultType: "complete", ...result } : result);
}

/**
 * Returns the text for the model: the first reason, the number of further reasons, and the changes that would make the
 * call allowed. Does not suggest the `nearest` value of a denial, because another rule may refuse this value.
 */
function sentenceOf(denials: AgentDenials): string {
  const [{ message }] = denials;
  const more = denials.length === 1 ? "" : ` (and ${counted(denials.length - 1, "more reason")})`;
  return `Refused by proviso: ${message}${more}.${allowedWith(denials)}`;
}

/** Returns a sentence about the arguments with which the call would be allowed; "" if they are not known. */
function allowedWith(denials: AgentDenials): string {
  const changes = changesIn(denials).map((remedy) =>
    remedy.kind === "remove_argument"
      ? `without ${remedy.pointer}`
      : `with ${remedy.pointer} = ${JSON.stringify(remedy.value)}`,
  );
  return changes.length === 0 ? "" : ` It would be allowed ${changes.join(" and ")}.`;
}

/** Returns the remedies of all denials without duplicates: denials of several tokens may have the same remedy. */
function changesIn(denials: AgentDenials): readonly ArgumentRemedy[] {
  const changes = denials.flatMap(({ remedy }) => remedy ?? []);
  const texts = changes.map((change) => JSON.stringify(change));
  return changes.filter((_, at) => texts.indexOf(texts[at] ?? "") === at);
}
