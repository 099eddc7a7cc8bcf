import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { withCapability } from "../../src/protocols/a2a/client/interceptor.js";
import type { TaskCall } from "../../src/protocols/a2a/task-runner.js";
import { Attacker } from "./attack/attacker.js";
import { attack, replay, sabotage } from "./attack/campaign.js";
import { bystanders, type Leaks, WAIT } from "./attack/leaks.js";
import { Authority, type ModeName } from "./authority.js";
import type { Need } from "./need.js";
import { obey } from "./obedience.js";
import { type Delegation, Planner } from "./planner.js";
import { type Outcome, Tally } from "./tally.js";
import type { Stage, Worker } from "./worker.js";
import { messageOf, resultOf, textPart } from "./world/connection.js";
import type { AgentName, Principal } from "./world/people.js";
import { World } from "./world/world.js";

/** A workflow with a published kind of attack. */
export interface Scenario {
  /** A short name for files and tables. */
  readonly id: string;
  readonly title: string;
  /** The user's request in words. */
  readonly ask: string;
  /** Descriptions in agents' cards that differ from the defaults. */
  readonly descriptions?: { readonly [agent: string]: string };
  /** The principals whose access tokens a compromised agent has in ambient mode; Alice's unless given. */
  readonly ambientPrincipals?: readonly Principal[];
  /** `true` if compromised agents wait until the task is done. */
  readonly sleeper?: boolean;
  /** The attacker's goal, which is reached if all these harms occur. */
  readonly goal: readonly string[];
  /** The legitimate work, step by step. */
  run(planner: Planner): Promise<void>;
  /** Attacks of this scenario only, in addition to the common ones. */
  special?(attacker: Attacker): Promise<void>;
}

/** The outcome of a scenario in a mode, and whether the attacker reached its goal. */
export interface ScenarioOutcome extends Outcome {
  readonly goal: boolean;
}

/** Plays a scenario in a mode and a new world, from the first step to the last attack. */
export async function play(scenario: Scenario, mode: ModeName): Promise<ScenarioOutcome> {
  const performance = new Performance(scenario, mode);
  const world = await World.open({
    mode: mode === "ambient" ? "advertise" : "require",
    runTask: (agent, task) => performance.runTask(agent, task),
    descriptions: scenario.descriptions,
  });
  try {
    const outcome = await performance.in(world);
    const goal = scenario.goal.every((harm) => outcome.harms.includes(harm));
    return { ...outcome, goal, strange: [...outcome.strange, ...world.failures()] };
  } finally {
    performance.release();
    await world.close();
  }
}

class Performance {
  readonly #scenario: Scenario;
  readonly #mode: ModeName;
  readonly #tally: Tally = new Tally(() => this.#world?.touched());
  readonly #attackers: Attacker[] = [];
  readonly #rules = {
    needs: [] as readonly Need[],
    foreignTasks: new Set<string>(),
    foreignLinks: (): ReadonlySet<string> => new Set([...this.#links(), ...this.#leakedLinks]),
  };
  readonly #released: Promise<void>;
  release: () => void = () => {};
  #leakedLinks: readonly string[] = [];
  #links: () => readonly string[] = () => [];
  #world: World | undefined;
  #planner: Planner | undefined;
  #leaks: Leaks | undefined;

  constructor(scenario: Scenario, mode: ModeName) {
    this.#scenario = scenario;
    this.#mode = mode;
    this.#released = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async in(world: World): Promise<Outcome> {
    const mode = this.#mode;
    this.#world = world;
    const authority = new Authority(mode, world);
    this.#links = () => authority.links();
    await authority.begin();
    this.#leaks = await bystanders(world, mode);
    this.#leakedLinks = this.#leaks.links;
    for (const { service, value } of this.#leaks.tasks) {
      this.#rules.foreignTasks.add(`tasks/${service}/${value}`);
    }
    const stage: Stage = {
      world,
      mode,
      tally: this.#tally,
      compromise: (worker) => this.#compromise(worker, stage),
    };
    const planner = new Planner(stage, authority, (delegation) => this.#note(delegation));
    this.#planner = planner;
    await this.#tally.step("user: ask the orchestrator", () => this.#ask(world, authority));
    const { clock } = world;
    const done = clock.now;
    this.#rules.needs = [];
    // Plays both endings: the capabilities expire, or they are revoked when the task is done.
    clock.now = done + LATER;
    for (const attacker of this.#attackers) await replay(attacker, "later times");
    clock.now = done;
    await authority.end();
    world.touched();
    for (const attacker of this.#attackers) await replay(attacker, "replay after revocation");
    for (const attacker of this.#attackers) await sabotage(attacker);
    return this.#tally.outcome();
  }

  async runTask(agent: AgentName, task: TaskCall): Promise<Json> {
    const world = this.#world;
    if (world === undefined) throw new TypeError("there is no world yet");
    const [told] = task.data;
    if (told !== undefined && isJsonObject(told) && told["text"] === WAIT) {
      await this.#released;
      return { waited: true };
    }
    if (agent === "orchestrator" && task.text === this.#scenario.ask && this.#planner) {
      await this.#scenario.run(this.#planner);
      return { done: true };
    }
    const result = await this.#planner?.perform(agent, task);
    return result ?? obey(agent, task, world, this.#mode);
  }

  /** The user's message that starts the work. */
  async #ask(world: World, authority: Authority): Promise<Json> {
    const plain = await world.connect("orchestrator", "alice", "console").client();
    const tokens = await authority.toAskTheOrchestrator("console");
    const client = tokens.length === 0 ? plain : await withCapability(plain, tokens);
    return resultOf(await client.sendMessage(messageOf([textPart(this.#scenario.ask)])));
  }

  /** Adds a delegation's needs to the needs of the task. */
  #note({ needs }: Delegation): void {
    this.#rules.needs = [...this.#rules.needs, ...needs];
  }

  async #compromise(worker: Worker, stage: Stage): Promise<void> {
    const leaks = this.#leaks;
    if (leaks === undefined) return;
    const principals =
      this.#mode === "ambient" ? (this.#scenario.ambientPrincipals ?? undefined) : undefined;
    const attacker = new Attacker(worker, stage, leaks, this.#rules, principals);
    this.#attackers.push(attacker);
    await attacker.look();
    if (this.#scenario.sleeper === true) return;
    await attack(attacker);
    await this.#scenario.special?.(attacker);
  }
}

/** Milliseconds after which every capability of a task has expired, but a session has not. */
const LATER = 15 * 60 * 1000;
