import { type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { type AuthorityUse, useOf } from "../../agent/coverage.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { resultAsJson } from "../../agent/skill-result.js";
import type { Json } from "../../bytes/json.js";
import { authorityMarks } from "./authority-marks.js";
import { type AdmittedMessage, type Call, giveUp, messageOf, type Permit } from "./call.js";
import { EXTENSION_URI } from "./extension.js";
import { setProgress } from "./progress.js";
import { taskMessage } from "./repeated-messages.js";
import {
  CANCELLED,
  type Ending,
  endedTask,
  endingOf,
  type Run,
  type RunLimits,
  UNSTORED,
} from "./task-endings.js";
import { TaskAnswer, type TaskRunner, taskCallOf } from "./task-runner.js";
import { recordUse } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

export interface ExecutorOptions extends RunLimits {
  readonly agent: IssuingAgent;
  readonly tasks: TaskStore;
  readonly runTask: TaskRunner | undefined;
}

/** Runs admitted messages. */
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
    const admitted = messageOf(context);
    const { permit, held, call } = admitted;
    const controller = new AbortController();
    this.#running.set(taskId, controller);
    try {
      for (const use of usesBefore(permit)) recordUse(context, use);
      const task = this.#beginningOf(request, permit);
      if (!(await this.#begin(task, request, admitted))) return;
      bus.publish(AgentEvent.task(task));
      const what = permit.kind === "skill" ? permit.invocation.skill : "task";
      const work: Run["work"] = (signal) => this.#run(permit, call, request, signal);
      const { release } = held;
      const ending = await endingOf({ what, work, controller, release }, this.#options);
      await this.#end(task, ending, request, bus);
    } finally {
      this.#running.delete(taskId);
      held.freeTask();
    }
  }

  #beginningOf({ taskId, contextId, task, userMessage }: RequestContext, permit: Permit): Task {
    const timestamp = new Date().toISOString();
    return {
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp },
      artifacts: task?.artifacts ?? [],
      history: [...(task?.history ?? [userMessage])],
      metadata: { ...task?.metadata, [EXTENSION_URI]: authorityMarks(permit, this.#options.agent) },
    };
  }

  /**
   * Stores the task before anything runs in it.
   *
   * @returns `true` if the task may run.
   */
  async #begin(
    task: Task,
    { context }: RequestContext,
    admitted: AdmittedMessage,
  ): Promise<boolean> {
    const { tasks, agent } = this.#options;
    const { message, call, held } = admitted;
    try {
      // Use the received message: the SDK has added task and context ids to its own copy.
      const beginning = await tasks.begin(task, taskMessage(message, call), context);
      if (beginning.begun) {
        setProgress(context, { at: "task", task });
        return true;
      }
      setProgress(context, { at: "repeated", earlier: beginning });
      giveUp(admitted, agent, "repeated");
    } catch (error) {
      setProgress(context, { at: "not-begun", error, task: task.id });
      held.release();
    }
    return false;
  }

  /** Stores a task's outcome, then publishes it. */
  async #end(
    task: Task,
    ending: Ending,
    { context }: RequestContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    const { id: taskId, contextId } = task;
    const { tasks } = this.#options;
    const publish = ({ status }: Pick<Task, "status">): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} }));
    const ended = endedTask(task, ending);
    try {
      if (!(await tasks.end(ended, context))) {
        // Another request has ended the task, so publish the outcome that the other request stored.
        setProgress(context, { at: "store" });
        return publish((await tasks.load(taskId, context)) ?? ended);
      }
      setProgress(context, { at: "task", task: ended });
    } catch {
      // The store has reported the cause. The skill has run, so the caller must learn not to send the call
      // again.
      setProgress(context, { at: "not-stored" });
      tasks.failLater(taskId, UNSTORED.text);
      return publish(endedTask(task, UNSTORED));
    }
    for (const artifact of ended.artifacts.slice(task.artifacts.length)) {
      const last = { append: false, lastChunk: true, metadata: {} };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...last }));
    }
    publish(ended);
  }

  /** Resolves once nothing is running and every outcome is stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#settling);
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const controller = this.#running.get(taskId);
    if (controller === undefined) bus.finished();
    else controller.abort(CANCELLED);
  };

  async #run(
    permit: Permit,
    { caller }: Call,
    request: RequestContext,
    signal: AbortSignal,
  ): Promise<Json | TaskAnswer> {
    const { agent, runTask } = this.#options;
    if (permit.kind === "skill") {
      return agent.run(permit.clearance, caller, { signal });
    }
    if (permit.kind === "operation") throw new TypeError("this agent runs skills alone");
    if (runTask !== undefined) {
      const answer = await runTask(taskCallOf(permit, request, agent, signal));
      return answer instanceof TaskAnswer ? answer : resultAsJson(answer);
    }
    const skills = [...agent.skills.keys()].join(", ");
    return {
      message: `this agent takes calls of skills: send one data part {"skill", "arguments"}; it has ${skills}`,
    };
  }
}

/**
 * Returns the uses of authority with which a task starts. For a text message, these are the grants of the
 * capabilities that came with it.
 */
function usesBefore(permit: Permit): readonly AuthorityUse[] {
  if (permit.kind !== "text") return [useOf(permit.clearance)].filter((use) => use !== undefined);
  return permit.admission.capabilities.map(({ capability: { grant } }) => ({
    grant,
    resources: [],
  }));
}
