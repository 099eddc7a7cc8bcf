import { type Message, type Part, Role, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { expect, test } from "vitest";
import { withCapability } from "../../../../src/protocols/a2a/client/index.js";
import { ALICE, granted } from "../../../agent/support.js";
import { FULL } from "../../../support/size.js";
import { BINDINGS, first, LISTING, quietConsole, sdkClient, taskIn } from "../callers.js";
import { AT_ONCE } from "../set-up.js";
import { desk, startDesk } from "./own-agent.js";

// With and without a guard, an agent gives the same answers to every A2A method.

function part(content: Part["content"], more: Partial<Part> = {}): Part {
  return { content, mediaType: "", filename: "", metadata: {}, ...more };
}

function said(text: string, parts: readonly Part[] = [], more: Partial<Message> = {}) {
  return {
    tenant: "",
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [part({ $case: "text", value: text }), ...parts],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...more,
    },
  } satisfies SendMessageRequest;
}

async function all<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

async function failing(action: Promise<unknown>): Promise<unknown> {
  return action.catch((error: Error) => ({ error: error.name, message: error.message }));
}

const about = ({ id }: Pick<Task, "id">) => ({ tenant: "", id });

/** Makes three tasks at different times, so that their timestamps show their order. */
async function three(client: Client): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  for (const word of ["one", "two", "three"]) {
    tasks.push(taskIn(await client.sendMessage(said(`write ${word}`))));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return tasks;
}

const CASES: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  "a message instead of a task": (client) => client.sendMessage(said("say hello")),
  "a message, streamed": (client) => all(client.sendMessageStream(said("say hello"))),
  "a task": (client) => client.sendMessage(said("write one two three")),
  "a task at once": (client) =>
    client.sendMessage({ ...said("wait"), configuration: { ...AT_ONCE } }),
  "artifacts in chunks": (client) => all(client.sendMessageStream(said("write one two three"))),
  "data in and out": (client) =>
    client.sendMessage(said("data", [part({ $case: "data", value: { a: [1, null, "x"] } })])),
  "files in and out": (client) =>
    client.sendMessage(
      said("file", [
        part({ $case: "raw", value: Buffer.from([0, 1, 255]) }, { filename: "a.bin" }),
        part({ $case: "url", value: "https://files.example/a" }, { mediaType: "text/html" }),
      ]),
    ),
  "two turns": async (client) => {
    const asked = taskIn(await client.sendMessage(said("ask")));
    const more = { taskId: asked.id, contextId: asked.contextId };
    return [asked, await client.sendMessage(said("write this", [], more))];
  },
  "two turns, streamed": async (client) => {
    const asked = await all(client.sendMessageStream(said("ask")));
    const [begun] = asked;
    const id = begun?.payload?.$case === "task" ? begun.payload.value.id : "";
    return [asked, await all(client.sendMessageStream(said("write this", [], { taskId: id })))];
  },
  "a failure": (client) => client.sendMessage(said("fail")),
  "a failure, streamed": (client) => all(client.sendMessageStream(said("fail"))),
  "a task that is read with a part of its history": async (client) => {
    const task = taskIn(await client.sendMessage(said("write one")));
    return [
      await client.getTask({ ...about(task), historyLength: undefined }),
      await client.getTask({ ...about(task), historyLength: 1 }),
    ];
  },
  "a task that is cancelled twice": async (client) => {
    const begun = await client.sendMessage({ ...said("wait"), configuration: { ...AT_ONCE } });
    const cancel = { ...about(taskIn(begun)), metadata: undefined };
    const cancelled = await client.cancelTask(cancel);
    const done = taskIn(await client.sendMessage(said("write one")));
    return [cancelled, await failing(client.cancelTask({ ...cancel, id: done.id }))];
  },
  "tasks, page by page": async (client) => {
    await three(client);
    const whole = await client.listTasks(LISTING);
    const one = await client.listTasks({ ...LISTING, pageSize: 2 });
    const two = await client.listTasks({ ...LISTING, pageSize: 2, pageToken: one.nextPageToken });
    const bare = await client.listTasks({ ...LISTING, includeArtifacts: false, historyLength: 0 });
    const pages = [whole, one, two, bare];
    return pages.map((page) => ({ ...page, nextPageToken: page.nextPageToken !== "" }));
  },
  "a subscription to a task": async (client) => {
    const begun = await client.sendMessage({ ...said("wait"), configuration: { ...AT_ONCE } });
    return first(client.resubscribeTask(about(taskIn(begun))));
  },
  "push configurations": async (client) => {
    const { id: taskId } = taskIn(await client.sendMessage(said("write one")));
    const config = {
      tenant: "",
      id: "mine",
      taskId,
      url: "http://127.0.0.1:9/",
      token: "t",
      authentication: undefined,
    };
    const created = await client.createTaskPushNotificationConfig(config);
    const named = { tenant: "", taskId, id: "mine" };
    const listing = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    const read = await client.getTaskPushNotificationConfig(named);
    await client.deleteTaskPushNotificationConfig(named);
    return [created, read, await client.listTaskPushNotificationConfig(listing)];
  },
  "a task that does not exist": async (client) => [
    await failing(client.getTask({ tenant: "", id: "none", historyLength: undefined })),
    await failing(client.cancelTask({ tenant: "", id: "none", metadata: undefined })),
    await failing(first(client.resubscribeTask({ tenant: "", id: "none" }))),
    await failing(client.sendMessage(said("say x", [], { taskId: "none" }))),
    await failing(client.getTask({ tenant: "", id: " ", historyLength: undefined })),
  ],
  "a message to a task that has ended": async (client) => {
    const { id: taskId } = taskIn(await client.sendMessage(said("write one")));
    return failing(client.sendMessage(said("write two", [], { taskId })));
  },
  "a page size past the maximum": (client) =>
    client.listTasks({ ...LISTING, pageSize: 101 }).catch((error: Error) => error.name),
};

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Returns an answer with its ids numbered by occurrence, and without its timestamps. */
function normal(answer: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(answer)
    .replace(ID, (id) => {
      const known = ids.get(id) ?? `id-${ids.size}`;
      ids.set(id, known);
      return known;
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  return JSON.parse(text);
}

const WAYS = [
  ...BINDINGS.map((binding) => ({ binding })),
  { binding: "JSON-RPC", apart: true },
] as const;

for (const [at, { binding, ...way }] of WAYS.entries()) {
  const cases = Object.entries(CASES).filter((_, number) => FULL || number % WAYS.length === at);
  const of = "apart" in way ? " with the SDK's own handler" : "";
  test.each(cases)(
    `over ${binding}${of}, an agent gives the same answers with and without a guard: %s`,
    async (_name, act) => {
      quietConsole();
      const issuing = await desk();
      const [open, guarded] = [await startDesk(), await startDesk(issuing, way)];
      const capabilities = await granted(issuing.agent, { grants: ["desk:use", "desk:archive"] });
      const tokens = capabilities.map(({ token }) => token);
      const login = `${ALICE.principal}:${ALICE.invoker}`;
      const without = await act(await sdkClient(open.url, binding, login));
      const client = await sdkClient(guarded.url, binding, login);
      const answers = await act(await withCapability(client, tokens));
      expect(normal(answers)).toEqual(normal(without));
      const shown = guarded.desk.ran.map(({ parts }) => parts);
      expect(shown).toEqual(open.desk.ran.map(({ parts }) => parts));
      expect(JSON.stringify(guarded.desk.ran)).not.toContain("capabilities");
    },
  );
}
