import type { GrantedCapability } from "../../src/agent/issuance.js";
import { isJsonObject } from "../../src/bytes/json.js";
import { attenuate, createNonce } from "../../src/capability/attenuate.js";
import { inspect } from "../../src/capability/inspect.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import { grantsFor, type Need, OWNERS, SEEDS } from "./need.js";
import { type AgentName, type Invoker, SERVICES, type Service } from "./world/people.js";
import type { World } from "./world/world.js";

/** The ways in which agents get authority. */
export const MODES = ["ambient", "session", "task"] as const;

export type ModeName = (typeof MODES)[number];

/** The tokens and handles that a worker gets for one need. */
export interface Handed {
  readonly service: Service;
  /** The operations that the task needs; empty for tokens of the session. */
  readonly operations: readonly string[];
  /** The tokens; empty in ambient mode. */
  readonly tokens: readonly string[];
  /** Handles by title. */
  readonly handles: { readonly [title: string]: string };
}

/** Lifetimes in seconds: of a task's capability, and of the tokens narrowed from it. */
const TASK_LIFETIME = 600;
const WORKER_LIFETIME = 300;
/** Lifetime in seconds of a session: one working day. */
const SESSION_LIFETIME = 8 * 3600;

/** The orchestrator's authority: it acts for Alice, and hands narrowed authority to workers. */
export class Authority {
  readonly mode: ModeName;
  readonly #world: World;
  /** Capabilities as granted, before any narrowing. */
  readonly #own: { readonly service: AgentName; readonly granted: GrantedCapability }[] = [];
  readonly #session: { readonly service: Service; readonly granted: GrantedCapability }[] = [];

  constructor(mode: ModeName, world: World) {
    this.mode = mode;
    this.#world = world;
  }

  /** Requests everything that the session might need, in session mode only. */
  async begin(): Promise<void> {
    if (this.mode !== "session") return;
    const expires = this.#world.clock.in(SESSION_LIFETIME);
    const purpose = "Alice's working day";
    for (const service of SERVICES) {
      const client = await this.#client(service);
      const without = service === "email" ? ["email:send"] : service === "code" ? ["code:run"] : [];
      const collections = OWNERS[service]["alice"] ?? [];
      for (const grant of without) {
        const { capabilities } = await client.request({ grants: [grant], expires, purpose });
        this.#keep(service, capabilities);
      }
      for (const collection of collections) {
        const grants = [`${service}:read`, `${service}:write`];
        const query = { grants, expires, purpose, resourceQuery: { collection } };
        const { capabilities } = await client.request(query);
        this.#keep(service, capabilities);
      }
    }
    for (const one of this.#own) {
      const { service } = one;
      if (service !== "orchestrator") this.#session.push({ ...one, service });
    }
  }

  /**
   * Returns the tokens and handles for a need: in task mode a narrowed capability, in session mode every
   * capability of the session, in ambient mode only handles.
   *
   * @param invoker - The invoker that will present the token. If given, exactly the need is requested, and
   * the hop binds the token to the invoker. If absent, the whole collection is requested with every
   * operation, and the hop narrows the token to the need.
   */
  async hand(need: Need, invoker: Invoker | undefined): Promise<Handed> {
    const { service, operations, titles = [] } = need;
    if (this.mode === "ambient") {
      return { service, operations, tokens: [], handles: await this.#ambientHandles(need) };
    }
    if (this.mode === "session") {
      const own = this.#session.filter((one) => one.service === service);
      const fitting = own.filter(({ granted }) => granted.operations.includes(operations[0] ?? ""));
      const handles = handlesOf(
        fitting.map(({ granted }) => granted),
        titles,
      );
      return { service, operations, tokens: own.map(({ granted }) => granted.token), handles };
    }
    const granted = await this.#ask(invoker === undefined ? widened(need) : need);
    const handles = handlesOf(granted, titles);
    const hop = {
      expires: this.#world.clock.in(WORKER_LIFETIME),
      nonce: createNonce(),
      ...(invoker === undefined
        ? narrowedTo(need, Object.values(handles))
        : { invokers: [invoker] }),
    };
    const tokens = granted.map(({ token }) => {
      const narrowed = attenuate(token, hop);
      if (!narrowed.ok) throw new Error(`not narrowed: ${JSON.stringify(narrowed.overreaches)}`);
      return narrowed.token;
    });
    return { service, operations, tokens, handles };
  }

  /** Returns all capabilities of the session, for agents that get everything. */
  wholeSession(): readonly Handed[] {
    return SERVICES.map((service) => {
      const own = this.#session.filter((one) => one.service === service);
      const named = own.flatMap(({ granted: { resourceHandles = [], operations } }) =>
        resourceHandles.map(({ displayName, handle }): [string, string] => [
          `${displayName}, to ${operations.join(" and ")}`,
          handle,
        ]),
      );
      const tokens = own.map(({ granted }) => granted.token);
      return { service, operations: [], tokens, handles: Object.fromEntries(named) };
    });
  }

  /** Returns tokens that allow tasks to be sent to the orchestrator; none in ambient mode. */
  async toAskTheOrchestrator(invoker: Invoker): Promise<readonly string[]> {
    if (this.mode === "ambient") return [];
    const client = new CapabilityClient(
      await this.#world.connect("orchestrator", "alice", invoker).client(),
    );
    const { capabilities } = await client.request({ grants: ["orchestrator:tasks"] });
    this.#keep("orchestrator", capabilities);
    return capabilities.map(({ token }) => token);
  }

  /** Ends the task: revokes its capabilities, and thereby every token narrowed from them. */
  async end(): Promise<void> {
    if (this.mode !== "task") return;
    for (const { service, granted } of this.#own) {
      const client = await this.#client(service);
      await client.revoke(granted.token, "the task is done");
    }
  }

  /** Returns the link of every capability of the orchestrator; only the orchestrator may revoke these. */
  links(): readonly string[] {
    return this.#own.map(({ granted }) => granted.revocationId);
  }

  async #ask(need: Need): Promise<readonly GrantedCapability[]> {
    const { service, operations, collection, titles, constraints } = need;
    const client = await this.#client(service);
    const grants = grantsFor(need);
    const answer = await client.request({
      // The grant to write requires the grant to read, so the request needs an operation of both.
      grants,
      operations: grants.length > 1 ? [...operations, "read"] : operations,
      purpose: "one task",
      expires: this.#world.clock.in(TASK_LIFETIME),
      ...(constraints === undefined ? {} : { constraints }),
      ...(collection === undefined
        ? {}
        : { resourceQuery: { collection, filter: { title: { in: [...(titles ?? [])] } } } }),
    });
    const fitting = answer.capabilities.filter(({ operations: granted }) =>
      operations.every((operation) => granted.includes(operation)),
    );
    if (fitting.length === 0) throw new Error(`nothing was granted: ${JSON.stringify(answer)}`);
    this.#keep(service, answer.capabilities);
    return fitting;
  }

  #keep(service: AgentName, granted: readonly GrantedCapability[]): void {
    for (const one of granted) this.#own.push({ service, granted: one });
  }

  async #ambientHandles(need: Need): Promise<{ readonly [title: string]: string }> {
    const { service, titles = [] } = need;
    if (titles.length === 0) return {};
    const client = await this.#client(service);
    const { result } = await client.invoke(listSkill(service), {});
    const found: [string, string][] = [];
    for (const item of Array.isArray(result) ? result : []) {
      if (!isJsonObject(item)) continue;
      const { title, handle } = item;
      if (typeof title === "string" && titles.includes(title)) found.push([title, String(handle)]);
    }
    return Object.fromEntries(found);
  }

  async #client(service: AgentName): Promise<CapabilityClient> {
    return new CapabilityClient(
      await this.#world.connect(service, "alice", "orchestrator").client(),
    );
  }
}

/** Returns a need for the whole collection, which the planner requests once and narrows for each worker. */
function widened(need: Need): Need {
  const { service, operations, collection } = need;
  const [operation = ""] = operations;
  if (collection === undefined) return { service, operations };
  const all = operation === "read" ? ["read", "list"] : ["update", "delete"];
  const titles = SEEDS[service]
    .filter((seed) => seed.collection === collection)
    .map(({ title }) => title);
  return { service, operations: all, collection, titles };
}

/** Returns the hop that allows a need and nothing else. */
function narrowedTo({ operations, constraints }: Need, handles: readonly string[]): HopInit {
  return {
    operations,
    ...(handles.length === 0 ? {} : { resourceHandles: handles }),
    ...(constraints === undefined ? {} : { constraints }),
  };
}

/** Returns the id of the skill that lists an agent's contents. */
export function listSkill(service: Service): string {
  return {
    documents: "list_documents",
    calendar: "list_events",
    email: "list_messages",
    code: "list_files",
  }[service];
}

/** Returns the tokens that an agent issued. */
export function tokensFor(service: AgentName, tokens: readonly string[]): readonly string[] {
  return tokens.filter((token) => inspect(token).capability?.iss === service);
}

function handlesOf(
  granted: readonly GrantedCapability[],
  titles: readonly string[],
): { readonly [title: string]: string } {
  const named = granted.flatMap(({ resourceHandles = [] }) => resourceHandles);
  return Object.fromEntries(
    named
      .filter(({ displayName }) => titles.includes(displayName))
      .map(({ displayName, handle }) => [displayName, handle]),
  );
}
