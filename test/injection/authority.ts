import type { GrantedCapability } from "../../src/agent/issuance.js";
import { isJsonObject } from "../../src/bytes/json.js";
import { attenuate, createNonce } from "../../src/capability/attenuate.js";
import { inspect } from "../../src/capability/inspect.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import { grantsFor, type Need, OWNERS, SEEDS } from "./need.js";
import { type AgentName, type Invoker, SERVICES, type Service } from "./world/people.js";
import type { World } from "./world/world.js";

/** How agents come by authority. */
export const MODES = ["ambient", "session", "task"] as const;

export type ModeName = (typeof MODES)[number];

/** What one who works on a task is handed for one need. */
export interface Handed {
  readonly service: Service;
  /** What the task needs it for; empty for what comes with the session. */
  readonly operations: readonly string[];
  /** None where authority is ambient. */
  readonly tokens: readonly string[];
  /** By title. */
  readonly handles: { readonly [title: string]: string };
}

/** Seconds that a task's capability lives, and that what is narrowed from it does. */
const TASK_LIFETIME = 600;
const WORKER_LIFETIME = 300;
/** Seconds of a working day. */
const SESSION_LIFETIME = 8 * 3600;

/** The orchestrator's side of authority: it acts for Alice, and hands on what others need. */
export class Authority {
  readonly mode: ModeName;
  readonly #world: World;
  /** Capabilities as they were granted; never narrowed. */
  readonly #own: { readonly service: AgentName; readonly granted: GrantedCapability }[] = [];
  readonly #session: { readonly service: Service; readonly granted: GrantedCapability }[] = [];

  constructor(mode: ModeName, world: World) {
    this.mode = mode;
    this.#world = world;
  }

  /** In session mode, asks for everything that the session might need. */
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
   * What a need takes: in task mode a capability, narrowed for the one who will make the calls; in
   * session mode all there is; else nothing but handles.
   *
   * @param invoker - Who will present it: then no more is asked for than the need, and the hop binds
   *   it. Absent to ask for a whole collection and all that can be done there, and to leave to the hop
   *   what the need is.
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

  /** Everything that the session has, for agents that are given all of it. */
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

  /** Leave to send the orchestrator a task, by its own capability; none where authority is ambient. */
  async toAskTheOrchestrator(invoker: Invoker): Promise<readonly string[]> {
    if (this.mode === "ambient") return [];
    const client = new CapabilityClient(
      await this.#world.connect("orchestrator", "alice", invoker).client(),
    );
    const { capabilities } = await client.request({ grants: ["orchestrator:tasks"] });
    this.#keep("orchestrator", capabilities);
    return capabilities.map(({ token }) => token);
  }

  /** The task is done: its capabilities are revoked, with all that was narrowed from them. */
  async end(): Promise<void> {
    if (this.mode !== "task") return;
    for (const { service, granted } of this.#own) {
      const client = await this.#client(service);
      await client.revoke(granted.token, "the task is done");
    }
  }

  /** Of every capability that the orchestrator holds, the links that only it may revoke. */
  links(): readonly string[] {
    return this.#own.map(({ granted }) => granted.revocationId);
  }

  async #ask(need: Need): Promise<readonly GrantedCapability[]> {
    const { service, operations, collection, titles, constraints } = need;
    const client = await this.#client(service);
    const grants = grantsFor(need);
    const answer = await client.request({
      // A grant that requires another is given only if there is something under both.
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

/** A need for everything of its sort: what a planner asks for that narrows for each worker. */
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

/** What a hop says that leaves a need and nothing else. */
function narrowedTo({ operations, constraints }: Need, handles: readonly string[]): HopInit {
  return {
    operations,
    ...(handles.length === 0 ? {} : { resourceHandles: handles }),
    ...(constraints === undefined ? {} : { constraints }),
  };
}

/** The skill that lists what an agent holds. */
export function listSkill(service: Service): string {
  return {
    documents: "list_documents",
    calendar: "list_events",
    email: "list_messages",
    code: "list_files",
  }[service];
}

/** Of tokens, those that an agent has issued. */
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
