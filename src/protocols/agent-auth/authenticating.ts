import type { Request } from "express";
import type { HostRecord } from "../../agent/registry/records.js";
import type { Registry } from "../../agent/registry/registry.js";
import { readBearer } from "../../auth/bearer.js";
import type { RateLimit } from "../../http/callers.js";
import { RETRY_AFTER } from "../../http/fault.js";
import { ENDPOINTS } from "./discovery.js";
import { type Fault, refuse } from "./errors.js";
import {
  type AudienceRule,
  invalid,
  type ReadKey,
  readJwt,
  readKey,
  type UnverifiedJwt,
  type VerifiedJwt,
  verifyJwt,
} from "./jwt.js";
import {
  type Admission,
  type AgentParty,
  type Anonymous,
  type HostParty,
  type NewHost,
  type Party,
  standingFault,
} from "./party.js";

/** What parties are found in, and what their JWTs must be for. */
export interface PartyContext {
  readonly registry: Registry;
  /** The locations of capabilities, by their names: JWTs for these are introspected here. */
  readonly locations: ReadonlyMap<string, string>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The address that callers use, without a slash at its end. */
  readonly url: string;
  /** How often a party may call: by it, how many of its JWTs are remembered. */
  readonly rate: RateLimit;
}

/** What of a request the party depends on. */
type Addressed = Pick<Request, "method" | "path" | "headers">;

const ADVICE = "send a host JWT or an agent JWT";
/** Milliseconds for which a used `jti` is kept beyond the JWT's own time. */
const KEPT = 60_000;
/** Seconds for which a `jti` is remembered at most: a JWT is good for 60 at a clock that may be 5 ahead. */
const REMEMBERED = 125;
/** Processes of one issuer in each of which a party may call as often as the rate allows. */
const PROCESSES = 4;

/**
 * Finds out who makes a request: the signature first, then the rest; each JWT is good once, for good. A party
 * that may not call leaves nothing behind.
 *
 * @param limited - Why a party whose signature holds may not call now.
 * @throws StorageError
 */
export async function partyOf(
  req: Addressed,
  admitted: Admission,
  context: PartyContext,
  limited: (party: Known) => Promise<Fault | undefined> = async () => undefined,
): Promise<Party | Fault> {
  if (admitted === "any") return { kind: "anonymous" };
  const bearer = readBearer(req, ADVICE);
  if (!bearer.ok) {
    if (bearer.denial.code === "token_invalid") return refuse("invalid_jwt", bearer.denial.message);
    if (admitted === "optional") return { kind: "anonymous" };
    const { message } = bearer.denial;
    const nothing = { unrecorded: true };
    if (admitted === "new-host") return refuse("invalid_jwt", message, nothing);
    return refuse("unauthorized", message, { status: 401, ...nothing });
  }
  const unverified = readJwt(bearer.token);
  if (!unverified.ok) return unverified;
  const isHost = unverified.type === "host+jwt";
  const audiences = audienceRule(admitted, context);
  const party = isHost
    ? await hostOf(unverified, admitted === "new-host", audiences, context)
    : await agentOf(unverified, audiences, context);
  if ("ok" in party) return party;
  const tooMany = await limited(party);
  if (tooMany !== undefined) return tooMany;
  const standing = standingFault(party, admitted);
  if (standing !== undefined) return standing;
  const { jwt } = party;
  const key = thumbprintOf(party);
  const used = await usedBefore(key, jwt, context);
  if (used !== undefined) return used;
  const introspected = admitted === "introspected";
  // A JWT that is introspected was for a request to another server.
  const unbound = introspected ? undefined : bindingFault(req, jwt, context);
  if (unbound !== undefined) return unbound;
  if (party.kind === "agent" && !introspected) await context.registry.used(party.agent.id);
  return party;
}

/**
 * Uses a JWT up, and says why it may not be used.
 *
 * @param thumbprint - Of the key that it is signed with.
 */
export async function usedBefore(
  thumbprint: string,
  { jti, over }: VerifiedJwt,
  { registry, rate: { requests, seconds } }: Pick<PartyContext, "registry" | "rate">,
): Promise<Fault | undefined> {
  const most = PROCESSES * Math.ceil(requests * Math.max(1, REMEMBERED / seconds));
  const use = { scope: `jwt:${thumbprint}`, id: jti, expires: over + KEPT, most };
  switch (await registry.useOnce(use)) {
    case "first":
      return undefined;
    case "used":
      return refuse("jti_replay", 'the JWT has been used before ("jti"); make a new one a request');
    case "scope_full": {
      const message = `${most} JWTs of this key are remembered, as many as may be; wait until some expire`;
      return refuse("rate_limited", message, { retryAfter: RETRY_AFTER });
    }
    case "full": {
      const message = "as many JWTs are remembered as may be; try again soon";
      return refuse("unavailable", message, { retryAfter: RETRY_AFTER });
    }
  }
}

/** A JWT is for the server or for its endpoint of executions; another server's shows it for introspection. */
function audienceRule(
  admitted: Admission,
  { url, locations }: Pick<PartyContext, "url" | "locations">,
): AudienceRule {
  const own = [url, `${url}/`, `${url}${ENDPOINTS.execute}`];
  if (admitted !== "introspected") return (aud) => own.includes(aud);
  return (aud, capabilities = []) =>
    own.includes(aud) ||
    (capabilities.length > 0 && capabilities.every((name) => locations.get(name) === aud));
}

type Known = Exclude<Party, Anonymous>;

function thumbprintOf(party: Known): string {
  if (party.kind === "newcomer") return party.ready.thumbprint;
  return party.kind === "agent" ? party.agent.thumbprint : (party.host.thumbprint ?? party.host.id);
}

type Found<Of> = Promise<Of | Fault>;

async function hostOf(
  unverified: UnverifiedJwt,
  mayBeNew: boolean,
  audiences: AudienceRule,
  { registry, clock }: PartyContext,
): Found<HostParty | NewHost> {
  const { iss } = unverified;
  const named = iss === undefined ? undefined : await hostNamed(iss, registry);
  if (named !== undefined) {
    const key = await keyOf(named.key);
    const jwt = key.ok ? await verifyJwt(unverified, key.key, audiences, clock()) : key;
    if (!jwt.ok) return jwt;
    if (jwt.hostKey !== undefined) {
      // The registered key counts: another one in the JWT would pass for registered.
      const brought = await readKey(jwt.hostKey, "host_public_key");
      if (!brought.ok) return brought;
      if (brought.thumbprint !== named.thumbprint) {
        return invalid('brings another key than the registered one ("host_public_key")');
      }
    }
    return { kind: "host", host: named, jwt };
  }
  if (!mayBeNew) {
    const message = 'no host is registered under the "iss" of the JWT';
    return refuse("host_not_found", message, { status: 401 });
  }
  if (unverified.hostKey === undefined) {
    return invalid(
      unverified.claims["host_jwks_url"] === undefined
        ? 'of a host that is not registered must bring its key ("host_public_key")'
        : 'must bring the key itself ("host_public_key"): this server fetches no keys',
    );
  }
  const ready = await readKey(unverified.hostKey, "host_public_key");
  if (!ready.ok) return ready;
  const jwt = await verifyJwt(unverified, ready.key, audiences, clock());
  if (!jwt.ok) return jwt;
  if (iss !== undefined && iss !== ready.thumbprint) {
    return invalid('is of another host ("iss") than the key that it brings');
  }
  const known = await registry.hostByKey(ready.thumbprint);
  return known === undefined
    ? { kind: "newcomer", ready, jwt }
    : { kind: "host", host: known, jwt };
}

/** A host by the thumbprint of its key, as the text has it, or by its id, as answers have it. */
async function hostNamed(iss: string, registry: Registry): Promise<HostRecord | undefined> {
  if (iss.length > 128) return undefined;
  return (await registry.hostByKey(iss)) ?? (await registry.host(iss));
}

async function agentOf(
  unverified: UnverifiedJwt,
  audiences: AudienceRule,
  { registry, clock }: PartyContext,
): Found<AgentParty> {
  const { sub, iss } = unverified;
  const agent = sub === undefined || sub.length > 128 ? undefined : await registry.agent(sub);
  if (agent === undefined) {
    const message = 'no agent is registered under the "sub" of the JWT';
    return sub === undefined
      ? invalid('has no "sub"')
      : refuse("agent_not_found", message, { status: 401 });
  }
  const key = await keyOf(agent.key);
  const jwt = key.ok ? await verifyJwt(unverified, key.key, audiences, clock()) : key;
  if (!jwt.ok) return jwt;
  const host = await registry.host(agent.host);
  if (host === undefined || (iss !== undefined && iss !== host.id && iss !== host.thumbprint)) {
    return invalid('is of another host ("iss") than the agent');
  }
  return { kind: "agent", agent, host, jwt };
}

async function keyOf(key: unknown): Promise<ReadKey | Fault> {
  const read = await readKey(key, "key");
  return read.ok ? read : invalid("is of a party that has no key yet");
}

/** Why a JWT that is bound to a request is not for this one; its body is looked at later. */
function bindingFault(
  { method, path }: Addressed,
  { bound: { htm, htu } }: VerifiedJwt,
  { url }: PartyContext,
): Fault | undefined {
  if (htm !== undefined && htm.toUpperCase() !== method) {
    return refuse("request_binding_mismatch", 'the JWT is for another method ("htm")');
  }
  if (htu !== undefined && htu !== `${url}${path}`) {
    return refuse("request_binding_mismatch", 'the JWT is for another address ("htu")');
  }
  return undefined;
}
