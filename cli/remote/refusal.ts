import type { AgentDenialCode, RequestDenialCode } from "../../src/agent/refusal.js";
import type { DenialCode } from "../../src/capability/denial.js";
import type { AgentFault } from "../../src/client/fault.js";
import {
  type ReceivedDenial,
  type ReceivedRefusal,
  type ReceivedRefusedGrant,
  refusalIn,
} from "../../src/client/refusal.js";
import { ERROR_DOMAIN } from "../../src/protocols/a2a/extension.js";
import { CliError, EXIT, type ExitCode } from "../exit.js";
import { adviceForDenial, adviceIn } from "../refusal.js";
import type { RemoteCard } from "./card.js";

const MOST_NAMES = 20;

const NEW_TOKEN = "ask the agent for a new one: proviso request";

/** Hints for an agent's refusal of a call. {@link adviceForDenial} has the hints that also apply to other services. */
const CALL_ADVICE: { readonly [Code in DenialCode | AgentDenialCode]?: string } = {
  capability_missing: "proviso request asks for one; give it as @FILE or on standard input",
  authority_undeclared: "give a token, or --ambient to call on your own authority and declare it",
  capability_unknown: NEW_TOKEN,
  skill_unknown: "proviso card shows the agent's skills",
  arguments_invalid: "proviso card shows the arguments of every skill",
  handle_invalid: "use a handle that came with this very token; proviso inspect shows them",
  resource_gone: "ask for what is there now: proviso request",
  too_many_revocations: "wait until what you revoked has expired, or revoke the whole capability",
  policy_denied: "no token helps: the operator of the agent decides on this",
  foreign_issuer: "it is another agent's; ask this one for a token: proviso request",
  unknown_key: NEW_TOKEN,
  revoked: "ask the party that gave it to you for a new one, or the agent: proviso request",
  revocation_stale: "try again later: the agent has to refresh its revocation list",
  expired: NEW_TOKEN,
  grant_denied: "ask for a token of a grant that has this operation: proviso request --grant",
  operation_denied: "ask for a token with this operation: proviso request --op",
  resource_denied: "use a handle that the token still allows; proviso inspect shows them",
};

/** Hints for an agent's refusal of a request for capabilities. */
const REQUEST_ADVICE: { readonly [Code in RequestDenialCode]?: string } = {
  unknown_grant: "proviso card shows the agent's grants",
  missing_required_grants: "add --grant for each of them",
  resource_query_required: "say which with --collection, and --filter",
  unknown_collection: "name another with --collection",
  unknown_field: "name another in --filter",
  too_many_resources: "narrow --filter",
  approval_denied: "ask again, or for less, and let those who decide know why",
  too_many_pending: "wait until people have decided about some of them, or take one back",
  approval_unknown:
    "collect as the party that requested it, or request again: proviso request --grant",
  nothing_left: "ask for less, or ask the operator of the agent to allow it",
};

/** Returns the hint for one denial; `undefined` if the message of the denial suffices. */
export function adviceForCall(denial: ReceivedDenial): string | undefined {
  return adviceIn(CALL_ADVICE, denial.code) ?? adviceForDenial(denial);
}

/** Returns the error for a refused request for capabilities. */
export function requestRefusal(card: RemoteCard, fault: AgentFault): CliError {
  const found = refusalIn(fault.details, ERROR_DOMAIN);
  if (found === undefined) return faultError(card, fault);
  const { code, refused, ...others } = found;
  // The error lists the refused grants in its details, so the agent's own sentence would repeat them.
  const why = refused.length === 0 ? fault.message : "nothing is left of what was asked for";
  return new CliError({
    code,
    message: `${card.name} grants nothing: ${why}`,
    exitCode: EXIT.refused,
    hint: collectionsHint(found) ?? adviceIn(REQUEST_ADVICE, code),
    details: { ...others, ...refusedDetails(refused) },
  });
}

function collectionsHint({ code, known = [] }: ReceivedRefusal): string | undefined {
  if (code !== "resource_query_required" || known.length === 0) return undefined;
  return `say which with --collection, and --filter; the agent has ${known.slice(0, MOST_NAMES).join(", ")}`;
}

/** Returns details of an error that list the refused grants; empty if there are none. */
export function refusedDetails(refused: readonly ReceivedRefusedGrant[]): {
  readonly [name: string]: unknown;
} {
  if (refused.length === 0) return {};
  const problems = refused.map((one) => ({ ...one, message: refusedLine(one) }));
  return { problems };
}

/** Describes a refused grant in a sentence. */
export function refusedLine({ grant, takenBy, message }: ReceivedRefusedGrant): string {
  return `${grant}: ${message} (the ${takenBy} leaves nothing)`;
}

/** Returns the error for an agent's answer with an error status. */
export function faultError(card: RemoteCard, fault: AgentFault): CliError {
  const { status, message, reason, retryAfter } = fault;
  const who = card.name;
  const told = (code: string, text: string, exitCode: ExitCode, hint?: string): CliError =>
    new CliError({ code, message: text, exitCode, hint });
  if (status === 401) {
    const { code, text, hint, given } = challengeWords(fault);
    const exitCode = given ? EXIT.notAuthentic : EXIT.refused;
    return told(code, `${who} does not know who asks: ${text}`, exitCode, hint);
  }
  if (status === 429) {
    const wait = /^\d{1,6}$/.test(retryAfter ?? "") ? `wait ${retryAfter} s` : "wait a while";
    return told("rate_limited", `${who} is asked too often: ${message}`, EXIT.environment, wait);
  }
  if (status === 403) {
    const hint = "your access token may not do this; ask the operator of the agent";
    return told(reason ?? "forbidden", `${who} refuses: ${message}`, EXIT.refused, hint);
  }
  if (status >= 500) {
    const hint = "try again later, or report it to the operator of the agent";
    return told(reason ?? "agent_failed", `${who} failed: ${message}`, EXIT.environment, hint);
  }
  const hint = "proviso card shows what the agent takes";
  return told(reason ?? "refused", `${who} refuses: ${message}`, EXIT.refused, hint);
}

// RFC 6750, section 3: the challenge is written for the client, so the user may read it.
function challengeWords({ challenge = "", message, reason }: AgentFault) {
  const said = (name: string): string | undefined =>
    new RegExp(`[ ,]${name}="([^"]{1,400})"`, "i").exec(challenge)?.[1];
  const text = said("error_description") ?? message;
  const scope = said("scope");
  const metadata = said("resource_metadata");
  const needs = [
    ...(scope === undefined ? [] : [`it must have the scope ${scope}`]),
    ...(metadata === undefined ? [] : [`${metadata} says where to get one`]),
  ];
  const given = said("error") !== undefined || reason === "token_invalid";
  const advice = given
    ? "get a new access token"
    : "give your access token for this agent: --access-token @FILE, or PROVISO_ACCESS_TOKEN";
  const hint = [advice, ...needs].join("; ");
  return { code: reason ?? "unauthenticated", text, hint, given };
}
