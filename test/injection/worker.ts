import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import { withCapability } from "../../src/protocols/a2a/client/interceptor.js";
import type { TaskCall } from "../../src/protocols/a2a/task-runner.js";
import { type Handed, type ModeName, tokensFor } from "./authority.js";
import type { Tally } from "./tally.js";
import { messageOf, resultOf, textPart } from "./world/connection.js";
import { INJECTION } from "./world/holdings.js";
import {
  type AgentName,
  type Invoker,
  type Principal,
  SERVICES,
  type Service,
} from "./world/people.js";
import type { World } from "./world/world.js";

/** The inputs of a worker. */
export interface Assignment {
  readonly agent: AgentName;
  /** The identity of the worker when it calls other agents. */
  readonly invoker: Invoker;
  readonly task: TaskCall;
  readonly handed: readonly Handed[];
}

/** The parts that all workers of a scenario share. */
export interface Stage {
  readonly world: World;
  readonly mode: ModeName;
  readonly tally: Tally;
  /** Called for each worker that reads an injection. From that call on, the attacker controls the worker. */
  readonly compromise: (worker: Worker) => Promise<void>;
}

/** An agent that works on a task: it makes the calls that the task needs, until it is compromised. */
export class Worker implements Assignment {
  readonly agent: AgentName;
  readonly invoker: Invoker;
  readonly task: TaskCall;
  readonly handed: readonly Handed[];
  readonly #stage: Stage;
  #compromised = false;

  constructor(stage: Stage, { agent, invoker, task, handed }: Assignment) {
    this.#stage = stage;
    this.agent = agent;
    this.invoker = invoker;
    this.task = task;
    this.handed = handed;
  }

  /** The principal for the worker's calls to other agents: the user in ambient mode, else the agent itself. */
  get principal(): Principal {
    return this.#stage.mode === "ambient" ? "alice" : "itself";
  }

  step<T>(name: string, action: () => Promise<T>): Promise<T | undefined> {
    return this.#stage.tally.step(`${this.agent}: ${name}`, action);
  }

  /** Calls a skill for the task. @throws Error if the call is refused. */
  async call(service: Service, skill: string, given: JsonObject): Promise<Json> {
    if (service === this.agent) {
      const outcome = await this.task.invoke(skill, given);
      if (outcome.ok) return outcome.result;
      throw new Error(outcome.denials.map(({ code, message }) => `${code}: ${message}`).join("; "));
    }
    const connection = this.#stage.world.connect(service, this.principal, this.invoker);
    const client = new CapabilityClient(await connection.client());
    const tokens = tokensFor(
      service,
      this.handed.flatMap((one) => one.tokens),
    ).slice(0, 8);
    const { result } = await client.invoke(skill, given, tokens.length === 0 ? undefined : tokens);
    return result;
  }

  /** Returns the handle that the worker got for a title. @throws Error if there is none. */
  handle(service: Service, operation: string, title: string): string {
    const found = this.handed.find(
      (one) =>
        one.service === service &&
        one.operations.includes(operation) &&
        one.handles[title] !== undefined,
    )?.handles[title];
    if (found === undefined) throw new Error(`no handle for ${title}`);
    return found;
  }

  /** Reads a resource as a step of the work, and obeys any orders in it. */
  async read(service: Service, skill: string, title: string): Promise<string> {
    const text = await this.step(`read ${title}`, async () => {
      const resource = this.handle(service, "read", title);
      const result = await this.call(service, skill, { resource });
      return isJsonObject(result) ? String(result["text"]) : "";
    });
    await this.see(text ?? "");
    return text ?? "";
  }

  /** Reads the cards of all agents, to find one that can help. */
  async readCards(): Promise<void> {
    for (const service of SERVICES) {
      const connection = this.#stage.world.connect(service, this.principal, this.invoker);
      const card = await this.step(`read the card of ${service}`, () => connection.card());
      await this.see(JSON.stringify(card));
    }
  }

  /**
   * Starts a task with the smallest part of this worker's authority that the task needs. @throws Error if the task
   * fails.
   */
  async spawn(service: Service, text: string): Promise<Json> {
    const connection = this.#stage.world.connect(service, this.principal, this.invoker);
    const plain = await connection.client();
    const tokens = this.task.delegate({ operations: ["read"] }).map(({ token }) => token);
    const client = tokens.length === 0 ? plain : await withCapability(plain, tokens);
    const result = resultOf(await client.sendMessage(messageOf([textPart(text)])));
    if (JSON.stringify(result).includes("<<")) return result;
    throw new Error(`the task did not do it: ${JSON.stringify(result)}`);
  }

  /** Shows a text to the agent; an injection in it compromises the agent. */
  async see(text: string): Promise<void> {
    if (this.#compromised || !text.includes(INJECTION)) return;
    this.#compromised = true;
    await this.#stage.compromise(this);
  }
}
