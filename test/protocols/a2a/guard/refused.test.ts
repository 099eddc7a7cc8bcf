import { type Message, type SendMessageRequest, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { beforeEach, expect, test, vi } from "vitest";
import { attenuate, type HopInit } from "../../../../src/index.js";
import {
  EXTENSION_URI,
  refusalOf,
  withCapability,
} from "../../../../src/protocols/a2a/client/index.js";
import { type GuardOptions, guard, openTaskStore } from "../../../../src/protocols/a2a/index.js";
import { ALICE, granted, misuse, type World, type WorldOptions } from "../../../agent/support.js";
import { FULL } from "../../../support/size.js";
import {
  at,
  BINDINGS,
  type BindingName,
  failureOf,
  first,
  LISTING,
  messageOf,
  quietConsole,
  sdkClient,
  send,
  taskIn,
} from "../callers.js";
import { AT_ONCE } from "../set-up.js";
import { type DeskOptions, desk, needs, type RunningDesk, startDesk } from "./own-agent.js";

// Requests that a guarded agent refuses, and the visibility of its tasks.

const LOGIN = `${ALICE.principal}:${ALICE.invoker}`;

beforeEach(() => {
  quietConsole();
});

interface Set extends RunningDesk {
  readonly issuing: World;
  readonly token: string;
  holder(token?: string, login?: string, binding?: BindingName): Promise<Client>;
}

async function set(options: DeskOptions = {}, world: WorldOptions = {}): Promise<Set> {
  const issuing = await desk(world);
  const running = await startDesk(issuing, options);
  const [capability] = await granted(issuing.agent, { grants: ["desk:use"] });
  const token = capability?.token ?? "";
  const holder: Set["holder"] = async (own = token, login = LOGIN, binding = "JSON-RPC") => {
    const client = await sdkClient(running.url, binding, login);
    return own === "" ? client : withCapability(client, own);
  };
  return { ...running, issuing, token, holder };
}

const words = (text: string, more: Partial<Message> = {}): SendMessageRequest =>
  messageOf([text], more);

async function codes(action: Promise<unknown>): Promise<readonly string[]> {
  const error = await failureOf(action);
  return refusalOf(error)?.denials.map(({ code }) => code) ?? [String(error)];
}

function hop(token: string, rules: HopInit): string {
  const attenuation = attenuate(token, rules);
  if (!attenuation.ok) throw new Error("the hop goes too far");
  return attenuation.token;
}

const REFUSED: readonly (readonly [
  why: string,
  words: string,
  denied: readonly string[],
  token: (own: string, world: World) => string | Promise<string>,
])[] = [
  ["no capability", "say hi", ["capability_missing"], () => ""],
  ["another grant's operation", "file this", ["operation_denied", "grant_denied"], (own) => own],
  ["an unknown operation", "shred it", ["operation_denied"], (own) => own],
  [
    "an operation that a hop removed",
    "write this",
    ["operation_denied"],
    (own) => hop(own, { operations: ["talk"] }),
  ],
  [
    "an argument outside a rule",
    "say secrets",
    ["constraint_violated"],
    (own) => hop(own, { constraints: { about: { not_in: ["secrets"] } } }),
  ],
  [
    "an expired token",
    "say hi",
    ["expired"],
    (own, { clock }) => {
      clock.now += 3_600_000;
      return own;
    },
  ],
  [
    "a revoked token",
    "say hi",
    ["revoked"],
    async (own, { agent }) => {
      await agent.revoke(ALICE, { token: own });
      return own;
    },
  ],
  [
    "another invoker's token",
    "say hi",
    ["invoker_denied"],
    (own) => hop(own, { invokers: ["other"] }),
  ],
  ["a malformed token", "say hi", ["token_malformed"], () => "bm9uZQ"],
];

for (const binding of BINDINGS) {
  test.each(FULL || binding === "JSON-RPC" ? REFUSED : REFUSED.slice(0, 2))(
    `behind a guard, a message over ${binding} with %s is refused and runs nothing`,
    async (_why, text, denied, tokenOf) => {
      const { issuing, token, holder, desk: own } = await set();
      const client = await holder(await tokenOf(token, issuing), LOGIN, binding);
      expect(new Set(await codes(client.sendMessage(words(text))))).toEqual(new Set(denied));
      expect(new Set(await codes(first(client.sendMessageStream(words(text)))))).toEqual(
        new Set(denied),
      );
      expect(own.ran).toEqual([]);
      const lines = await issuing.ledger.list({ kind: "invocation" });
      expect(lines.map(({ decision }) => decision)).toEqual(["refused", "refused"]);
    },
  );
}

async function post(url: string, body: object, headers: object = {}) {
  return send(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${LOGIN}`,
      "Content-Type": "application/json",
      "A2A-Version": "1.0",
      "A2A-Extensions": "urn:proviso:a2a:capabilities:1",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const MESSAGE = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "say hi" }] };
const call = (params: object, method = "SendMessage") => ({
  jsonrpc: "2.0",
  id: 7,
  method,
  params,
});

test("behind a guard, a caller that the app cannot authenticate gets 401", async () => {
  const { url, desk: own } = await set();
  const headers = { Authorization: "Bearer nobody" };
  for (const [path, body] of [
    ["/rpc", call({ message: MESSAGE })],
    ["/rest/message:send", { message: MESSAGE }],
  ] as const) {
    const answer = await post(`${url}${path}`, body, headers);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  }
  expect(own.ran).toEqual([]);
});

test("a guard refuses a capability in the wrong place, a JSON-RPC batch, and a body in the other binding's format", async () => {
  const { url, token, desk: own } = await set();
  const rpc = (body: object, headers = {}) => post(`${url}/rpc`, body, headers);
  for (const body of [
    call({ message: { ...MESSAGE, metadata: { token } } }),
    call({ message: { ...MESSAGE, parts: [{ text: `say ${token}` }] } }),
    { ...call({ message: MESSAGE }), capabilities: [token] },
  ]) {
    expect(at((await rpc(body)).body, "error", "code")).toBe(-32602);
  }
  const twice = { ...call({ message: MESSAGE }), message: { ...MESSAGE, metadata: { token } } };
  expect(at((await rpc(twice)).body, "error", "code")).toBe(-32602);
  expect(at((await rpc([call({ message: MESSAGE })])).body, "error", "code")).toBe(-32600);
  // The REST handler refuses a JSON-RPC body, and the JSON-RPC handler refuses a REST body.
  expect((await post(`${url}/rest/message:send`, call({ message: MESSAGE }))).status).toBe(400);
  expect(at((await rpc({ message: MESSAGE })).body, "error", "code")).toBe(-32600);
  expect(own.ran).toEqual([]);
});

test("without the guard's `before`, the guard's handler runs nothing", async () => {
  const { holder, desk: own } = await set({ bare: true });
  for (const binding of BINDINGS) {
    const client = await holder(undefined, LOGIN, binding);
    const outside = /has not come through the guard/;
    await expect(client.sendMessage(words("say hi"))).rejects.toThrow(outside);
    await expect(first(client.sendMessageStream(words("say hi")))).rejects.toThrow();
    await expect(client.listTasks(LISTING)).rejects.toThrow(outside);
    await expect(first(client.resubscribeTask({ tenant: "", id: "x" }))).rejects.toThrow();
  }
  expect(own.ran).toEqual([]);
});

test("without the guard's userBuilder, the guard's handler runs nothing", async () => {
  const { holder, desk: own } = await set({ apart: true, ownUser: true });
  for (const binding of BINDINGS) {
    const client = await holder(undefined, LOGIN, binding);
    const outside = /has not come through the guard.*userBuilder/;
    await expect(client.sendMessage(words("say hi"))).rejects.toThrow(outside);
    await expect(first(client.sendMessageStream(words("say hi")))).rejects.toThrow();
    await expect(client.listTasks(LISTING)).rejects.toThrow(outside);
  }
  expect(own.ran).toEqual([]);
});

test("a guard checks every message to a task, not only the first", async () => {
  const { issuing, token, holder, desk: own } = await set();
  const alice = await holder();
  const { id: taskId } = taskIn(await alice.sendMessage(words("ask me")));
  const talking = await holder(hop(token, { operations: ["talk"] }));
  expect(await codes(talking.sendMessage(words("write this", { taskId })))).toEqual([
    `TaskNotFoundError: Task not found: ${taskId}`,
  ]);
  expect(await codes(alice.sendMessage(words("file this", { taskId })))).toContain("grant_denied");
  await issuing.agent.revoke(ALICE, { token });
  expect(await codes(alice.sendMessage(words("write this", { taskId })))).toEqual(["revoked"]);
  expect(own.ran).toHaveLength(1);
});

/** Returns whether a client sees a task, for each method that reads the task. */
async function sees(client: Client, { id }: Pick<Task, "id">): Promise<readonly boolean[]> {
  const able = (action: Promise<unknown>): Promise<boolean> =>
    action.then(
      () => true,
      (error: Error) => {
        expect(String(error)).toContain("Task not found");
        return false;
      },
    );
  const push = { tenant: "", taskId: id, id: "mine" };
  const { tasks, totalSize } = await client.listTasks(LISTING);
  expect(tasks).toHaveLength(totalSize);
  return [
    tasks.some((task) => task.id === id),
    await able(client.getTask({ tenant: "", id, historyLength: undefined })),
    await able(first(client.resubscribeTask({ tenant: "", id }))),
    await able(
      client.createTaskPushNotificationConfig({
        ...push,
        url: "http://127.0.0.1:9/",
        token: "",
        authentication: undefined,
      }),
    ),
    await able(client.cancelTask({ tenant: "", id, metadata: undefined })),
  ];
}

const YES = [true, true, true, true, true];
const NO = YES.map(() => false);

test("behind a guard, a task is visible only with the token that made the task, or with an ancestor of that token", async () => {
  const { issuing, token, holder } = await set();
  const [other] = await granted(issuing.agent, { grants: ["desk:use"] });
  const own = hop(token, { purpose: "one" });
  const sibling = hop(token, { purpose: "two" });
  const begin = async (): Promise<Task> => {
    const waiting = { ...words("wait"), configuration: AT_ONCE };
    return taskIn(await (await holder(own)).sendMessage(waiting));
  };
  expect(await sees(await holder(own), await begin())).toEqual(YES);
  expect(await sees(await holder(token), await begin())).toEqual(YES);
  expect(await sees(await holder(sibling), await begin())).toEqual(NO);
  expect(await sees(await holder(hop(own, { purpose: "on" })), await begin())).toEqual(NO);
  expect(await sees(await holder(other?.token), await begin())).toEqual(NO);
  expect(await sees(await holder(own, "bob:assistant"), await begin())).toEqual(NO);
});

test("behind a guard, the same caller can read an ended task with another capability that covers the task", async () => {
  const { issuing, holder } = await set();
  const [other] = await granted(issuing.agent, { grants: ["desk:use"] });
  const read = async (client: Client, id: string): Promise<unknown> =>
    client
      .getTask({ tenant: "", id, historyLength: undefined })
      .then(({ status }) => status?.state, String);
  const done = taskIn(await (await holder()).sendMessage(words("write this")));
  const waiting = taskIn(await (await holder()).sendMessage(words("ask")));
  const covering = await holder(other?.token);
  expect(await read(covering, done.id)).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(await read(covering, waiting.id)).toContain("Task not found");
  const less = await holder(hop(other?.token ?? "", { operations: ["talk"] }));
  expect(await read(less, done.id)).toContain("Task not found");
  expect(await read(await holder(other?.token, "alice:other"), done.id)).toContain("not found");
});

test("behind a guard, the executor sees only its caller's tasks and can delegate only narrower tokens", async () => {
  const { issuing, token, holder, desk: own } = await set();
  const alice = await holder();
  const mine = taskIn(await alice.sendMessage(words("write this")));
  const sibling = await holder(hop(token, { purpose: "else" }));
  const theirs = taskIn(await sibling.sendMessage(words("write that")));
  await (await holder(hop(token, { purpose: "own" }))).sendMessage(words("say hi"));
  await alice.sendMessage(words("refer to", { referenceTaskIds: [mine.id, "none"] }));
  await sibling.sendMessage(words("refer to", { referenceTaskIds: [mine.id, theirs.id] }));
  expect(own.referred).toEqual([0, 0, 0, 1, 1]);
  const clearance = own.cleared.at(-1);
  expect(clearance).toMatchObject({
    operation: "talk",
    principal: "alice",
    caller: ALICE,
    authority: "capability",
    arguments: { about: "to" },
    handles: [],
    capability: { grant: "desk:use" },
  });
  const passed = clearance?.delegate({ operations: ["talk"] }) ?? "";
  expect(clearance?.delegate({ operations: ["file"] })).toBeUndefined();
  const lower = await holder(passed);
  expect(await codes(lower.sendMessage(words("write x")))).toEqual(["operation_denied"]);
  await lower.sendMessage(words("say hi"));
  const lines = await issuing.ledger.list({ decision: "allowed", kind: "invocation" });
  expect(lines.map(({ operation }) => operation)).toEqual([
    "write",
    "write",
    "talk",
    "talk",
    "talk",
    "talk",
  ]);
});

const SENDING: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  "a message": (client) => client.sendMessage(words("say hi")),
  "a message, streamed": (client) => first(client.sendMessageStream(words("say hi"))),
};

test.each(
  BINDINGS.flatMap((binding) => Object.entries(SENDING).map((way) => [binding, ...way] as const)),
)(
  "a message does not run if its token is revoked between the guard's check and the run: %s, %s",
  async (binding, _, act) => {
    const printed = quietConsole();
    const late: { revoke?: () => Promise<unknown> } = {};
    const {
      issuing,
      token,
      holder,
      desk: own,
    } = await set({
      needs: async (message) => {
        const needed = await needs(message);
        // The decision is delayed, as with a remote policy.
        const clear = issuing.agent.clearOperation.bind(issuing.agent);
        vi.spyOn(issuing.agent, "clearOperation").mockImplementationOnce(async (...asked) => {
          const answer = await clear(...asked);
          await late.revoke?.();
          return answer;
        });
        return needed;
      },
    });
    late.revoke = () => issuing.agent.revoke(ALICE, { token });
    const error = await failureOf(act(await holder(undefined, LOGIN, binding)));
    expect(refusalOf(error)?.denials.map(({ code }) => code)).toEqual(["revoked"]);
    expect(own.ran).toEqual([]);
    expect(await issuing.ledger.list({ kind: "invocation" })).toMatchObject([
      { decision: "refused", codes: ["revoked"] },
    ]);
    expect(printed).toEqual([]);
  },
);

test("a guard answers the extension's methods, and a narrowed token works in all of them", async () => {
  const { url, token: issued, holder, desk: own } = await set();
  const token = hop(issued, { purpose: "one task" });
  const rpc = async (method: string, params: object, headers = {}) =>
    (await post(`${url}/rpc`, call(params, method), headers)).body;
  const asked = await rpc("a2a/capabilities/request", { grants: ["desk:use"] });
  expect(at(asked, "result", "capabilities", 0, "grant")).toBe("desk:use");
  const shown = await rpc("a2a/capabilities/introspect", { token });
  expect(at(shown, "result", "active")).toBe(true);
  const sent = await rpc("a2a/task/send", { message: MESSAGE, capabilities: [{ token }] });
  expect(at(sent, "result", "message", "parts", 0, "text")).toBe("hi");
  const skill = await rpc("a2a/skill/invoke", { skill: "say", token });
  expect(at(skill, "error", "code")).toBe(-32601);
  const inWords = {
    ...MESSAGE,
    parts: [{ data: { method: "a2a/capabilities/introspect", params: { token } } }],
  };
  const told = await rpc("SendMessage", { message: inWords });
  expect(at(told, "result", "message", "parts", 0, "data", "active")).toBe(true);
  await (await holder()).sendMessage(words("say hi"));
  expect(own.ran).toHaveLength(2);
});

test("behind a guard with a task store, a task is visible with the same tokens after a restart", async () => {
  const issuing = await desk();
  const tasks = await openTaskStore(issuing.database);
  const [capability] = await granted(issuing.agent, { grants: ["desk:use"] });
  const token = capability?.token ?? "";
  const open = async (own: string): Promise<Client> => {
    const { url } = await startDesk(issuing, { tasks, access: tasks });
    return withCapability(await sdkClient(url, "JSON-RPC", LOGIN), own);
  };
  const made = taskIn(await (await open(token)).sendMessage(words("ask me")));
  expect((await (await open(token)).listTasks(LISTING)).tasks.map(({ id }) => id)).toEqual([
    made.id,
  ]);
  const answered = await (await open(token)).sendMessage(words("write it", { taskId: made.id }));
  expect(taskIn(answered).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect((await (await open(hop(token, { purpose: "x" }))).listTasks(LISTING)).totalSize).toBe(0);
  await tasks.close();
});

test("behind a guard, a task without an access record is hidden, and onFailure is called", async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const { holder } = await set({ access: { load: async () => undefined }, onFailure });
  const alice = await holder();
  const { id } = taskIn(await alice.sendMessage(words("write this")));
  await expect(alice.getTask({ tenant: "", id, historyLength: undefined })).rejects.toThrow(
    "Task not found",
  );
  await expect(alice.listTasks(LISTING)).rejects.toThrow("internal error");
  expect(failures.map(String)).toEqual([
    "TypeError: access: must be the store that the handler keeps its tasks in",
  ]);
});

test("behind a guard, callers with ambient authority and with a capability do not see each other's tasks", async () => {
  const { issuing, holder, desk: own } = await set({}, { mode: "prefer" });
  const [ambient, alice] = [await holder(""), await holder()];
  const bare = taskIn(await ambient.sendMessage(words("write this")));
  const held = taskIn(await alice.sendMessage(words("write that")));
  const listed = async (client: Client) =>
    (await client.listTasks(LISTING)).tasks.map(({ id }) => id);
  expect([await listed(ambient), await listed(alice)]).toEqual([[bare.id], [held.id]]);
  expect(await listed(await holder("", "alice:other"))).toEqual([]);
  expect(own.cleared.map(({ authority }) => authority)).toEqual(["ambient", "capability"]);
  expect(own.cleared[0]?.delegate({ operations: ["talk"] })).toBeUndefined();
  expect(await codes((await holder("", "bob:assistant")).sendMessage(words("say hi")))).toEqual([
    "policy_denied",
  ]);
  const lines = await issuing.ledger.list({ decision: "allowed", kind: "invocation" });
  expect(lines.map(({ authority }) => authority)).toEqual(["ambient", "capability"]);
});

test("guard refuses unknown, missing and wrong options, and the error names the option", async () => {
  const { agent } = await desk();
  const caller = (): undefined => undefined;
  const handler = { sendMessage: () => {} };
  const made = (options: object): string =>
    misuse(() => guard(Object({ handler, ...options }) as GuardOptions));
  expect(made({ agent, needs, caller, acess: {} })).toContain("access");
  expect(made({ agent, needs: "talk", caller })).toBe("needs: must be a function");
  expect(made({ agent, needs })).toBe("caller: must be a function");
  expect(made({ agent: {}, needs, caller })).toContain("agent: must be");
  expect(made({ agent, handler: {}, needs, caller })).toContain("handler: must be");
});

test.each<[unknown]>([[{ length: 100_000_000 }], [[1, 2, 3]]])(
  "a guard refuses a message part whose raw value is not a string: %j",
  async (raw) => {
    const { url, token, desk: own } = await set();
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ raw }] };
    const { body } = await posted(url, { message }, token);
    expect(at(body, "error", "message")).toContain("params.message.parts[0].raw must be bytes");
    const listed = { ...message, parts: [{ text: "say hi" }], referenceTaskIds: [{ length: 1 }] };
    expect(at((await posted(url, { message: listed }, token)).body, "error", "message")).toContain(
      "params.message.referenceTaskIds[0] must be at most 128 printable ASCII characters",
    );
    expect(own.ran).toEqual([]);
  },
);

test("behind a guard, the app's executor sees neither the token nor the capability header of a request", async () => {
  const { url, token, holder, desk: own } = await set();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "say hi" }] };
  expect(at((await posted(url, { message }, token)).body, "error")).toBeNull();
  await (await holder()).sendMessage(words("say hi"));
  expect(own.told).toHaveLength(2);
  expect(own.told.join()).not.toContain(token);
  expect(own.told.join().toLowerCase()).not.toContain("proviso-capability");
});

test.each([true, false])(
  "middleware after a guard does not find the token in the request's headers (headers read before the guard: %s)",
  async (isRead) => {
    const seen: string[] = [];
    const { url, token } = await set({
      apart: true,
      caller: (req) => {
        if (isRead) expect(JSON.stringify(req.headersDistinct)).toContain(token);
        return ALICE;
      },
      between: ({ headers, rawHeaders, headersDistinct }, _res, next) => {
        seen.push(JSON.stringify([headers, rawHeaders, headersDistinct]));
        next();
      },
    });
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "say hi" }] };
    expect(at((await posted(url, { message }, token)).body, "error")).toBeNull();
    expect(seen).toHaveLength(1);
    expect(seen.join().toLowerCase()).not.toContain("proviso-capability");
    expect(seen.join()).not.toContain(token);
  },
);

test("a guard mounted twice in front of its handler answers 500 and runs nothing", async () => {
  const { url, token, desk: own } = await set({ fronts: 2 }, { mode: "prefer" });
  const message = { role: "user", parts: [{ text: "say hi" }] };
  const { status } = await posted(url, { message, capabilities: [{ token }] }, "", "a2a/task/send");
  expect([status, own.ran]).toEqual([500, []]);
});

test.each([
  [null, 401],
  [{ principal: "alice" }, 500],
  [{ principal: "", invoker: "app" }, 500],
])("a guard refuses a request for which the app returns the caller %j", async (caller, status) => {
  const { url, desk: own } = await set(
    { caller: () => JSON.parse(JSON.stringify(caller)), onFailure: () => {} },
    { mode: "prefer" },
  );
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "say hi" }] };
  const answer = await posted(url, { message }, "");
  expect([status === 401 ? answer.status : 500, own.ran]).toEqual([status, []]);
  expect(at(answer.body, "error")).not.toBeNull();
});

function posted(url: string, params: object, token: string, method = "SendMessage") {
  return send(`${url}/rpc`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${LOGIN}`,
      "A2A-Version": "1.0",
      "A2A-Extensions": EXTENSION_URI,
      ...(token === "" ? {} : { "Proviso-Capability": token }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}
