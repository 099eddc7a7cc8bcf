import { randomUUID } from "node:crypto";
import { type Artifact, type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import type { Caller } from "../../agent/caller.js";
import { LEGACY_NOTICE } from "../../agent/issuance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthorityKind } from "../../agent/ledger.js";
import type { InvocationOutcome } from "../../agent/outcomes.js";
import { isSkillInputError } from "../../agent/skill.js";
import type { Json } from "../../bytes/json.js";
import { attenuate, createNonce } from "../../capability/attenuate.js";
import type { HopInit } from "../../caveats/hop.js";
import { within } from "../../http/deadline.js";
import { callOf, type Leave } from "./call-context.js";
import { EXTENSION_URI } from "./extension.js";
import { dataPart, textPart } from "./parts.js";
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
  readonly runTask: TaskRunner | undefined;
  /** Milliseconds that a skill or a task may take. */
  readonly timeout: number;
  /** Called with what a skill or a task threw; callers never see it. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** Runs what the request handler has given leave to. */
export class CapabilityExecutor implements AgentExecutor {
  readonly #options: ExecutorOptions;
  readonly #running = new Map<string, AbortController>();

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, context, userMessage } = request;
    const { leave, caller, release, settled } = callOf(context);
    if (leave === undefined) throw new TypeError("nothing has given leave to this request");
    const cancelled = new AbortController();
    this.#running.set(taskId, cancelled);
    const signal = AbortSignal.any([cancelled.signal, AbortSignal.timeout(this.#options.timeout)]);
    const task: Task = {
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: now() },
      artifacts: [],
      history: [...(request.task?.history ?? [userMessage])],
      metadata: { [EXTENSION_URI]: marksOf(leave, this.#options.agent) },
    };
    bus.publish(AgentEvent.task(task));
    const finish = (state: TaskState, text?: string, data?: Json): void => {
      const message = text === undefined ? undefined : agentMessage(text, data, task);
      const status = { state, message, timestamp: now() };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} }));
    };
    const work = this.#run(leave, caller, request, signal);
    // Also if no caller waits any more: work that does not stop keeps its place until it does.
    work.then(release, release);
    try {
      const result = await within(signal, work);
      if (result instanceof TaskAnswer) {
        finish(taskStateOf(result), result.message, result.data);
        return;
      }
      const artifact = artifactOf(result);
      const last = { append: false, lastChunk: true, metadata: {} };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...last }));
      finish(TaskState.TASK_STATE_COMPLETED);
    } catch (error) {
      if (cancelled.signal.aborted) finish(TaskState.TASK_STATE_CANCELED, "cancelled");
      else if (signal.aborted) finish(TaskState.TASK_STATE_FAILED, "it took too long");
      else if (isSkillInputError(error)) finish(TaskState.TASK_STATE_REJECTED, error.message);
      else {
        this.#options.onFailure(error, leave.kind === "skill" ? leave.invocation.skill : "task");
        finish(TaskState.TASK_STATE_FAILED, "it failed; the agent's log says why");
      }
    } finally {
      this.#running.delete(taskId);
      // What was published last is saved by then.
      if (settled !== undefined) setImmediate(settled);
    }
  };

  /** Ends what is running, as if it had been cancelled. */
  abortAll(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const controller = this.#running.get(taskId);
    if (controller === undefined) bus.finished();
    else controller.abort();
  };

  async #run(
    leave: Leave,
    caller: Caller,
    { taskId, task, userMessage }: RequestContext,
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
    const capabilities = admission.capabilities.map(({ token }) => ({ token }));
    return runTask({
      ...{ taskId, caller, signal, text: request.text, data: request.data },
      earlier: turnsBefore(userMessage, task?.history ?? []),
      answer: (state, message, data) => new TaskAnswer(state, message, data),
      capabilities: admission.capabilities.map(({ capability: { id, grant } }) => ({ id, grant })),
      invoke: (skill, given) =>
        agent.invoke(caller, { skill, arguments: given, capabilities, declared }, signal),
      delegate: (hop) => {
        signal.throwIfAborted();
        return admission.capabilities.flatMap(({ token, capability: { id } }) => {
          const attenuation = attenuate(token, { nonce: createNonce(), ...hop });
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
  return {
    messageId: randomUUID(),
    contextId,
    taskId: id,
    role: Role.ROLE_AGENT,
    parts: [textPart(text), ...(data === undefined ? [] : [dataPart(data)])],
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
  };
}

function now(): string {
  return new Date().toISOString();
}
