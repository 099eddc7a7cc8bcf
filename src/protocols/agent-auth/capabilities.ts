import { principalOfAgent } from "../../agent/parties/agents.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { AgentGrantStatus } from "../../agent/parties/records.js";
import type { CapabilityTerm } from "../../agent/parties/terms.js";
import { forInvoker, type Policy, permitsOperation } from "../../agent/policy.js";
import { isObject, type Json, type JsonObject } from "../../bytes/json.js";
import { meant } from "../../checks/members.js";
import type { Issuer } from "../../issuer/issuer.js";
import { describing } from "./answers.js";
import { isJsonObject } from "./bodies.js";
import { type Fault, fault } from "./errors.js";
import type { Party } from "./party.js";
import { cursorOf, MAX_QUERY, positionOf, search } from "./search.js";

export interface Catalogue {
  /** The capabilities, by name. */
  readonly terms: ReadonlyMap<string, CapabilityTerm>;
  readonly parties: Parties;
  readonly policy: Policy;
  readonly issuer: Issuer;
  /** Names of the capabilities that are shown without credentials. */
  readonly shown: ReadonlySet<string>;
}

export interface ListRequest {
  readonly query?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

type Answer = { readonly ok: true; readonly body: JsonObject } | Fault;

/** Default number of capabilities on a page. */
const PAGE = 100;
const MAX_PAGE = 1000;

/**
 * The capabilities that a party may see. If the party is an agent, `granted` says whether the agent has an active
 * grant.
 */
type Visible = readonly (CapabilityTerm & { readonly granted?: boolean })[];

/** Lists the capabilities that a party may see. */
export async function listCapabilities(
  { query = "", cursor, limit = String(PAGE) }: ListRequest,
  party: Party,
  catalogue: Catalogue,
): Promise<Answer> {
  if (query.length > MAX_QUERY) {
    return fault("invalid_request", `query: has more than ${MAX_QUERY} characters`);
  }
  const most = /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MAX_PAGE) {
    return fault("invalid_request", `limit: must be a whole number from 1 to ${MAX_PAGE}`);
  }
  const visible = await visibleTo(party, catalogue);
  if (visible === undefined) return hidden();
  const found = search(visible, query);
  const listing = { party: partyName(party), query };
  let start = 0;
  if (cursor !== undefined) {
    const after = positionOf(catalogue.issuer, cursor, listing);
    start = found.findIndex(({ name }) => name === after) + 1;
    if (start === 0) {
      const message = "cursor: is not one that this list gave to this party; start without one";
      return fault("invalid_request", message);
    }
  }
  const page = found.slice(start, start + most);
  const last = page.at(-1);
  const more = start + page.length < found.length;
  const next = more && last ? cursorOf(catalogue.issuer, { ...listing, after: last.name }) : null;
  return {
    ok: true,
    body: { capabilities: page.map(entryOf), has_more: more, next_cursor: next },
  };
}

/** Describes one capability, if the party may see it. */
export async function describeCapability(
  name: string | undefined,
  party: Party,
  catalogue: Catalogue,
): Promise<Answer> {
  if (name === undefined) return fault("invalid_request", "name: is missing");
  const visible = await visibleTo(party, catalogue);
  if (visible === undefined) return hidden();
  const found = visible.find((one) => one.name === name);
  if (found === undefined) {
    const hint = meant(name, visible.length > 16 ? [] : visible.map((one) => one.name));
    return fault("capability_not_found", `there is no capability of this name${hint}`);
  }
  return { ok: true, body: { name, ...describing(found), ...statusOf(found) } };
}

function hidden(): Fault {
  const message = "this server lists its capabilities for registered hosts and agents only";
  return fault("authentication_required", message);
}

/** Returns the name of a party in a cursor; an empty string if the party has no credentials. */
function partyName(party: Party): string {
  if (party.kind === "host") return `host ${party.host.id}`;
  return party.kind === "agent" ? `agent ${party.agent.id}` : "";
}

/**
 * Returns the capabilities that a party may see. Every party sees the public capabilities.
 *
 * - A host also sees its default capabilities, and those that the policy allows its user.
 * - An agent also sees capabilities for which it has an active or pending grant, and those that the policy allows its
 *   user through this agent.
 *
 * @returns `undefined` if the party has to authenticate first.
 */
async function visibleTo(party: Party, catalogue: Catalogue): Promise<Visible | undefined> {
  const { terms, parties, shown } = catalogue;
  const all = [...terms.values()];
  if (party.kind === "agent") {
    const { agent, host } = party;
    const grants = await parties.grantsOf(agent.id);
    const having = (...states: readonly AgentGrantStatus[]) =>
      new Set(grants.filter(({ status }) => states.includes(status)).map((one) => one.capability));
    const active = having("active");
    const own = having("active", "pending");
    const principal = principalOfAgent(agent, host);
    const allowed = await allowedTo(principal, all, catalogue.policy, agent.id);
    return all
      .filter(({ name }) => shown.has(name) || allowed.has(name) || own.has(name))
      .map((one) => ({ ...one, granted: active.has(one.name) }));
  }
  if (party.kind === "host") {
    const { principal, defaults } = party.host;
    const allowed = await allowedTo(principal, all, catalogue.policy);
    return all.filter(
      ({ name }) => shown.has(name) || allowed.has(name) || defaults.includes(name),
    );
  }
  return shown.size === 0 ? undefined : all.filter(({ name }) => shown.has(name));
}

/**
 * Returns the names of the capabilities that the policy allows a user.
 *
 * @param agent - The agent through which the user acts; unless given, permissions that are restricted to certain agents
 *   are included, too.
 */
async function allowedTo(
  principal: string | undefined,
  all: readonly CapabilityTerm[],
  policy: Policy,
  agent?: string,
): Promise<ReadonlySet<string>> {
  if (principal === undefined) return new Set();
  const grants = [...new Set(all.map(({ grant }) => grant))];
  const permissions = new Map(
    await Promise.all(
      grants.map(async (grant) => {
        const found = await policy.permissions(principal, grant);
        return [grant, agent === undefined ? found : forInvoker(found, agent)] as const;
      }),
    ),
  );
  const allowed = all.filter(({ grant, operation }) =>
    permitsOperation(permissions.get(grant) ?? [], operation),
  );
  return new Set(allowed.map(({ name }) => name));
}

function entryOf(one: Visible[number]): JsonObject {
  const { name, description, location, input } = one;
  const fields = fieldsOf(input);
  return {
    name,
    description,
    ...(location === undefined ? {} : { location }),
    ...statusOf(one),
    ...(fields === undefined ? {} : { input_fields: fields }),
  };
}

function statusOf({ granted }: Visible[number]): JsonObject {
  if (granted === undefined) return {};
  return { grant_status: granted ? "granted" : "not_granted" };
}

/**
 * Returns the names, types and descriptions of the arguments, so that clients can choose a capability by the list
 * alone.
 */
function fieldsOf(input: JsonObject | undefined): readonly Json[] | undefined {
  const properties = input?.["properties"];
  if (!isObject(properties)) return undefined;
  return Object.entries(properties).map(([name, property]) => {
    const { type, description }: JsonObject = isJsonObject(property) ? property : {};
    return {
      name,
      ...(type === undefined ? {} : { type }),
      ...(description === undefined ? {} : { description }),
    };
  });
}
