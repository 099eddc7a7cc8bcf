import type { Request } from "express";
import type { AgentRecord, HostRecord } from "../../agent/registry/records.js";
import type { Registry } from "../../agent/registry/registry.js";
import { readBearer } from "../../auth/bearer.js";
import { ENDPOINTS } from "./discovery.js";
import { type Fault, refuse } from "./errors.js";
import { type ReadKey, readKey } from "./jwk.js";
import {
  type AudienceRule,
  invalid,
  readJwt,
  type UnverifiedJwt,
  type VerifiedJwt,
  verifyJwt,
} from "./jwt.js";

/** Who makes a request, as its JWT shows. */
export type Party = Anonymous | HostParty | AgentParty | NewHost;

/** A registered host. */
export interface HostParty {
  readonly kind: "host";
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** An active agent. */
export interface AgentParty {
  readonly kind: "agent";
  readonly agent: AgentRecord;
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** A host that is not known yet: it has shown that it has the key that it brings. */
export interface NewHost {
  readonly kind: "newcomer";
  readonly ready: ReadKey;
  readonly jwt: VerifiedJwt;
}

interface Anonymous {
  readonly kind: "anonymous";
}

/** Who may make a request of an endpoint, by the word for it. */
export interface Parties {
  /** Anybody: credentials are not read. */
  readonly anybody: Anonymous;
  /** Anybody, and what a request may see depends on its credentials. */
  readonly optional: Anonymous | HostParty | AgentParty;
  readonly host: HostParty;
  /** Hosts that nothing is known of, or that wait for their first approval, too. */
  readonly "new-host": HostParty | NewHost;
  readonly agent: AgentParty;
  readonly "host-or-agent": HostParty | AgentParty;
  /** Hosts that wait for their first approval too. */
  readonly "waiting-host-or-agent": HostParty | AgentParty;
  /** Active agents, by a JWT in the body of a request, made for this server or for a location. */
  readonly introspected: AgentParty;
}

/** Who may make a request of an endpoint. */
export type Admission = keyof Parties;

const KINDS: { readonly [By in Admission]: readonly Party["kind"][] } = {
  anybody: ["anonymous"],
  optional: ["anonymous", "host", "agent"],
  host: ["host"],
  "new-host": ["host", "newcomer"],
  agent: ["agent"],
  "host-or-agent": ["host", "agent"],
  "waiting-host-or-agent": ["host", "agent"],
  introspected: ["agent"],
};
const WAITING: readonly Admission[] = ["waiting-host-or-agent", "new-host"];

/** Whether a party is one that an endpoint is for. */
export function isAdmitted<By extends Admission>(party: Party, by: By): party is Parties[By] {
  return KINDS[by].includes(party.kind);
}

/** What parties are found in, and what their JWTs must be for. */
export interface PartyContext {
  readonly registry: Registry;
  /** The locations of capabilities, by their names: JWTs for these are introspected here. */
  readonly locations: ReadonlyMap<string, string>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The address that callers use, without a slash at its end. */
  readonly url: string;
}

/** What of a request the party depends on. */
type Addressed = Pick<Request, "method" | "path" | "headers">;

const ADVICE = "send a host JWT or an agent JWT";
/** Milliseconds for which a used `jti` is kept beyond the JWT's own time. */
const KEPT = 60_000;

/**
 * Finds out who makes a request. The signature is verified before anything else in a JWT is judged, and
 * each JWT is good once, also after a restart.
 *
 * @throws StorageError
 */
export async function partyOf(
  req: Addressed,
  admitted: Admission,
  context: PartyContext,
): Promise<Party | Fault> {
  if (admitted === "anybody") return { kind: "anonymous" };
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
  const { jwt } = party;
  const key = thumbprintOf(party);
  if (!(await context.registry.useOnce(`jwt:${key}`, jwt.jti, jwt.over + KEPT))) {
    return refuse("jti_replay", 'the JWT has been used before ("jti"); make a new one a request');
  }
  return bindingFault(req, jwt, context) ?? standingFault(party, admitted) ?? party;
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

/** Why a party may not make this request, though it is known. */
function standingFault(party: Known, admitted: Admission): Fault | undefined {
  if (!isAdmitted(party, admitted)) {
    const needed = admitted === "agent" || admitted === "introspected" ? "an agent" : "a host";
    return refuse("unauthorized", `this needs the JWT of ${needed}`, { status: 401 });
  }
  if (party.kind === "newcomer") return undefined;
  if (party.host.status === "revoked") return refuse("host_revoked", "the host was revoked");
  if (party.kind === "agent") return agentFault(party.agent);
  if (party.host.status === "active" || WAITING.includes(admitted)) return undefined;
  return refuse("host_pending", "the host waits for its first approval");
}

/** Why an agent may do nothing now. */
export function agentFault({ status, denial }: AgentRecord): Fault | undefined {
  switch (status) {
    case "active":
      return undefined;
    case "pending":
      return refuse(
        "agent_pending",
        "the agent waits for an approval; ask for its status as its host",
      );
    case "expired":
      return refuse("agent_expired", "the agent has expired; its host can reactivate it");
    case "revoked":
      return refuse("agent_revoked", "the agent was revoked");
    case "claimed":
      return refuse("agent_claimed", "a user has taken the agent over; register a new one");
    case "rejected": {
      const more = denial === undefined ? {} : { more: { reason: denial } };
      return refuse("agent_rejected", "the agent's registration was denied", more);
    }
  }
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
