import { randomUUID } from "node:crypto";
import { type Artifact, type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
  type ServerCallContext,
} from "@a2a-js/sdk/server";
import type { Caller } from "../../agent/caller.js";
import { type AuthorityUse, useOf } from "../../agent/coverage.js";
import { LEGACY_NOTICE } from "../../agent/issuance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthorityKind } from "../../agent/ledger.js";
import { type InvocationOutcome, LeaveLostError } from "../../agent/outcomes.js";
import { isSkillInputError } from "../../agent/skill.js";
import type { Json } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import { within } from "../../http/deadline.js";
import { recordUse } from "../../stores/tasks/task-access.js";
import type { TaskStore } from "../../stores/tasks/task-store.js";
import { type Call, callOf, type Leave } from "./call-context.js";
import { EXTENSION_URI } from "./extension.js";
import { dataPart, newMessage, textPart } from "./parts.js";
import { taskMessage } from "./repeats.js";
import {
  TaskAnswer,
  type TaskAnswerState,
  type TaskTurn,
  taskStateOf,
  turnsBefore,
} from "./task-answer.js";

/** A message in words, and what the agent may do about it: no more than the caller may. */
export interface TaskCall {
  readonly taskId: string;
  readonly text: string;
  readonly data: readonly Json[];
  /** What was said in this task before, oldest first; empty in a new one. */
  readonly earlier: readonly TaskTurn[];
  readonly caller: Caller;
  /** The capabilities that came with it; none where authority is ambient. */
  readonly capabilities: readonly { readonly id: string; readonly grant: string }[];
  /** Calls a skill with what the task has: through the gate, like every other call. */
  invoke(skill: string, given: { readonly [name: string]: Json }): Promise<InvocationOutcome>;
  /**
   * What the task may pass on to a task that it starts elsewhere: its own capabilities, each
   * attenuated by a hop. Those that do not allow what the hop names are left out.
   *
   * @throws TypeError if the hop is not valid.
   */
  delegate(hop: HopInit): readonly { readonly id: string; readonly token: string }[];
  /**
   * What a runner gives back in the place of a result: why the task is not done, or what it waits for.
   * After `input-required` and `auth-required` the caller goes on with a message that names the task.
   *
   * @param message - For the caller.
   * @param data - The same for programs, such as the denials of a refused skill.
   */
  answer(state: TaskAnswerState, message: string, data?: Json): TaskAnswer;
  /** Aborted when the task is cancelled or takes too long. */
  readonly signal: AbortSignal;
}

/** Makes sense of messages in words: what it gives back completes the task, but for an answer. */
export type TaskRunner = (task: TaskCall) => Promise<Json | TaskAnswer>;

export interface ExecutorOptions {
  readonly agent: IssuingAgent;
  readonly tasks: TaskStore;
  readonly runTask: TaskRunner | undefined;
  /** Milliseconds that a skill or a task may take. */
  readonly timeout: number;
  /** Aborted when the agent shuts down, and waits no longer. */
  readonly stopping: AbortSignal;
  /** Called with what a skill or a task threw; callers never see it. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** Runs what the request handler has given leave to. */
export class CapabilityExecutor implements AgentExecutor {
  readonly #options: ExecutorOptions;
  readonly #running = new Map<string, AbortController>();
  readonly #settling = new Set<Promise<void>>();

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const execution = this.#execute(request, bus);
    this.#settling.add(execution);
    await execution.finally(() => this.#settling.delete(execution));
  };

  async #execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, context } = request;
    const call = callOf(context);
    const { leave } = call;
    if (leave === undefined) throw new TypeError("nothing has given leave to this request");
    const cancelled = new AbortController();
    this.#running.set(taskId, cancelled);
    try {
      for (const use of usesBefore(leave)) recordUse(context, use);
      const task = beginningOf(request, marksOf(leave, this.#options.agent));
      if (!(await this.#begin(task, request, call))) return;
      bus.publish(AgentEvent.task(task));
      const ending = await this.#outcome(leave, call, request, cancelled.signal);
      await this.#end(task, ending, call, context, bus);
    } finally {
      this.#running.delete(taskId);
      call.settled?.();
    }
  }

  /** Stores the task before anything runs in it. @returns Whether it may run. */
  async #begin(task: Task, { context, userMessage }: RequestContext, call: Call): Promise<boolean> {
    try {
      // The SDK has written the task's and the context's ids into its copy.
      const sent = call.message ?? userMessage;
      const beginning = await this.#options.tasks.begin(task, taskMessage(sent, context), context);
      if (beginning.begun) return true;
      call.earlier = beginning;
      const { leave, caller } = call;
      if (leave?.kind === "skill") this.#options.agent.forgo(leave.clearance, caller, "repeated");
    } catch (error) {
      call.failure = { error };
    }
    call.release?.();
    return false;
  }

  /** Runs what was given leave to. Never throws: a failure is an outcome as well. */
  async #outcome(
    leave: Leave,
    { caller, release }: Call,
    request: RequestContext,
    cancelled: AbortSignal,
  ): Promise<Ending> {
    const { stopping, timeout } = this.#options;
    const signal = AbortSignal.any([cancelled, stopping, AbortSignal.timeout(timeout)]);
    const work = this.#run(leave, caller, request, signal);
    // Also if no caller waits any more: work that does not stop keeps its place until it does.
    work.then(release, release);
    try {
      const result = await within(signal, work);
      if (!(result instanceof TaskAnswer)) {
        return { state: TaskState.TASK_STATE_COMPLETED, artifact: artifactOf(result) };
      }
      return { state: taskStateOf(result), text: result.message, data: result.data };
    } catch (error) {
      if (cancelled.aborted) return { state: TaskState.TASK_STATE_CANCELED, text: "cancelled" };
      if (error instanceof LeaveLostError) {
        const [{ code }] = error.denials;
        return { state: TaskState.TASK_STATE_REJECTED, text: error.message, reason: code };
      }
      if (isSkillInputError(error)) {
        return { state: TaskState.TASK_STATE_REJECTED, text: error.message };
      }
      const state = TaskState.TASK_STATE_FAILED;
      if (stopping.aborted) return { state, text: SHUTTING_DOWN, reason: "unavailable" };
      if (signal.aborted) return { state, text: "it took too long", reason: "timed_out" };
      this.#options.onFailure(error, leave.kind === "skill" ? leave.invocation.skill : "task");
      return { state, text: "it failed; the agent's log says why", reason: "skill_failed" };
    }
  }

  /** Stores what became of a task, and says it afterwards. */
  async #end(
    task: Task,
    ending: Ending,
    call: Call,
    context: ServerCallContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    const { id: taskId, contextId } = task;
    const { tasks } = this.#options;
    const publish = (status: Task["status"]): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} }));
    const status = statusOf(ending, task);
    const { artifact } = ending;
    try {
      const ended: Task = {
        ...{ ...task, status },
        artifacts: [...task.artifacts, ...(artifact === undefined ? [] : [artifact])],
        history: [...task.history, ...(status.message === undefined ? [] : [status.message])],
      };
      if (!(await tasks.end(ended, context))) {
        return publish((await tasks.load(taskId, context))?.status ?? status);
      }
    } catch {
      // The store has reported why. It has run: the caller must learn that, and not try again.
      call.unstored = true;
      tasks.failLater(taskId, UNSTORED);
      const state = TaskState.TASK_STATE_FAILED;
      return publish(statusOf({ state, text: UNSTORED, reason: "outcome_not_stored" }, task));
    }
    if (artifact !== undefined) {
      const last = { append: false, lastChunk: true, metadata: {} };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...last }));
    }
    publish(status);
  }

  /** Fulfilled when nothing runs any more, and all that has run is stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#settling);
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const controller = this.#running.get(taskId);
    if (controller === undefined) bus.finished();
    else controller.abort();
  };

  async #run(
    leave: Leave,
    caller: Caller,
    { taskId, task, userMessage, context }: RequestContext,
    signal: AbortSignal,
  ): Promise<Json | TaskAnswer> {
    const { agent, runTask } = this.#options;
    if (leave.kind === "skill") {
      return agent.run(leave.clearance, caller, signal);
    }
    const { admission, request } = leave;
    if (runTask === undefined) {
      const skills = [...agent.skills.keys()].join(", ");
      return {
        message: `this agent takes calls of skills: send one data part {"skill", "arguments"}; there are ${skills}`,
      };
    }
    const { declared } = admission;
    const capabilities = admission.capabilities.map(({ presented }) => presented);
    return runTask({
      ...{ taskId, caller, signal, text: request.text, data: request.data },
      earlier: turnsBefore(userMessage, task?.history ?? []),
      answer: (state, message, data) => new TaskAnswer(state, message, data),
      capabilities: admission.capabilities.map(({ capability: { id, grant } }) => ({ id, grant })),
      invoke: (skill, given) =>
        agent.invoke(
          caller,
          { skill, arguments: given, capabilities, declared },
          signal,
          (clearance) => {
            const use = useOf(clearance);
            if (use !== undefined) recordUse(context, use);
          },
        ),
      delegate: (hop) => {
        signal.throwIfAborted();
        return admission.capabilities.flatMap(({ presented, capability: { id } }) => {
          const attenuation = agent.issuer.extend(presented.token, hop);
          return attenuation.ok ? [{ id, token: attenuation.token }] : [];
        });
      },
    });
  }
}

/** What a response says of the authority that it rests on. */
export interface AuthorityMarks {
  readonly authority: AuthorityKind;
  readonly capability?: string;
  /** Whether the caller had declared ambient authority; absent where authority is not ambient. */
  readonly declared?: boolean;
  readonly notice?: string;
}

const NOTICES: Readonly<Partial<Record<AuthorityKind, string>>> = {
  ambient: "done with the caller's ambient authority: no capability limits this call",
  legacy: LEGACY_NOTICE,
};

/** What a response says of an authority. */
export function authorityMarks({
  authority,
  capability,
  declared,
}: Omit<AuthorityMarks, "notice">): AuthorityMarks {
  const notice = NOTICES[authority];
  return {
    authority,
    ...(capability === undefined ? {} : { capability }),
    ...(declared === undefined ? {} : { declared }),
    ...(notice === undefined ? {} : { notice }),
  };
}

function marksOf(leave: Leave, agent: IssuingAgent): AuthorityMarks {
  if (leave.kind === "skill") {
    const { authority, capability, declared } = leave.clearance;
    return authorityMarks({
      authority,
      ...(capability === undefined ? {} : { capability: capability.id }),
      ...(declared === undefined ? {} : { declared }),
    });
  }
  const { capabilities, declared } = leave.admission;
  const [first] = capabilities;
  if (first === undefined) return authorityMarks({ authority: "ambient", declared });
  const { id, grant } = first.capability;
  const authority = agent.grants.get(grant)?.legacy === true ? "legacy" : "capability";
  return authorityMarks({ authority, capability: id });
}

/** What a caller learns where a task has run, and its end is not stored. */
export const UNSTORED =
  "it has run, but what came of it could not be stored; the same messageId does not run it again";

/** What a caller learns of what was under way when the agent shut down. */
export const SHUTTING_DOWN =
  "the agent is shutting down; this was under way, and may have taken effect";

/** What becomes of a task. */
interface Ending {
  readonly state: TaskState;
  readonly artifact?: Artifact;
  readonly text?: string;
  readonly data?: Json | undefined;
  /** For programs: why it failed. */
  readonly reason?: string;
}

/** What a task is done with from its beginning: of words, the grants that came with them. */
function usesBefore(leave: Leave): readonly AuthorityUse[] {
  if (leave.kind === "skill") return [useOf(leave.clearance)].filter((use) => use !== undefined);
  return leave.admission.capabilities.map(({ capability: { grant } }) => ({
    ...{ grant, resources: [] },
  }));
}

function beginningOf(
  { taskId, contextId, task, userMessage }: RequestContext,
  marks: AuthorityMarks,
): Task {
  return {
    id: taskId,
    contextId,
    status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: now() },
    artifacts: task?.artifacts ?? [],
    history: [...(task?.history ?? [userMessage])],
    metadata: { ...task?.metadata, [EXTENSION_URI]: marks },
  };
}

function statusOf({ state, text, data, reason }: Ending, task: Task): NonNullable<Task["status"]> {
  const metadata = reason === undefined ? {} : { [EXTENSION_URI]: { reason } };
  const message = text === undefined ? undefined : { ...agentMessage(text, data, task), metadata };
  return { state, message, timestamp: now() };
}

function artifactOf(result: Json): Artifact {
  return {
    artifactId: randomUUID(),
    name: "result",
    description: "",
    parts: [dataPart(result)],
    metadata: {},
    extensions: [],
  };
}

function agentMessage(text: string, data: Json | undefined, { id, contextId }: Task): Message {
  const parts = [textPart(text), ...(data === undefined ? [] : [dataPart(data)])];
  return newMessage({ role: Role.ROLE_AGENT, parts, taskId: id, contextId });
}

function now(): string {
  return new Date().toISOString();
}
