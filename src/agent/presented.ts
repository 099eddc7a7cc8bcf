import type { AuthenticToken } from "../capability/authentic-token.js";
import type { Authentication } from "../capability/authenticate.js";
import type { RefusedCapability, VerifiedCapability } from "../capability/authorize.js";
import { assertArray, assertOptionalString } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";
import type { Issuer } from "../issuer/issuer.js";
import type { Presenter } from "./caller.js";
import type { IssuedCapability, Ledger } from "./ledger.js";
import type { AgentDenial, AgentDenials, Denied } from "./refusal.js";

/** A capability as a caller presents it: by its token, or by its id alone if it was issued to it. */
export interface PresentedCapability {
  readonly id?: string;
  readonly token?: string;
}

/** Most capabilities in one call. */
export const MAX_PRESENTED = 8;

/** The dependencies for finding and judging presented capabilities. */
export interface PresentedContext {
  readonly issuer: Issuer;
  readonly ledger: Ledger;
  readonly audience: string;
}

/**
 * A presented capability whose signatures have been verified, or why they have not: whatever is asked of
 * it afterwards needs no HMAC and no parsing. Made by {@link IssuingAgent.authenticate}.
 */
export type AuthenticatedCapability = AuthenticCapability | Denied;

/** A presented capability whose signatures hold: it may have expired, or be revoked. */
export interface AuthenticCapability {
  readonly ok: true;
  readonly token: AuthenticToken;
}

/** A presented capability that is good for something. */
export interface AdmittedCapability {
  readonly presented: AuthenticCapability;
  readonly capability: VerifiedCapability;
}

/** The capabilities of a method: as presented by its caller, or authenticated. */
export type Presented = PresentedCapability | AuthenticatedCapability;

/**
 * Brings the revocation list up to date, then verifies each distinct token once. Those over {@link MAX_PRESENTED} are denied unread.
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
 * The party that a capability was issued to may present its id in place of its token, while it lives. A
 * token under another id than its own is denied.
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
 * A copy of the capabilities of a call; those that are authenticated stay as they are.
 *
 * @throws TypeError naming the value that is not plain data, or not a string.
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

// Remembers verified objects by identity, so that JSON of the same shape is not taken for one.
const made = new WeakSet<Presented>();

/** Marks objects that were verified here. */
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
 * Judges what it allows this caller now, or returns every reason why nothing, with the capability if it is
 * authentic.
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

/** Returns whether a capability was issued to the very party that calls. */
export function isIssuedTo(
  { principal, invoker }: Presenter,
  issued: IssuedCapability | undefined,
): issued is IssuedCapability {
  if (issued === undefined) return false;
  return issued.principal === principal && issued.invoker === invoker;
}

/** The denial for an id that is not the caller's to use. */
function unknownCapability(id: string | undefined): AgentDenial {
  const message =
    "no capability of this id was issued to this caller and is still alive; present the token";
  return {
    code: "capability_unknown",
    rule: "id",
    message,
    // Whatever is no id may be a token that was put in its place.
    ...(id !== undefined && ID.test(id) ? { actual: id } : {}),
  };
}

const ID = /^cap_[A-Za-z0-9_-]{1,64}$/;
