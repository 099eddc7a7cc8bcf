import type { Request } from "express";
import { isUsersHost } from "../../agent/parties/hosts.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { HostRecord } from "../../agent/parties/records.js";
import { readBearer } from "../../auth/bearer.js";
import type { RateLimit } from "../../http/callers.js";
import { RETRY_AFTER } from "../../http/fault.js";
import { isAddress } from "./bound-address.js";
import { ENDPOINTS } from "./discovery.js";
import { type Fault, fault } from "./errors.js";
import {
  type AudienceRule,
  invalid,
  readJwt,
  type UnverifiedJwt,
  type VerifiedJwt,
  verifyJwt,
} from "./jwt.js";
import { keyIn, readKey } from "./keys.js";
import {
  type AgentParty,
  type Allowed,
  type Anonymous,
  type HostParty,
  isAllowed,
  isStranger,
  isTaken,
  type NewHost,
  type Party,
  type SigningHost,
  statusFault,
} from "./party.js";

/** Dependencies of {@link partyOf}. */
export interface PartyContext {
  readonly parties: Parties;
  /**
   * The locations of capabilities, by capability name. Servers at these locations introspect agents' JWTs at this
   * server.
   */
  readonly locations: ReadonlyMap<string, string>;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** The public URL of the server, without a trailing slash. */
  readonly url: string;
  /** The rate limit of a party. It determines how many of the party's JWTs are remembered. */
  readonly rate: RateLimit;
}

/** The parts of a request by which its party is authenticated. */
type Addressed = Pick<Request, "method" | "path" | "headers">;

const ADVICE = "send a host JWT or an agent JWT";
/** Milliseconds for which a used `jti` is remembered after its JWT has expired. */
const KEPT = 60_000;
/**
 * Longest time that a used `jti` is remembered, in seconds. A JWT is valid for 60 seconds, clocks may differ by 30
 * seconds in either direction, and `KEPT` adds 60 seconds.
 */
const REMEMBERED = 180;
/** An issuer may run in this many processes. A party may use its full rate limit in each process. */
const PROCESSES = 4;

/**
 * Authenticates the party of a request: verifies the signature first, then everything else. Accepts each JWT once.
 * Nothing is stored about a party that may not call.
 *
 * @param limited - Returns the fault if a party may not call at present. Called after the signature has been verified.
 * @throws StorageError
 */
export async function partyOf(
  req: Addressed,
  allowed: Allowed,
  context: PartyContext,
  limited: (party: Known) => Promise<Fault | undefined> = async () => undefined,
): Promise<Party | Fault> {
  if (allowed === "any") return { kind: "anonymous" };
  const bearer = readBearer(req, ADVICE);
  if (!bearer.ok) {
    if (bearer.denial.code === "token_invalid") return fault("invalid_jwt", bearer.denial.message);
    if (allowed === "optional") return { kind: "anonymous" };
    return fault("authentication_required", bearer.denial.message, { unrecorded: true });
  }
  const unverified = readJwt(bearer.token);
  if (!unverified.ok) return unverified;
  const { type } = unverified;
  if (!isTaken(type, allowed)) {
    return invalid(`must be ${type === "host+jwt" ? "an agent+jwt" : "a host+jwt"} here ("typ")`);
  }
  const audiences = audienceRule(allowed, context);
  const party =
    type === "host+jwt"
      ? await hostOf(unverified, allowed, audiences, context)
      : await agentOf(unverified, audiences, context);
  if ("ok" in party) return party;
  const tooMany = await limited(party);
  if (tooMany !== undefined) return tooMany;
  const inactive = statusFault(party, allowed);
  if (inactive !== undefined) return inactive;
  const { jwt } = party;
  const thumbprint = thumbprintOf(party);
  const stranger = isStranger(party) && !(await isUsersKey(thumbprint, context));
  const used = await usedBefore({ thumbprint, stranger }, jwt, context);
  if (used !== undefined) return used;
  const introspected = allowed === "introspected";
  // An introspected JWT is bound to a request that another server has received.
  const unbound = introspected ? undefined : bindingFault(req, jwt, context);
  if (unbound !== undefined) return unbound;
  if (party.kind === "agent" && !introspected) await noteAgent(party, context);
  return party;
}

/**
 * Returns whether a linked host was given the key at enrolment or rotation, and has not proven possession of the key
 * yet.
 */
async function isUsersKey(
  thumbprint: string,
  { parties }: Pick<PartyContext, "parties">,
): Promise<boolean> {
  return (await parties.hostsGiven(thumbprint)).some(isUsersHost);
}

/** The party that signed the JWT. */
export interface Signer {
  /** The thumbprint of the signing key. */
  readonly thumbprint: string;
  /**
   * True if the party does not belong to a linked host, so that anyone can become such a party. JWTs of such parties
   * are counted separately.
   */
  readonly stranger: boolean;
}

/**
 * Marks a JWT as used.
 *
 * @returns The fault if the JWT is not accepted.
 */
export async function usedBefore(
  { thumbprint, stranger }: Signer,
  { jti, over }: VerifiedJwt,
  { parties, rate: { requests, seconds } }: Pick<PartyContext, "parties" | "rate">,
): Promise<Fault | undefined> {
  const most = PROCESSES * Math.ceil(requests * Math.max(1, REMEMBERED / seconds));
  const use = { scope: `jwt:${thumbprint}`, id: jti, expires: over + KEPT, most, stranger };
  switch (await parties.useOnce(use)) {
    case "first":
      return undefined;
    case "used":
      return fault("jti_replay", 'the JWT has been used before ("jti"); make a new one a request');
    case "scope_full": {
      const message = `${most} JWTs of this key are remembered, the maximum; wait until some expire`;
      return fault("rate_limited", message, { retryAfter: RETRY_AFTER });
    }
    case "full": {
      const message = "the maximum number of JWTs is remembered; try again soon";
      return fault("unavailable", message, { retryAfter: RETRY_AFTER });
    }
  }
}

async function noteAgent({ agent }: AgentParty, { parties }: PartyContext): Promise<void> {
  if (agent.unproven === true) await parties.agentProved(agent.id, agent.thumbprint);
  await parties.used(agent.id);
}

/**
 * Returns the rule for accepted audiences. The issuer is always accepted. For executions and introspection, the URL of
 * the execution endpoint is accepted, too; for introspection, also the locations of capabilities.
 */
function audienceRule(
  allowed: Allowed,
  { url, locations }: Pick<PartyContext, "url" | "locations">,
): AudienceRule {
  const executes = allowed === "executing" || allowed === "introspected";
  const own = executes ? [url, `${url}${ENDPOINTS.execute}`] : [url];
  if (allowed !== "introspected") return (aud) => own.includes(aud);
  const known = new Set([...own, ...locations.values()]);
  return (aud) => known.has(aud);
}

type Known = Exclude<Party, Anonymous>;

function thumbprintOf(party: Known): string {
  if (party.kind === "newcomer") return party.ready.thumbprint;
  if (party.kind === "signer") return party.thumbprint;
  return party.kind === "agent" ? party.agent.thumbprint : (party.host.thumbprint ?? party.host.id);
}

type Found<Of> = Promise<Of | Fault>;

/** Finds the host that signed a JWT, by the key in the JWT. The `iss` must be the thumbprint of this key. */
async function hostOf(
  unverified: UnverifiedJwt,
  allowed: Allowed,
  audiences: AudienceRule,
  { parties, clock }: PartyContext,
): Found<HostParty | SigningHost | NewHost> {
  const { iss, hostKey, claims } = unverified;
  if (hostKey === undefined || claims["host_jwks_url"] !== undefined) {
    return invalid('must bring its host\'s key ("host_public_key"): this server fetches no keys');
  }
  const ready = await readKey(hostKey, "host_public_key");
  if (!ready.ok) return ready;
  if (iss !== ready.thumbprint) {
    return invalid('must have the thumbprint of the key that it brings as "iss"');
  }
  const jwt = await verifyJwt(unverified, ready.key, audiences, clock());
  if (!jwt.ok) return jwt;
  const host = await parties.hostByKey(iss);
  if (!isAllowed({ kind: "signer", thumbprint: iss, jwt }, allowed)) {
    if (host !== undefined) return { kind: "host", host, jwt };
    return allowed === "new-host" ? { kind: "newcomer", ready, jwt } : unknownHost();
  }
  if (host !== undefined) return { kind: "signer", thumbprint: iss, holder: host, jwt };
  const [given] = await parties.hostsGiven(iss);
  if (given !== undefined) return { kind: "signer", thumbprint: iss, jwt };
  return allowed === "host-itself"
    ? fault("host_not_found", "no host has this key")
    : unknownHost();
}

function unknownHost(): Fault {
  return invalid('is of a host that is not registered ("iss")');
}

async function agentOf(
  unverified: UnverifiedJwt,
  audiences: AudienceRule,
  { parties, clock }: PartyContext,
): Found<AgentParty> {
  const { sub, iss } = unverified;
  const agent = sub === undefined || sub.length > 128 ? undefined : await parties.agent(sub);
  if (agent === undefined) return invalid('is of an agent that is not registered ("sub")');
  const key = keyIn(agent.key, "key");
  if (!key.ok) return key;
  const jwt = await verifyJwt(unverified, key.value, audiences, clock());
  if (!jwt.ok) return jwt;
  const host = await parties.host(agent.host);
  if (host === undefined || !isHostsName(iss, host)) {
    return invalid('is of another host ("iss") than the agent');
  }
  return { kind: "agent", agent, host, jwt };
}

/**
 * Returns whether the `iss` of an agent's JWT is the id or a thumbprint of the host. An absent `iss` is accepted, too,
 * since the published SDK sends none.
 */
function isHostsName(iss: string | undefined, { id, thumbprint, unproven }: HostRecord): boolean {
  return iss === undefined || [id, thumbprint, unproven?.thumbprint].includes(iss);
}

/** Returns the fault if a JWT is bound to another method or another address. The hash of the body is checked later. */
function bindingFault(
  { method, path }: Addressed,
  { bound: { htm, htu } }: VerifiedJwt,
  { url }: PartyContext,
): Fault | undefined {
  if (htm !== undefined && htm.toUpperCase() !== method) {
    return fault("request_binding_mismatch", 'the JWT is for another method ("htm")');
  }
  if (htu !== undefined && !isAddress(htu, `${url}${path}`)) {
    return fault("request_binding_mismatch", 'the JWT is for another address ("htu")');
  }
  return undefined;
}
