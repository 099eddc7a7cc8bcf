import type { Request } from "express";
import type {
  AuthenticationDenial,
  Authenticator,
  Caller,
  CallerAuthentication,
} from "../../agent/caller.js";
import type { CapabilityIdentity, Delegations } from "../../agent/delegation/delegations.js";
import type { DelegationCaller } from "../../agent/delegation/holdings.js";
import { readBearer } from "../../auth/bearer.js";
import { callerOf } from "../../http/callers.js";
import { CAPABILITY_HEADER } from "../../http/headers.js";

type Presented = Extract<CapabilityIdentity, { ok: true }>;

// Identities by caller object. Each request that presents a capability gets a new caller object.
const presented = new WeakMap<Caller, Presented>();

/**
 * Longest capability that is read from a header, in characters. By default, Node's HTTP server allows less for all
 * headers together.
 */
const LONGEST_HEADER = 48 * 1024;
const ADVICE = "send an access token, or a capability";
const ID = /^cap_[A-Za-z0-9_-]{1,64}$/;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Returns an authenticator that accepts a capability in place of an access token, and leaves other credentials
 * to `others`.
 */
export function bearerIdentity(delegations: Delegations, others: Authenticator): Authenticator {
  return {
    issuer: others.issuer,
    audience: others.audience,
    scope: others.scope,
    async authenticate(request): Promise<CallerAuthentication> {
      const bearer = readBearer(request, ADVICE, LONGEST_HEADER);
      const identity = bearer.ok ? await delegations.identify(bearer.token) : undefined;
      if (identity === undefined) return others.authenticate(request);
      if (!identity.ok) return refused(identity.denial.message);
      const caller = { ...identity.caller };
      presented.set(caller, identity);
      return { ok: true, caller };
    },
  };
}

function refused(why: string): CallerAuthentication {
  const denial: AuthenticationDenial = {
    code: "token_invalid",
    message: `the capability that the request presents is refused: ${why}`,
  };
  return { ok: false, denial };
}

/** The caller with its credentials, or a message about what is wrong with the credentials. */
export type CallerReading =
  | {
      readonly ok: true;
      readonly by: DelegationCaller;
      /** `true` if the presented capability is bound to an agent and therefore does not identify the caller. */
      readonly bound: boolean;
      /** The name of the header that has the capability. */
      readonly header: string;
    }
  | { readonly ok: false; readonly message: string };

/** Returns the caller of a request that {@link bearerIdentity} has authenticated. */
export function readCaller(req: Request): CallerReading {
  const caller = callerOf(req);
  const identity = presented.get(caller);
  const picked = req.get(CAPABILITY_HEADER);
  if (identity !== undefined) {
    if (picked !== undefined) {
      const message = `the header ${CAPABILITY_HEADER} goes with an access token, and the Bearer token is a capability`;
      return { ok: false, message };
    }
    const { credential, bound } = identity;
    return { ok: true, by: { caller, credential }, bound, header: "Authorization" };
  }
  if (picked === undefined)
    return { ok: true, by: { caller }, bound: false, header: "Authorization" };
  if (!TOKEN.test(picked)) {
    const message = `the header ${CAPABILITY_HEADER} must hold one capability's token, or its id`;
    return { ok: false, message };
  }
  const one = ID.test(picked) ? { id: picked } : { token: picked };
  return { ok: true, by: { caller, picked: one }, bound: false, header: CAPABILITY_HEADER };
}
