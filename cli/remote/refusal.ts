import type { AgentDenialCode, RequestDenialCode } from "../../src/agent/refusal.js";
import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import type { DenialCode } from "../../src/capability/denial.js";
import { adviceForToken, exitForDenial } from "../advice.js";
import type { ShownDenial } from "../denial-lines.js";
import { CliError, EXIT, type ExitCode } from "../exit.js";
import { objectsIn, type RemoteCard, textIn, textsIn } from "./card.js";
import type { RemoteFault } from "./fault.js";
import { isDeeperThan } from "./fetch.js";

type AnyDenialCode = DenialCode | AgentDenialCode;

const NEW_TOKEN = "ask the agent for a new one: proviso request";
const NARROWED_BADLY = "ask whoever narrowed the token to do it again, with proviso attenuate";

/** What to do about an agent's refusal of a call, where the denial itself does not say all. */
const CALL_ADVICE: { readonly [Code in AnyDenialCode]?: string } = {
  capability_missing: "proviso request asks for one; give it as @FILE or on standard input",
  authority_undeclared: "give a token, or --ambient to call on your own authority and declare it",
  capability_unknown: NEW_TOKEN,
  skill_unknown: "proviso card shows the agent's skills",
  arguments_invalid: "proviso card shows the arguments of every skill",
  handle_invalid: "use a handle that came with this very token; proviso inspect shows them",
  resource_gone: "ask for what is there now: proviso request",
  policy_denied: "no token helps: whoever runs the agent decides on this",
  foreign_issuer: "it is another agent's; ask this one for a token: proviso request",
  unknown_key: NEW_TOKEN,
  signature_mismatch: "do not trust it; ask whoever gave it to you for it again",
  discharge_missing: "get the discharge from the third party and put it behind the token",
  discharge_invalid: "get a fresh discharge from the third party, bound to this very token",
  revoked: "ask whoever gave it to you for a new one, or the agent: proviso request",
  revocation_stale: "try again later: the agent has to refresh its revocation list",
  caveat_malformed: NARROWED_BADLY,
  caveat_unknown: NARROWED_BADLY,
  expired: NEW_TOKEN,
  not_yet_valid: "wait, or ask for a token that is valid now",
  grant_denied: "ask for a token of a grant that has this operation: proviso request --grant",
  operation_denied: "ask for a token with this operation: proviso request --op",
  resource_denied: "use a handle that the token still allows; proviso inspect shows them",
};

/** What to do about an agent's refusal of a request, where the problem itself does not say all. */
const REQUEST_ADVICE: { readonly [Code in RequestDenialCode]?: string } = {
  unknown_grant: "proviso card shows the agent's grants",
  missing_required_grants: "add --grant for each of them",
  resource_query_required: "say which with --collection, and --filter",
  unknown_collection: "name another with --collection",
  unknown_field: "name another in --filter",
  too_many_resources: "narrow --filter",
  nothing_left: "ask for less, or whoever runs the agent to allow it",
};

// The order of the core's checks, and what each ends with.
const JUDGED: readonly DenialCode[] = [
  "token_malformed",
  "token_truncated",
  "token_too_large",
  "foreign_issuer",
  "unknown_key",
  "signature_mismatch",
  "discharge_missing",
  "discharge_invalid",
  "revoked",
  "revocation_stale",
];

const LONGEST = 1000;
const DEEPEST = 16;

/** The reasons for which an agent refuses a call; none if the error is about something else. */
export function denialsIn({ struct, metadata }: RemoteFault): readonly ShownDenial[] {
  // An older agent has them as a text alone.
  return objectsIn(shallow(struct["denials"]) ?? parsed(metadata["denials"])).map(
    (denial): ShownDenial => {
      const { hop, discharge, capability, rule, expected, actual, nearest } = denial;
      return {
        code: cut(textIn(denial["code"]) ?? "refused"),
        message: cut(textIn(denial["message"]) ?? "it gives no reason"),
        ...(typeof hop === "number" ? { hop } : {}),
        ...(typeof discharge === "number" ? { discharge } : {}),
        ...(typeof capability === "number" ? { capability } : {}),
        ...(typeof rule === "string" ? { rule: cut(rule) } : {}),
        ...(expected === undefined ? {} : { expected }),
        ...(actual === undefined ? {} : { actual }),
        ...(nearest === undefined ? {} : { nearest }),
      };
    },
  );
}

/** What to do about one reason; `undefined` where it says all itself. */
export function adviceForCall({ code, rule = "" }: ShownDenial): string | undefined {
  if (code === "token_malformed" || code === "token_too_large") return adviceForToken(rule);
  return adviceIn(CALL_ADVICE, code);
}

/** The exit code that an agent's refusal ends with: that of `proviso verify`. */
export function exitForCall(code: string): ExitCode {
  const known = JUDGED.find((one) => one === code);
  return known === undefined ? EXIT.refused : exitForDenial(known);
}

/** An agent's refusal to grant what was asked for. */
export function requestRefusal(card: RemoteCard, fault: RemoteFault): CliError {
  const found = parsed(fault.metadata["problem"]);
  if (found === undefined || !isJsonObject(found)) return faultError(card, fault);
  const code = cut(textIn(found["code"]) ?? "request_refused");
  const refused = refusedGrants(found["refused"]);
  // With the grants below, the sentence would stand there twice.
  const why = refused.length === 0 ? fault.message : "nothing is left of what was asked for";
  return new CliError({
    code,
    message: `${card.name} grants nothing: ${why}`,
    exitCode: EXIT.refused,
    hint: adviceIn(REQUEST_ADVICE, code),
    details: { ...detailsFrom(found), ...refusedDetails(refused) },
  });
}

/** A grant under which an agent issued nothing, and why. */
export interface RefusedGrant {
  readonly grant: string;
  readonly takenBy: string;
  readonly message: string;
}

/** The grants under which nothing was issued, as an agent tells them. */
export function refusedGrants(value: Json | undefined): readonly RefusedGrant[] {
  return objectsIn(value).map((one) => ({
    grant: cut(textIn(one["grant"]) ?? ""),
    takenBy: cut(textIn(one["takenBy"]) ?? "unknown"),
    message: cut(textIn(one["message"]) ?? "it gives no reason"),
  }));
}

/** Refused grants as an error tells them: each in a line, and as data. */
export function refusedDetails(refused: readonly RefusedGrant[]): {
  readonly [name: string]: unknown;
} {
  if (refused.length === 0) return {};
  const problems = refused.map((one) => ({ ...one, message: refusedLine(one) }));
  return { problems };
}

/** A refused grant in a sentence. */
export function refusedLine({ grant, takenBy, message }: RefusedGrant): string {
  return `${grant}: ${message} (the ${takenBy} leaves nothing)`;
}

/** Any other error that an agent answered with. */
export function faultError(card: RemoteCard, fault: RemoteFault): CliError {
  const { status, message, reason, retryAfter } = fault;
  const who = card.name;
  const told = (code: string, text: string, exitCode: ExitCode, hint?: string): CliError =>
    new CliError({ code, message: text, exitCode, hint });
  if (status === 401) {
    const { code, text, hint } = challengeWords(fault);
    return told(code, `${who} does not know who asks: ${text}`, EXIT.refused, hint);
  }
  if (status === 429) {
    const wait = /^\d{1,6}$/.test(retryAfter ?? "") ? `wait ${retryAfter} s` : "wait a while";
    return told("rate_limited", `${who} is asked too often: ${message}`, EXIT.environment, wait);
  }
  if (status === 403) {
    const hint = "your access token may not do this; ask whoever runs the agent";
    return told(reason ?? "forbidden", `${who} refuses: ${message}`, EXIT.refused, hint);
  }
  if (status >= 500) {
    const hint = "try again later, or tell whoever runs the agent";
    return told(reason ?? "agent_failed", `${who} failed: ${message}`, EXIT.environment, hint);
  }
  const hint = "proviso card shows what the agent takes";
  return told(reason ?? "refused", `${who} refuses: ${message}`, EXIT.refused, hint);
}

interface ChallengeWords {
  readonly code: string;
  readonly text: string;
  readonly hint: string;
}

// RFC 6750, section 3: what the challenge says is for the client, and so for who runs it.
function challengeWords({ challenge = "", message, reason }: RemoteFault): ChallengeWords {
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
  return { code: reason ?? "unauthenticated", text, hint: [advice, ...needs].join("; ") };
}

function detailsFrom(problem: JsonObject): { readonly [name: string]: unknown } {
  const path = textIn(problem["path"]);
  const known = textsIn(problem["known"]);
  const grants = textsIn(problem["grants"]);
  return {
    ...(path === undefined ? {} : { path }),
    ...(known.length === 0 ? {} : { known }),
    ...(grants.length === 0 ? {} : { grants }),
  };
}

function adviceIn(advice: { readonly [code: string]: string }, code: string): string | undefined {
  return Object.hasOwn(advice, code) ? advice[code] : undefined;
}

function parsed(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return shallow(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function shallow(value: Json | undefined): Json | undefined {
  return value === undefined || isDeeperThan(value, DEEPEST) ? undefined : value;
}

function cut(text: string): string {
  return text.slice(0, LONGEST);
}
