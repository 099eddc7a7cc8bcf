import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Mode } from "../../../src/agent/clearance.js";
import type { Json } from "../../../src/bytes/json.js";
import { formatTime } from "../../../src/caveats/time.js";
import type { TaskCall } from "../../../src/protocols/a2a/task-runner.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { Connection, type Heard } from "./connection.js";
import { openCode, openDocuments } from "./folder-agent.js";
import { type Holdings, objectSchema, type State } from "./holdings.js";
import { AGENTS, type AgentName, accessToken, type Invoker, type Principal } from "./people.js";
import { type ServedAgent, serve } from "./serve.js";
import { openCalendar, openEmail } from "./table-agent.js";

/** A clock set by hand, so that nothing depends on the time of day. */
export class Clock {
  now: number = Date.parse("2026-03-02T09:00:00Z");

  /** Returns the timestamp that is this many seconds from now, in the form of capabilities. */
  in(seconds: number): string {
    return formatTime(this.now + seconds * 1000);
  }
}

export interface WorldOptions {
  readonly mode: Mode;
  /** Descriptions in agents' cards that differ from the defaults. */
  readonly descriptions?: { readonly [agent: string]: string };
  /** Handles messages that are not calls of a skill. */
  readonly runTask: (agent: AgentName, task: TaskCall) => Promise<Json>;
}

/** Five agents on loopback, with their contents. */
export class World {
  readonly clock: Clock;
  readonly agents: ReadonlyMap<AgentName, ServedAgent>;
  readonly #connections = new Map<string, Connection>();
  #last: State | undefined;
  #listeners: readonly ((heard: Heard) => void)[] = [];

  private constructor(clock: Clock, agents: ReadonlyMap<AgentName, ServedAgent>) {
    this.clock = clock;
    this.agents = agents;
  }

  /** Starts new agents. */
  static async open({ mode, runTask, descriptions = {} }: WorldOptions): Promise<World> {
    const home = temporaryFolder(fastFolder());
    const clock = new Clock();
    const agents = new Map<AgentName, ServedAgent>();
    for (const name of AGENTS) {
      const served = await serve(name, await HOLDINGS[name](home), {
        home,
        mode,
        clock: () => clock.now,
        description: descriptions[name] ?? `The ${name} agent.`,
        runTask: (task) => runTask(name, task),
      });
      agents.set(name, served);
    }
    return new World(clock, agents);
  }

  agent(name: AgentName): ServedAgent {
    const agent = this.agents.get(name);
    if (agent === undefined) throw new TypeError(`there is no agent ${name}`);
    return agent;
  }

  /**
   * Returns a connection to an agent for a principal through an invoker; without an access token if either is absent.
   */
  connect(to: AgentName, principal?: Principal, invoker?: Invoker): Connection {
    const key = `${to} ${principal} ${invoker}`;
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const token =
      principal === undefined || invoker === undefined
        ? undefined
        : accessToken(principal, invoker);
    const connection = new Connection(this.agent(to), token, (heard) => {
      for (const listener of this.#listeners) listener(heard);
    });
    this.#connections.set(key, connection);
    return connection;
  }

  /** Runs an action, and returns all answers of agents during it. */
  async listen(action: () => Promise<unknown>): Promise<readonly Heard[]> {
    const answers: Heard[] = [];
    const listener = (heard: Heard): void => void answers.push(heard);
    this.#listeners = [...this.#listeners, listener];
    try {
      await action();
    } finally {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    }
    return answers;
  }

  /** Reads the contents of all agents. */
  state(): State {
    const state = new Map<string, string>();
    for (const agent of this.agents.values()) {
      for (const [place, value] of agent.state()) state.set(place, value);
    }
    this.#last = state;
    return state;
  }

  /** Returns the contents as last read, if nothing has changed them since. */
  lastState(): State {
    return this.#last ?? this.state();
  }

  /** Discards the contents as last read, because they may have changed. */
  touched(): void {
    this.#last = undefined;
  }

  /** Restores agents' contents, but not their tasks and revocations. */
  restore(state: State): void {
    this.touched();
    for (const { holdings } of this.agents.values()) holdings.restore(state);
  }

  /** Returns the internal errors of all agents. */
  failures(): readonly string[] {
    return [...this.agents.values()].flatMap(({ failures }) => failures);
  }

  async close(): Promise<void> {
    await Promise.all([...this.agents.values()].map((agent) => agent.close()));
  }
}

/** Returns a folder in memory if there is one, because no test here depends on crashes. */
function fastFolder(): string {
  const memory = "/dev/shm";
  return existsSync(memory) ? memory : tmpdir();
}

const HOLDINGS: Readonly<Record<AgentName, (home: string) => Promise<Holdings>>> = {
  documents: openDocuments,
  calendar: openCalendar,
  email: openEmail,
  code: openCode,
  orchestrator: openOrchestrator,
};

/** Opens the orchestrator, which has no contents: it takes tasks and delegates them. */
async function openOrchestrator(): Promise<Holdings> {
  const operation = "ask";
  return {
    skills: [
      {
        id: "describe_tasks",
        name: "Describe",
        description: "What it can be asked for",
        operation,
        reach: "none",
        input: objectSchema({}),
        run: async () => ({ message: "send a task in words" }),
      },
    ],
    grants: [{ id: "orchestrator:tasks", description: "Ask for tasks", operations: [operation] }],
    rules: [
      { principal: "alice", grant: "*", operations: "*" },
      { principal: "bob", grant: "*", operations: "*" },
    ],
    state: () => new Map(),
    restore: () => {},
    close: () => {},
  };
}
