import { expect, test } from "vitest";
import {
  createCapabilityClient,
  EXTENSION_URI,
  refusalOf,
  withAmbientAuthority,
} from "../../../src/protocols/a2a/client/index.js";
import type { TaskRunner } from "../../../src/protocols/a2a/index.js";
import {
  at,
  authorized,
  BINDINGS,
  callOf,
  clientOf,
  failureOf,
  LISTING,
  messageOf,
  request,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { agentFor, held, KNOWN, userMessage } from "./set-up.js";

const runTask: TaskRunner = async ({ invoke }) => (await invoke("wait", { milliseconds: 0 })).ok;

const WAIT = { skill: "wait", arguments: { milliseconds: 0 } };
const newMessage = () => userMessage([{ data: WAIT }]);
const AMBIENT = { [EXTENSION_URI]: { authority: "ambient" } };

test.each(["advertise", "prefer"] as const)(
  "in mode %s, tasks and the ledger say whether the caller declared ambient authority",
  async (mode) => {
    const agent = await agentFor({ runTask, mode });
    for (const binding of BINDINGS) {
      const alice = await clientOf(agent, binding, "alice");
      const declaring = await withAmbientAuthority(alice);
      for (const [client, declared] of [
        [alice, false],
        [declaring, true],
      ] as const) {
        for (const message of [callOf("wait", { milliseconds: 0 }), messageOf(["wait"])]) {
          const { id, metadata } = taskIn(await client.sendMessage(message, KNOWN));
          expect(metadata?.[EXTENSION_URI]).toMatchObject({ authority: "ambient", declared });
          const again = await client.getTask({ tenant: "", id });
          expect(again.metadata?.[EXTENSION_URI]).toMatchObject({ authority: "ambient", declared });
        }
      }
      const { authority } = await createCapabilityClient(declaring).invoke("wait", WAIT.arguments);
      expect(authority).toMatchObject({ authority: "ambient", declared: true });
    }
    const declared = (await agent.ledger.list({ kind: "invocation" })).map(
      (event) => event.declared,
    );
    const once = [false, false, true, true, true];
    expect(declared).toEqual([...once, ...once]);
  },
);

test("ambient authority can be declared in metadata or in a header", async () => {
  const agent = await agentFor({ runTask, mode: "prefer", undeclaredAmbient: "refused" });
  const header = { "Proviso-Authority": "ambient" };
  for (const [method, params, headers] of [
    ["SendMessage", { message: newMessage(), metadata: AMBIENT }, {}],
    ["SendMessage", { message: newMessage() }, header],
    ["SendMessage", { message: newMessage(), metadata: AMBIENT }, header],
    ["a2a/skill/invoke", { ...WAIT, metadata: AMBIENT }, {}],
    ["a2a/skill/invoke", WAIT, { "PROVISO-AUTHORITY": "ambient" }],
    ["a2a/task/send", { message: newMessage(), metadata: AMBIENT }, {}],
    ["a2a/task/send", { message: newMessage() }, header],
    ["ListTasks", {}, header],
  ] as const) {
    const { body } = await rpc(agent, "alice", method, params, headers);
    expect(at(body, "error")).toBeNull();
  }
  const declared = (await agent.ledger.list({ kind: "invocation" })).map((event) => event.declared);
  expect(declared).toEqual(Array(7).fill(true));
  const rest = await send(`${agent.server.restUrl}/tasks`, {
    headers: { ...authorized("alice"), ...header },
  });
  expect(rest.status).toBe(200);
});

test('with undeclaredAmbient "refused", a call without a declaration is refused with advice to declare ambient authority', async () => {
  const agent = await agentFor({ runTask, mode: "advertise", undeclaredAmbient: "refused" });
  const card = await send(agent.server.cardUrl);
  const params = at(card.body, "capabilities", "extensions", 0, "params");
  expect(params).toMatchObject({ ambientAuthority: "accepted", undeclaredAmbient: "refused" });
  expect(textAt(params, "notice")).toContain("must declare");
  for (const [method, given] of [
    ["SendMessage", { message: newMessage() }],
    ["SendMessage", { message: { ...newMessage(), parts: [{ text: "wait" }] } }],
    ["a2a/skill/invoke", WAIT],
    ["a2a/task/send", { message: newMessage() }],
    ["GetTask", { id: "x" }],
    ["ListTasks", {}],
  ] as const) {
    const { body } = await rpc(agent, "alice", method, given);
    expect(textAt(body, "error", "data", 0, "reason")).toBe("authority_undeclared");
    const [denial] = JSON.parse(textAt(body, "error", "data", 0, "metadata", "denials"));
    expect(denial).toMatchObject({
      rule: "authority",
      message: expect.stringContaining("declare"),
    });
  }
  for (const binding of BINDINGS) {
    const alice = await clientOf(agent, binding, "alice");
    const error = await failureOf(alice.sendMessage(callOf("wait", { milliseconds: 0 }), KNOWN));
    expect(refusalOf(error)?.code).toBe("authority_undeclared");
  }
  expect(agent.ran).toEqual([]);
  const events = await agent.ledger.list({ decision: "refused" });
  expect(new Set(events.flatMap(({ codes }) => codes))).toEqual(new Set(["authority_undeclared"]));
});

test('with undeclaredAmbient "refused", a call with a capability needs no declaration', async () => {
  const agent = await agentFor({ runTask, mode: "prefer", undeclaredAmbient: "refused" });
  const { holder, id } = await held(agent);
  const task = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 0 })));
  expect(task.metadata?.[EXTENSION_URI]).toEqual({ authority: "capability", capability: id });
});

test("a declaration of ambient authority is refused beside a capability, or with an unknown value", async () => {
  const agent = await agentFor({ runTask, mode: "prefer" });
  const { alice, token } = await held(agent);
  const header = { "Proviso-Authority": "ambient" };
  const inMetadata = (entry: object): object => ({ metadata: { [EXTENSION_URI]: entry } });
  const capabilities = [{ token }];
  for (const [method, params, headers] of [
    [
      "SendMessage",
      { message: newMessage(), ...inMetadata({ authority: "ambient", capabilities }) },
      {},
    ],
    ["SendMessage", { message: newMessage(), ...inMetadata({ capabilities }) }, header],
    ["SendMessage", { message: newMessage(), metadata: AMBIENT }, { "Proviso-Capability": token }],
    ["SendMessage", { message: newMessage() }, { ...header, "Proviso-Capability": token }],
    ["a2a/skill/invoke", { ...WAIT, token }, header],
    ["a2a/skill/invoke", { ...WAIT, capabilities, metadata: AMBIENT }, {}],
    ["a2a/task/send", { message: newMessage(), capabilities }, header],
    ["GetTask", { id: "x" }, { ...header, "Proviso-Capability": token }],
    ["SendMessage", { message: newMessage(), ...inMetadata({ authority: "Ambient" }) }, {}],
    ["SendMessage", { message: newMessage(), ...inMetadata({ authority: null }) }, {}],
    ["SendMessage", { message: newMessage(), ...inMetadata({ authority: "ambient", x: 1 }) }, {}],
    ["SendMessage", { message: newMessage() }, { "Proviso-Authority": "none" }],
    ["SendMessage", { message: newMessage() }, { "Proviso-Authority": "" }],
    ["SendMessage", { message: newMessage() }, { "Proviso-Authority": "ambient, ambient" }],
  ] as const) {
    const { body } = await rpc(agent, "alice", method, params, headers);
    expect(textAt(body, "error", "data", 0, "reason")).toBe("invalid_request");
  }
  const holder = createCapabilityClient(await withAmbientAuthority(alice));
  expect(String(await failureOf(holder.invoke("wait", { milliseconds: 0 }, token)))).toContain(
    "declares ambient authority",
  );
  expect(agent.ran).toEqual([]);
});

test("in mode require, a call without a capability is refused even if it declares ambient authority", async () => {
  const agent = await agentFor({ runTask, mode: "require" });
  for (const headers of [{}, { "Proviso-Authority": "ambient" }] as Record<string, string>[]) {
    for (const [method, params] of [
      ["SendMessage", { message: newMessage(), metadata: AMBIENT }],
      ["a2a/skill/invoke", WAIT],
      ["ListTasks", {}],
    ] as const) {
      const { body } = await rpc(agent, "alice", method, params, headers);
      expect(textAt(body, "error", "data", 0, "reason")).toBe("capability_missing");
    }
  }
  expect(agent.ran).toEqual([]);
});

test("a2a/capabilities/request and introspect ignore a declaration of ambient authority", async () => {
  const agent = await agentFor({ runTask, mode: "prefer" });
  for (const binding of BINDINGS) {
    const client = await withAmbientAuthority(await clientOf(agent, binding, "alice"));
    const { token } = await request(client, { grants: ["work:do"] });
    expect((await createCapabilityClient(client).introspect(token)).active).toBe(true);
  }
});

test("a task that an agent made with ambient authority is hidden from the user's other agents", async () => {
  const agent = await agentFor({ runTask, mode: "prefer" });
  for (const binding of BINDINGS) {
    const [mine, other] = [
      await clientOf(agent, binding, "alice"),
      await clientOf(agent, binding, "calendar"),
    ];
    const { id } = taskIn(await mine.sendMessage(callOf("wait", { milliseconds: 0 })));
    expect((await mine.getTask({ tenant: "", id })).id).toBe(id);
    expect((await mine.listTasks(LISTING)).tasks.map((task) => task.id)).toContain(id);
    await expect(other.getTask({ tenant: "", id })).rejects.toThrow("Task not found");
    await expect(other.cancelTask({ tenant: "", id, metadata: {} })).rejects.toThrow(
      "Task not found",
    );
    expect((await other.listTasks(LISTING)).tasks).toEqual([]);
    const more = messageOf(["go on"], { taskId: id });
    await expect(other.sendMessage(more)).rejects.toThrow("Task not found");
  }
});
