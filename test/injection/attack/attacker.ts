import type { PresentedCapability } from "../../../src/agent/presented.js";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { isJsonObject } from "../../../src/bytes/json.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/extension.js";
import { holdingsDiffer, judge } from "../judge.js";
import type { Need } from "../need.js";
import type { Kind } from "../tally.js";
import type { Stage, Worker } from "../worker.js";
import type { Connection } from "../world/connection.js";
import { type AgentName, type Principal, SERVICES, type Service } from "../world/people.js";
import { CHANNELS } from "./channel.js";
import { Knowledge } from "./knowledge.js";
import type { Leaks } from "./leaks.js";

/** A skill as listed in the agent's card. */
export interface KnownSkill {
  readonly id: string;
  readonly operation: string;
  readonly reach: string;
  /** The type or format of each argument, by name. */
  readonly input: { readonly [argument: string]: string };
}

/** The facts by which an attacker's calls are judged. */
export interface Rules {
  /** The needs of the task; empty once it is done. */
  needs: readonly Need[];
  readonly foreignTasks: ReadonlySet<string>;
  foreignLinks(): ReadonlySet<string>;
}

/**
 * A compromised agent under the attacker's control. It uses its access tokens for every call that it can construct from
 * the data that it has seen, and learns from every answer.
 */
export class Attacker {
  readonly knowledge: Knowledge = new Knowledge();
  readonly worker: Worker;
  readonly stage: Stage;
  readonly leaks: Leaks;
  /** Handles that the agent got for its task. */
  readonly told: ReadonlySet<string>;
  readonly #rules: Rules;
  readonly #principals: readonly Principal[];
  readonly #skills = new Map<Service, readonly KnownSkill[]>();
  #turn = 0;

  /** @param principals - The principals whose access tokens the agent has; only its own principal unless given. */
  constructor(
    worker: Worker,
    stage: Stage,
    leaks: Leaks,
    rules: Rules,
    principals: readonly Principal[] = [worker.principal],
  ) {
    this.worker = worker;
    this.stage = stage;
    this.leaks = leaks;
    this.#rules = rules;
    this.#principals = principals;
    const told = new Set<string>();
    // Learns titles before tokens, because the order of handles in a token differs from run to run.
    for (const { service, handles, operations } of worker.handed) {
      for (const handle of Object.values(handles)) {
        this.knowledge.learnHandle(service, handle);
        if (operations.length > 0) told.add(handle);
      }
    }
    for (const { service, value } of leaks.handles) this.knowledge.learnHandle(service, value);
    for (const { tokens } of worker.handed) {
      for (const token of tokens) this.knowledge.learnToken(token);
    }
    this.told = told;
    // The agent's own task can delegate its capabilities almost unrestricted.
    for (const { token } of worker.task.delegate({})) this.knowledge.learnToken(token);
    for (const { service, value } of leaks.capabilities)
      this.knowledge.learnCapability(service, value);
    for (const { service, value } of leaks.tasks) this.knowledge.learnTask(service, value);
  }

  get mode(): Stage["mode"] {
    return this.stage.mode;
  }

  /**
   * Chooses some handles for a skill, one from each of these in turn: the handles that a token for the skill's
   * operation names, the handles that leaked, the handles that the agent got for its task, and all others.
   */
  handlesFor(service: Service, { operation, input }: KnownSkill, most: number): readonly string[] {
    if (!Object.values(input).includes("resource-handle")) return [];
    const { knowledge } = this;
    const all = knowledge.handlesOf(service);
    const able = knowledge.tokensOf(service).filter((one) => one.operations.includes(operation));
    const named = new Set(able.flatMap(({ handles }) => handles));
    const leaked = new Set(this.leaks.handles.map(({ value }) => value));
    const groups = [
      all.filter((handle) => named.has(handle) && !this.told.has(handle)).reverse(),
      all.filter((handle) => leaked.has(handle)).reverse(),
      all.filter((handle) => this.told.has(handle)),
      [...all].reverse(),
    ];
    const turns = all.flatMap((_, at) => groups.map((group) => group[at]));
    return [...new Set(turns)].filter((handle) => handle !== undefined).slice(0, most);
  }

  /** Returns a connection to an agent for each access token. */
  connections(to: AgentName): readonly Connection[] {
    const { invoker } = this.worker;
    return this.#principals.map((principal) => this.stage.world.connect(to, principal, invoker));
  }

  /** Reads the card of each agent, which is public. */
  async look(): Promise<void> {
    for (const service of SERVICES) {
      const [connection] = this.connections(service);
      if (connection !== undefined) this.#skills.set(service, skillsIn(await connection.card()));
    }
  }

  /** Returns the skills in the order of the card: reading first, deleting last. */
  skills(service: Service): readonly KnownSkill[] {
    return this.#skills.get(service) ?? [];
  }

  /** Counts the calls of this function, so that the variants of an action are used in turn. */
  turn(): number {
    return this.#turn++;
  }

  /** Calls a skill with each access token, each time through the next channel. */
  async call(
    kind: Kind,
    service: Service,
    skill: string,
    given: JsonObject,
    presented: readonly PresentedCapability[],
  ): Promise<void> {
    for (const connection of this.connections(service)) {
      const channel = CHANNELS[this.turn() % CHANNELS.length];
      const action = async () => channel?.(connection, { skill, given, presented });
      await this.attempt(kind, service, action);
    }
  }

  /** Runs an action, judges the action by its effects, and undoes its changes. */
  async attempt(kind: Kind, service: AgentName, action: () => Promise<unknown>): Promise<void> {
    const { world, tally } = this.stage;
    const before = world.lastState();
    let result: unknown;
    const answers = await world.listen(async () => {
      try {
        result = await action();
      } catch {
        // The call was refused or has failed. The answers and the state show its effects.
      }
    });
    const after = world.state();
    const own = result === undefined ? "" : JSON.stringify(result);
    const heard = [...answers.map(({ text }) => text), own].join("\n");
    for (const { status, text } of answers) {
      if (status === 429 || status >= 500 || text.includes('"code":-32603')) {
        tally.strange(`${kind}: ${status} ${text.slice(0, 200)}`);
      }
    }
    this.knowledge.learnFrom(service, heard);
    const { foreignTasks, needs } = this.#rules;
    const foreignLinks = this.#rules.foreignLinks();
    const effects = judge({ before, after, heard, needs, foreignTasks, foreignLinks });
    tally.attempted(kind, effects);
    if (effects.harms.length === 0 && effects.within.length === 0) tally.refused(codesIn(heard));
    if (holdingsDiffer(before, after)) world.restore(before);
  }
}

/** Returns the codes of all reasons for refusals, sorted. */
function codesIn(heard: string): readonly string[] {
  const listed = [...heard.matchAll(/"codes":"([a-z_,]+)"/g)].flatMap(([, codes = ""]) =>
    codes.split(","),
  );
  const single = [...heard.matchAll(/"code":"([a-z_]+)"/g)].map(([, code = ""]) => code);
  return [...new Set([...listed, ...(listed.length > 0 ? [] : single)])].sort();
}

function skillsIn(card: JsonObject): readonly KnownSkill[] {
  const capabilities = memberOf(card, "capabilities");
  const extensions = capabilities["extensions"];
  const list: readonly Json[] = Array.isArray(extensions) ? extensions : [];
  const extension = list.find((one) => isJsonObject(one) && one["uri"] === EXTENSION_URI);
  if (extension === undefined || !isJsonObject(extension)) return [];
  const skills = memberOf(memberOf(extension, "params"), "skills");
  return Object.entries(skills).map(([id, skill]) => {
    const about = isJsonObject(skill) ? skill : {};
    const properties = memberOf(memberOf(about, "input"), "properties");
    const input = Object.entries(properties).map(([name, schema]): [string, string] => {
      const { format, type } = isJsonObject(schema) ? schema : {};
      return [name, String(format ?? type)];
    });
    const { operation, reach } = about;
    return {
      id,
      operation: String(operation),
      reach: String(reach),
      input: Object.fromEntries(input),
    };
  });
}

function memberOf(value: JsonObject, name: string): JsonObject {
  const member = value[name];
  return member !== undefined && isJsonObject(member) ? member : {};
}
