import type { AuthenticToken } from "../capability/authentic-token.js";
import type { Authentication } from "../capability/authenticate.js";
import type { RefusedCapability, VerifiedCapability } from "../capability/authorize.js";
import { assertArray, assertOptionalString } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";
import type { Issuer } from "../issuer/issuer.js";
import type { Presenter } from "./caller.js";
import type { IssuedCapability, Ledger } from "./ledger.js";
import type { AgentDenial, AgentDenials, Denied } from "./refusal.js";

/** A capability in a call: its token, or only its id if it was issued to the caller. */
export interface PresentedCapability {
  readonly id?: string;
  readonly token?: string;
}

/** Maximum number of capabilities in one call. */
export const MAX_PRESENTED = 8;

export interface PresentedContext {
  readonly issuer: Issuer;
  readonly ledger: Ledger;
  readonly audience: string;
}

/**
 * A presented capability whose signatures are valid, or the reasons why it is refused. Later checks need no HMAC
 * and no parsing. Made by {@link IssuingAgent.authenticate}.
 */
export type AuthenticatedCapability = AuthenticCapability | Denied;

/** A presented capability with valid signatures. It may have expired or been revoked. */
export interface AuthenticCapability {
  readonly ok: true;
  readonly token: AuthenticToken;
}

/** A presented capability that currently allows something. */
export interface AdmittedCapability {
  readonly presented: AuthenticCapability;
  readonly capability: VerifiedCapability;
}

/** A capability passed to a method: as presented by the caller, or already authenticated. */
export type Presented = PresentedCapability | AuthenticatedCapability;

/**
 * Updates the revocation list, then verifies each distinct token once. Capabilities beyond {@link
 * MAX_PRESENTED} are denied without being read.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function authenticateAll(
  presented: readonly Presented[],
  caller: Presenter,
  context: PresentedContext,
): Promise<readonly AuthenticatedCapability[]> {
  assertArray(presented, "capabilities", "capabilities");
  await context.issuer.catchUp();
  if (presented.length <= MAX_PRESENTED && presented.every(isAuthenticated)) return presented;
  const known = new Map<string, Authentication>();
  const authentic: AuthenticatedCapability[] = [];
  for (const one of presented.slice(0, MAX_PRESENTED)) {
    authentic.push(await authenticateOne(one, caller, context, known));
  }
  return presented.length > MAX_PRESENTED ? [...authentic, tooMany()] : authentic;
}

/**
 * Authenticates one capability. Until the capability expires, the party to which it was issued may present the id
 * without the token. A token that is presented with the id of another capability is denied.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function authenticateOne(
  one: Presented,
  caller: Presenter,
  { issuer, ledger }: PresentedContext,
  known: Map<string, Authentication> = new Map(),
): Promise<AuthenticatedCapability> {
  await issuer.catchUp();
  if (isAuthenticated(one)) return one;
  const own = plainPresented(one);
  return branded(await authenticated(own, caller, { issuer, ledger }, known));
}

/**
 * Copies the capabilities of a call; authenticated capabilities are not copied.
 *
 * @throws TypeError naming the value that is not plain data or not a string.
 */
export function ownPresented(presented: readonly Presented[]): readonly Presented[] {
  return presented.map((one) => (isAuthenticated(one) ? one : plainPresented(one)));
}

function plainPresented(one: PresentedCapability): PresentedCapability {
  const { id, token } = plainObject(one, "capability");
  assertOptionalString(id, "capability.id");
  assertOptionalString(token, "capability.token");
  return { id, token };
}

// Remembers verified objects by identity, so that JSON of the same shape does not count as verified.
const made = new WeakSet<Presented>();

/** Marks an object as the result of a verification, and freezes it. */
export function branded<Answer extends AuthenticatedCapability>(answer: Answer): Answer {
  made.add(answer);
  return Object.freeze(answer);
}

function isAuthenticated(one: Presented): one is AuthenticatedCapability {
  return made.has(one);
}

async function authenticated(
  { id, token }: PresentedCapability,
  caller: Presenter,
  { issuer, ledger }: Pick<PresentedContext, "issuer" | "ledger">,
  known: Map<string, Authentication>,
): Promise<AuthenticatedCapability> {
  let text = token;
  if (text === undefined) {
    const issued = id === undefined ? undefined : await ledger.issued(id);
    text = isIssuedTo(caller, issued) ? issuer.remake(issued) : undefined;
    if (text === undefined) return { ok: false, denials: [unknownCapability(id)] };
  }
  const authentication = known.get(text) ?? issuer.authenticate(text);
  known.set(text, authentication);
  if (!authentication.ok) return { ok: false, denials: [authentication.denial] };
  const authentic = authentication.token;
  if (id === undefined || id === authentic.identifier.id) return { ok: true, token: authentic };
  return { ok: false, denials: [unknownCapability(id)] };
}

/**
 * Returns what a capability currently allows this caller, or every reason why it allows nothing. A refusal
 * includes the capability if the capability is authentic.
 */
export function standingOf(
  one: AuthenticatedCapability,
  { invoker }: Presenter,
  { issuer, audience }: PresentedContext,
): Standing {
  if (!one.ok) return { allowed: false, denials: one.denials };
  const standing = issuer.standing(one.token, { invoker, audience });
  return standing.allowed ? { ...standing, presented: one } : standing;
}

type Standing =
  | ({ readonly allowed: true } & AdmittedCapability)
  | {
      readonly allowed: false;
      readonly denials: AgentDenials;
      readonly capability?: RefusedCapability;
    };

function tooMany(): Denied {
  const message = `a call may present at most ${MAX_PRESENTED} capabilities`;
  const denial = { code: "token_too_large", rule: "capabilities", message } as const;
  return branded({ ok: false, denials: [denial] });
}

/** Returns whether a capability was issued to the caller: same principal, same invoker. */
export function isIssuedTo(
  { principal, invoker }: Presenter,
  issued: IssuedCapability | undefined,
): issued is IssuedCapability {
  if (issued === undefined) return false;
  return issued.principal === principal && issued.invoker === invoker;
}

/** Returns the denial of an id that the caller may not use. */
function unknownCapability(id: string | undefined): AgentDenial {
  const message =
    "no capability of this id was issued to this caller and is still alive; present the token";
  return {
    code: "capability_unknown",
    rule: "id",
    message,
    // A string that is not an id might be a token given by mistake, so do not repeat it.
    ...(id !== undefined && ID.test(id) ? { actual: id } : {}),
  };
}

const ID = /^cap_[A-Za-z0-9_-]{1,64}$/;
