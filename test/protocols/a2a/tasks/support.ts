import { type AgentCard, Role, type Task, TaskState } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, ServerCallContext } from "@a2a-js/sdk/server";
import { onTestFinished } from "vitest";
import { setTaskAccess } from "../../../../src/protocols/a2a/tasks/task-access.js";
import {
  openTaskStore,
  type TaskStore,
  type TaskStoreOptions,
} from "../../../../src/protocols/a2a/tasks/task-store.js";
import { openStores, type StoreDatabase } from "../../../../src/stores/database.js";

/** A task store, and a function that closes its database. */
export interface OpenedStore {
  readonly store: TaskStore;
  readonly database: StoreDatabase;
  readonly close: () => Promise<void>;
}

/** Opens a task store in the database at a place. The database is closed at the end of the test. */
export async function opened(place: string, options: TaskStoreOptions = {}): Promise<OpenedStore> {
  const database = await openStores(place, "create", { reserve: 0 });
  onTestFinished(() => database.close());
  const store = await openTaskStore(database, options);
  const close = async (): Promise<void> => {
    await store.close();
    await database.close();
  };
  onTestFinished(close);
  return { store, database, close };
}

export async function newStore(place: string, options: TaskStoreOptions = {}): Promise<TaskStore> {
  return (await opened(place, options)).store;
}

/** Returns a context with capabilities that have these paths. Each character of a path is one id. */
export function as(
  principal: string,
  paths: readonly string[] = [],
  tenant = "",
): ServerCallContext {
  const context = new ServerCallContext({
    requestedVersion: "1.0",
    ...(tenant === "" ? {} : { tenant }),
  });
  setTaskAccess(context, { principal, paths: paths.map((path) => [...path]) });
  return context;
}

export function task(id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    contextId: "context",
    status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
    artifacts: [],
    history: [],
    metadata: undefined,
    ...more,
  };
}

/** Returns a status with this state. Its time is `second` seconds after the start of 2026. */
export function status(state: TaskState, second = 0): NonNullable<Task["status"]> {
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  return { state, message: undefined, timestamp };
}

export const CARD: AgentCard = {
  name: "test",
  description: "test",
  supportedInterfaces: [
    {
      url: "http://127.0.0.1/",
      protocolBinding: "JSONRPC",
      tenant: "",
      protocolVersion: "1.0",
    },
  ],
  provider: undefined,
  version: "1",
  documentationUrl: undefined,
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extensions: [],
    extendedAgentCard: false,
  },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
  iconUrl: undefined,
};

/**
 * An executor that starts a task, and adds an artifact in two parts. Then it asks for input, or completes the
 * task if the message contains "done".
 */
export const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const done = JSON.stringify(userMessage.parts).includes("done");
    bus.publish(
      AgentEvent.task({
        ...task(taskId),
        contextId,
        status: status(TaskState.TASK_STATE_WORKING, 1),
      }),
    );
    for (const [append, value] of [
      [false, "one"],
      [true, "two"],
    ] as const) {
      const artifact = {
        artifactId: "a",
        name: "",
        description: "",
        metadata: undefined,
        extensions: [],
        parts: [part(value)],
      };
      const last = { append, lastChunk: append, metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...last }));
    }
    const state = done ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_INPUT_REQUIRED;
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: status(state, 2), metadata: undefined }),
    );
  },
  async cancelTask(taskId, bus) {
    const canceled = status(TaskState.TASK_STATE_CANCELED, 3);
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId: "", status: canceled, metadata: undefined }),
    );
  },
};

export function part(value: string): Task["artifacts"][number]["parts"][number] {
  return {
    content: { $case: "text", value },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  };
}

/** Returns a request to send a message: in an existing task, or without a task. */
export function sending(
  text: string,
  taskId = "",
): {
  tenant: string;
  message: Task["history"][number];
  configuration: undefined;
  metadata: undefined;
} {
  const message = {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId,
    role: Role.ROLE_USER,
    parts: [part(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}
