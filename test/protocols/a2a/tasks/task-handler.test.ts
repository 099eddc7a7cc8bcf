import { type Message, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { DefaultRequestHandler, type ServerCallContext } from "@a2a-js/sdk/server";
import { describe, expect, test } from "vitest";
import type { TaskStore } from "../../../../src/protocols/a2a/tasks/task-store.js";
import { throughStores } from "../../../support/databases.js";
import { as, CARD, executor, newStore, opened, sending } from "./support.js";

function handlerOver(store: TaskStore): DefaultRequestHandler {
  const sender = { send: async () => {} };
  return new DefaultRequestHandler(CARD, store, executor, undefined, store.pushConfigs, sender);
}

function asTask(result: Message | Task): Task {
  if ("id" in result) return result;
  throw new Error("a message came, and no task");
}

async function send(
  handler: DefaultRequestHandler,
  text: string,
  context: ServerCallContext,
  taskId = "",
): Promise<Task> {
  return asTask(await handler.sendMessage(sending(text, taskId), context));
}

const CREATOR = ["iab"];
const hidden: [string, ServerCallContext][] = [
  ["a sibling's token", as("alice", ["iac"])],
  ["a narrowed token", as("alice", ["iabc"])],
  ["ambient authority", as("alice")],
  ["another principal", as("bob", CREATOR)],
];

throughStores((place) => {
  describe("the SDK's handler over the task store", () => {
    test("continues a task over several turns, and after a restart", async () => {
      const path = await place();
      const { store, close } = await opened(path);
      const first = await send(handlerOver(store), "begin", as("alice", CREATOR));
      expect(first.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      await close();

      const again = await opened(path);
      const handler = handlerOver(again.store);
      // The message presents the token from which the task maker's token was narrowed.
      const done = await send(handler, "done", as("alice", ["ia"]), first.id);
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      await again.close();

      const last = handlerOver(await newStore(path));
      const read = await last.getTask({ tenant: "", id: first.id }, as("alice", CREATOR));
      expect(read.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      const texts = read.artifacts[0]?.parts.map(({ content }) => content?.value);
      expect(texts).toEqual(["one", "two"]);
      const said = read.history.map(({ parts }) => parts[0]?.content?.value);
      expect([...said].sort()).toEqual(["begin", "done"]);
      const short = await last.getTask(
        { tenant: "", id: first.id, historyLength: 1 },
        as("alice", CREATOR),
      );
      expect(short.history).toHaveLength(1);
    });

    test.each(hidden)("hides a task from %s", async (_, other) => {
      const store = await newStore(await place());
      const handler = handlerOver(store);
      const mine = as("alice", CREATOR);
      const { id } = await send(handler, "begin", mine);
      const of = { tenant: "", id };
      const push = {
        ...of,
        taskId: id,
        id: "c",
        url: "http://127.0.0.1:1/",
        token: "",
        authentication: undefined,
      };
      const tries: (() => Promise<unknown>)[] = [
        () => handler.getTask(of, other),
        () => handler.cancelTask({ ...of, metadata: undefined }, other),
        () => handler.resubscribe(of, other).next(),
        () => handler.sendMessage(sending("done", id), other),
        () => handler.sendMessageStream(sending("done", id), other).next(),
        () => handler.createTaskPushNotificationConfig(push, other),
        () => handler.getTaskPushNotificationConfig(push, other),
        () =>
          handler.listTaskPushNotificationConfigs(
            { ...of, taskId: id, pageSize: 0, pageToken: "" },
            other,
          ),
        () => handler.deleteTaskPushNotificationConfig(push, other),
      ];
      for (const attempt of tries) await expect(attempt()).rejects.toThrow(TaskNotFoundError);
      const list = {
        tenant: "",
        contextId: "",
        status: 0,
        pageToken: "",
        statusTimestampAfter: undefined,
      };
      expect((await handler.listTasks(list, other)).totalSize).toBe(0);
      expect((await handler.listTasks(list, mine)).totalSize).toBe(1);
      const canceled = await handler.cancelTask({ ...of, metadata: undefined }, mine);
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    });

    test("streams the events of a task", async () => {
      const store = await newStore(await place());
      const handler = handlerOver(store);
      const events: string[] = [];
      for await (const { payload } of handler.sendMessageStream(sending("begin"), as("alice"))) {
        events.push(payload?.$case ?? "");
      }
      expect(events).toEqual(["task", "artifactUpdate", "artifactUpdate", "statusUpdate"]);
    });
  });

  describe("push configurations in the task store", () => {
    const shared = { tenant: "", url: "http://127.0.0.1:1/hook", authentication: undefined };

    test("can be made, read, listed, replaced and deleted, also after a restart", async () => {
      const path = await place();
      const { store, close } = await opened(path);
      const mine = as("alice", CREATOR);
      const { id: taskId } = await send(handlerOver(store), "begin", mine);
      const made = await handlerOver(store).createTaskPushNotificationConfig(
        { ...shared, id: "", taskId, token: "first" },
        mine,
      );
      expect(made.id).toMatch(/^[0-9a-f-]{36}$/);
      await close();

      const handler = handlerOver(await newStore(path));
      const get = { tenant: "", taskId, id: made.id };
      expect(await handler.getTaskPushNotificationConfig(get, mine)).toEqual(made);
      await handler.createTaskPushNotificationConfig({ ...made, token: "second" }, mine);
      await handler.createTaskPushNotificationConfig({ ...made, id: "other" }, mine);
      const list = { tenant: "", taskId, pageSize: 0, pageToken: "" };
      const { configs } = await handler.listTaskPushNotificationConfigs(list, mine);
      expect(configs.map(({ id, token }) => [id, token])).toEqual([
        [made.id, "second"],
        ["other", "first"],
      ]);
      await handler.deleteTaskPushNotificationConfig(get, mine);
      const left = await handler.listTaskPushNotificationConfigs(list, mine);
      expect(left.configs.map(({ id }) => id)).toEqual(["other"]);
    });

    test("made with a wider token are hidden from a narrower token, but are still used for notifications", async () => {
      const store = await newStore(await place());
      const handler = handlerOver(store);
      const [narrow, wide] = [as("alice", CREATOR), as("alice", ["ia"])];
      const { id: taskId } = await send(handler, "begin", narrow);
      const theirs = { ...shared, taskId, id: "wide", token: "secret" };
      await handler.createTaskPushNotificationConfig(theirs, wide);
      await handler.createTaskPushNotificationConfig(
        { ...theirs, id: "narrow", token: "" },
        narrow,
      );

      const seenBy = async (context: ServerCallContext): Promise<string[]> =>
        (await store.pushConfigs.load(taskId, context)).map(({ id }) => id);
      expect(await seenBy(wide)).toEqual(["wide", "narrow"]);
      expect(await seenBy(narrow)).toEqual(["narrow"]);
      const sent = await store.pushConfigs.loadWithMetadata(taskId, narrow);
      expect(sent.map(({ config, wireVersion }) => [config.id, wireVersion])).toEqual([
        ["wide", "1.0"],
        ["narrow", "1.0"],
      ]);

      await expect(
        handler.createTaskPushNotificationConfig({ ...theirs, token: "mine" }, narrow),
      ).rejects.toThrow(RequestMalformedError);
      await handler.deleteTaskPushNotificationConfig({ tenant: "", taskId, id: "wide" }, narrow);
      expect(await seenBy(wide)).toEqual(["wide", "narrow"]);
      expect(await store.pushConfigs.loadWithMetadata(taskId, as("bob", CREATOR))).toEqual([]);
    });

    test("saved before their task exists are visible only with the token that saved them", async () => {
      const store = await newStore(await place());
      const mine = as("alice", CREATOR);
      const config = { ...shared, id: "c", taskId: "t", token: "secret" };
      await store.pushConfigs.save("t", mine, config);
      expect(await store.pushConfigs.loadWithMetadata("t", as("alice", ["iac"]))).toEqual([]);
      expect(await store.pushConfigs.load("t", mine)).toEqual([config]);
      // A configuration without a task is removed.
      expect(await store.prune(Date.now() + 1000)).toBe(0);
      expect(await store.pushConfigs.load("t", mine)).toEqual([]);
    });
  });
});
