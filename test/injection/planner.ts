import { randomUUID } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { withCapability } from "../../src/protocols/a2a/client/interceptor.js";
import type { TaskCall } from "../../src/protocols/a2a/task-runner.js";
import type { Authority, Handed } from "./authority.js";
import type { Need } from "./need.js";
import { type Stage, Worker } from "./worker.js";
import { dataPart, messageOf, resultOf } from "./world/connection.js";
import { type AgentName, workerOf } from "./world/people.js";

/** The work of a worker on its task. */
export type Work = (worker: Worker) => Promise<Json>;

/** Work to delegate to an agent. */
export interface Delegation {
  readonly to: AgentName;
  readonly needs: readonly Need[];
  /** `true` if tokens are bound to their invoker; true unless given. */
  readonly bound?: boolean;
  readonly work: Work;
}

/**
 * The part of the orchestrator that has the user's own authority. It plans the work and its needs, and never reads
 * texts from others.
 */
export class Planner {
  readonly #stage: Stage;
  readonly #authority: Authority;
  readonly #works = new Map<string, { readonly work: Work; readonly handed: readonly Handed[] }>();

  readonly #noted: (delegation: Delegation) => void;

  /** @param noted - Called with every delegation before it starts. */
  constructor(stage: Stage, authority: Authority, noted: (delegation: Delegation) => void) {
    this.#stage = stage;
    this.#authority = authority;
    this.#noted = noted;
  }

  step<T>(name: string, action: () => Promise<T>): Promise<T | undefined> {
    return this.#stage.tally.step(`orchestrator: ${name}`, action);
  }

  /**
   * Delegates work to an agent over A2A, with only the authority that the work needs. Tokens for the agent's
   * own skills are presented with the request; tokens for others' skills are in the message, bound to the agent.
   */
  async delegate(delegation: Delegation): Promise<Json> {
    const { to, needs, work, bound = true } = delegation;
    const { mode, world } = this.#stage;
    this.#noted(delegation);
    const presented: string[] = [];
    const handed: Handed[] = [];
    for (const need of needs) {
      const own = need.service === to;
      // An agent's own skills are called in the name of the sender of the task.
      const invoker = own ? "orchestrator" : workerOf(to);
      const one = await this.#authority.hand(need, bound ? invoker : undefined);
      if (own) presented.push(...one.tokens);
      handed.push(own ? { ...one, tokens: [] } : one);
    }
    if (to === "orchestrator") {
      presented.push(...(await this.#authority.toAskTheOrchestrator("orchestrator")));
    }
    if (mode === "session") {
      const all = this.#authority.wholeSession();
      handed.push(...all);
      const own = all.filter(({ service }) => service === to);
      if (presented.length === 0) presented.push(...own.flatMap(({ tokens }) => tokens));
    }
    const key = randomUUID();
    this.#works.set(key, { work, handed });
    const plain = await world.connect(to, "alice", "orchestrator").client();
    const tokens = [...new Set(presented)].slice(0, 8);
    const client = tokens.length === 0 ? plain : await withCapability(plain, tokens);
    // Presented tokens must not be in the message too, since messages are stored.
    const others = handed.map((one) => ({
      ...one,
      tokens: one.tokens.filter((token) => !tokens.includes(token)),
    }));
    const told: JsonObject = { work: key, handed: JSON.parse(JSON.stringify(others)) };
    return resultOf(await client.sendMessage(messageOf([dataPart(told)])));
  }

  /** Does the work of a task that this planner has delegated; returns `undefined` for any other task. */
  async perform(agent: AgentName, task: TaskCall): Promise<Json | undefined> {
    const [told] = task.data;
    const key = told !== undefined && isJsonObject(told) ? told["work"] : undefined;
    const known = typeof key === "string" ? this.#works.get(key) : undefined;
    if (known === undefined) return undefined;
    const { work, handed } = known;
    return work(new Worker(this.#stage, { agent, invoker: workerOf(agent), task, handed }));
  }
}
