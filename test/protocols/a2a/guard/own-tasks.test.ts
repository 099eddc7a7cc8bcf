import { type Task, TaskState } from "@a2a-js/sdk";
import { InMemoryTaskStore, ServerCallContext } from "@a2a-js/sdk/server";
import { beforeEach, expect, test } from "vitest";
import { withCapability } from "../../../../src/protocols/a2a/client/index.js";
import { openTaskStore } from "../../../../src/protocols/a2a/index.js";
import { granted } from "../../../agent/support.js";
import {
  failureOf,
  first,
  LISTING,
  messageOf,
  quietConsole,
  sdkClient,
  taskIn,
} from "../callers.js";
import { desk, startDesk } from "./own-agent.js";

// Behind a guard, each caller can read only its own tasks. The tests also count the calls of the app's task
// store.

beforeEach(() => {
  quietConsole();
});

const ALICE = "alice:assistant";

/** A store that shows all tasks to every caller, and counts the calls that it gets. */
class SharedTasks extends InMemoryTaskStore {
  asked = 0;

  constructor() {
    super(() => "all");
  }

  override load(...given: Parameters<InMemoryTaskStore["load"]>) {
    this.asked++;
    return super.load(...given);
  }

  override list(...given: Parameters<InMemoryTaskStore["list"]>) {
    this.asked++;
    return super.list(...given);
  }
}

async function fill(tasks: InMemoryTaskStore, count: number): Promise<void> {
  const context = new ServerCallContext({});
  for (let at = 0; at < count; at++) {
    await tasks.save(
      {
        id: `other-${at}`,
        contextId: "c",
        artifacts: [],
        history: [],
        metadata: {},
        status: {
          state: TaskState.TASK_STATE_COMPLETED,
          message: undefined,
          timestamp: new Date(at).toISOString(),
        },
      },
      context,
    );
  }
}

test("behind a guard, ListTasks reads only the caller's own tasks from the app's store", async () => {
  const tasks = new SharedTasks();
  await fill(tasks, 100);
  const issuing = await desk();
  const { url } = await startDesk(issuing, { tasks });
  const [one, other] = [
    ...(await granted(issuing.agent, { grants: ["desk:use"] })),
    ...(await granted(issuing.agent, { grants: ["desk:use"] })),
  ];
  const client = await sdkClient(url, "JSON-RPC", ALICE);
  const alice = await withCapability(client, one?.token ?? "");
  const made: Task[] = [];
  for (const words of ["write this", "ask me", "write that"]) {
    made.push(taskIn(await alice.sendMessage(messageOf([words]))));
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  const ids = made.map(({ id }) => id).reverse();
  const listed = async (more: Partial<typeof LISTING> = {}): Promise<readonly string[]> => {
    const { tasks: found, totalSize } = await alice.listTasks({ ...LISTING, ...more });
    expect(totalSize).toBe(found.length);
    return found.map(({ id }) => id);
  };
  tasks.asked = 0;
  expect(await listed()).toEqual(ids);
  expect(tasks.asked).toBeLessThanOrEqual(2 * ids.length);
  const [last, middle, earliest] = ids;
  expect(await listed({ status: TaskState.TASK_STATE_INPUT_REQUIRED })).toEqual([middle]);
  expect(await listed({ contextId: made[0]?.contextId ?? "" })).toEqual([earliest]);
  expect(await listed({ statusTimestampAfter: made[1]?.status?.timestamp })).toEqual([last]);
  expect(String(await failureOf(listed({ statusTimestampAfter: "soon" })))).toContain("RFC 3339");
  expect(String(await failureOf(listed({ pageToken: "x" })))).toContain("pageToken must be");
  const page = await alice.listTasks({ ...LISTING, pageSize: 2 });
  const { nextPageToken: pageToken } = page;
  const rest = await alice.listTasks({ ...LISTING, pageSize: 2, pageToken });
  expect([page, rest].map(({ tasks: found }) => found.map(({ id }) => id))).toEqual([
    [last, middle],
    [earliest],
  ]);
  expect([page.totalSize, rest.totalSize, rest.nextPageToken]).toEqual([3, 3, ""]);
  tasks.asked = 0;
  const nothing = await (await withCapability(client, other?.token ?? "")).listTasks(LISTING);
  expect([nothing.totalSize, tasks.asked]).toEqual([0, 0]);
});

test.each([false, true])(
  "a second capability that covers an ended task allows only reading that task (with openTaskStore: %s)",
  async (withStore) => {
    const issuing = await desk();
    const store = withStore ? await openTaskStore(issuing.database) : undefined;
    const keeping = store === undefined ? {} : { tasks: store, access: store };
    const { url, desk: own } = await startDesk(issuing, keeping);
    const client = await sdkClient(url, "JSON-RPC", ALICE);
    const holder = async () => {
      const [capability] = await granted(issuing.agent, { grants: ["desk:use"] });
      return withCapability(client, capability?.token ?? "");
    };
    const [maker, reader] = [await holder(), await holder()];
    const { id } = taskIn(await maker.sendMessage(messageOf(["write this"])));
    const config = {
      tenant: "",
      taskId: id,
      id: "mine",
      url: "http://127.0.0.1:9/",
      token: "t",
      authentication: undefined,
    };
    await maker.createTaskPushNotificationConfig(config);
    expect((await reader.getTask({ tenant: "", id, historyLength: undefined })).id).toBe(id);
    const named = { tenant: "", taskId: id, id: "mine" };
    const page = { tenant: "", taskId: id, pageSize: 0, pageToken: "" };
    for (const act of [
      () => reader.createTaskPushNotificationConfig({ ...config, id: "more" }),
      () => reader.getTaskPushNotificationConfig(named),
      () => reader.listTaskPushNotificationConfig(page),
      () => reader.deleteTaskPushNotificationConfig(named),
      () => reader.cancelTask({ tenant: "", id, metadata: undefined }),
      () => first(reader.resubscribeTask({ tenant: "", id })),
      () => reader.sendMessage(messageOf(["write more"], { taskId: id })),
    ]) {
      expect(String(await failureOf(act()))).toContain("Task not found");
    }
    await reader.sendMessage(messageOf(["refer to"], { referenceTaskIds: [id] }));
    await maker.sendMessage(messageOf(["refer to"], { referenceTaskIds: [id, id] }));
    expect(own.referred).toEqual([0, 0, 1]);
    const { configs } = await maker.listTaskPushNotificationConfig(page);
    expect(configs.map((one) => one.id)).toEqual(["mine"]);
    await store?.close();
  },
);
