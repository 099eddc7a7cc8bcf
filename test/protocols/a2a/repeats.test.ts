import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Message, TaskState } from "@a2a-js/sdk";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate, createNonce, type HopInit } from "../../../src/index.js";
import { CAPABILITY_HEADER, EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { ERROR_CODES } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent, type Who } from "../../support/a2a-agent.js";
import {
  type Answer,
  at,
  authorized,
  callOf,
  clientOf,
  failureOf,
  messageOf,
  quietConsole,
  request,
  resultOf,
  rpc,
  SOME_BINDINGS,
  send,
  taskIn,
  textAt,
} from "./callers.js";

// A caller that gets no answer sends its request again, so the agent must not run a repeated request twice.

let agent: TestAgent;
let token: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({
    keeping: { lease: 1000 },
    runTask: async (task) => {
      if (task.earlier.length === 0) return task.answer("input-required", "how long?");
      const outcome = await task.invoke("wait", { milliseconds: Number(task.text) });
      return outcome.ok ? outcome.result : task.answer("rejected", "refused");
    },
  });
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  token = (await request(alice, { grants: ["work:do"] })).token;
});

afterAll(() => agent.remove());

function child(of: string, hop: HopInit): string {
  const attenuation = attenuate(of, { nonce: createNonce(), ...hop });
  if (!attenuation.ok) throw new Error("not attenuated");
  return attenuation.token;
}

/** Returns how many skills ran during an action. */
async function runsIn(action: () => Promise<unknown>): Promise<number> {
  const before = agent.ran.length;
  await action();
  return agent.ran.length - before;
}

const waiting = (milliseconds: number, messageId: string): Json => ({
  message: {
    messageId,
    role: "ROLE_USER",
    parts: [{ data: { skill: "wait", arguments: { milliseconds } } }],
  },
});
const headers = (presented = token) => ({
  [CAPABILITY_HEADER]: presented,
  "A2A-Extensions": EXTENSION_URI,
});
const post = (method: string, params: Json, presented = token, who: Who = "alice") =>
  rpc(agent, who, method, params, headers(presented));
const idIn = ({ body }: Answer): string => textAt(body, "result", "task", "id");

describe.each(SOME_BINDINGS)("a repeated message over %s", (binding) => {
  const again: Partial<Message> = { messageId: `again over ${binding}` };

  test("gets the task of the first message, and runs nothing again", async () => {
    const holder = await clientOf(agent, binding, "alice", token);
    const call = callOf("wait", { milliseconds: 3 }, again);
    const runs = await runsIn(async () => {
      const first = taskIn(await holder.sendMessage(call));
      const second = taskIn(await holder.sendMessage(call));
      expect(second).toEqual(first);
      expect(resultOf(second)).toEqual({ waited: 3 });
      const events = [];
      for await (const { payload } of holder.sendMessageStream(call)) events.push(payload);
      expect(events).toEqual([{ $case: "task", value: first }]);
    });
    expect(runs).toBe(1);
  });

  test("with other content is refused", async () => {
    const holder = await clientOf(agent, binding, "alice", token);
    const other = callOf("wait", { milliseconds: 4 }, again);
    expect(String(await failureOf(holder.sendMessage(other)))).toContain("an id of its own");
  });
});

test("concurrent copies of one message run once, and all get the same task", async () => {
  let answers: Answer[] = [];
  const runs = await runsIn(async () => {
    const params = waiting(300, "several");
    answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        at % 2 === 0
          ? post("SendMessage", params)
          : post("SendMessage", { ...Object(params), configuration: { returnImmediately: true } }),
      ),
    );
    const holder = await clientOf(agent, "JSON-RPC", "alice", token);
    await expect
      .poll(
        async () =>
          (await holder.getTask({ tenant: "", id: idIn(answers[0] as Answer) })).status?.state,
      )
      .toBe(TaskState.TASK_STATE_COMPLETED);
  });
  expect(new Set(answers.map(idIn)).size).toBe(1);
  expect(runs).toBe(1);
});

test("a message repeated while its task runs gets the same task, and SendStreamingMessage then streams the task to its end", async () => {
  const holder = await clientOf(agent, "JSON-RPC", "alice", token);
  const call = callOf("wait", { milliseconds: 600 }, { messageId: "running" });
  const runs = await runsIn(async () => {
    const first = holder.sendMessage(call);
    await expect.poll(() => agent.ran.at(-1)).toBe("wait");
    const running = taskIn(await holder.sendMessage(call));
    expect(running.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const events = [];
    for await (const { payload } of holder.sendMessageStream(call)) events.push(payload?.$case);
    expect(events).toEqual(["task", "artifactUpdate", "statusUpdate"]);
    expect(taskIn(await first).id).toBe(running.id);
  });
  expect(runs).toBe(1);
});

test("two callers may use the same message id, but one caller may not reuse the id with other content or with a token that does not cover the task", async () => {
  const params = waiting(0, "shared");
  const first = await post("SendMessage", params);
  const through = await post("SendMessage", params, token, "calendar");
  expect(idIn(through)).not.toBe(idIn(first));
  // This token lacks the operation, so it does not cover the calls of the task.
  const below = await post("SendMessage", params, child(token, { operations: ["fail"] }));
  expect(at(below.body, "error")).toMatchObject({
    code: ERROR_CODES.repeated,
    data: [{ reason: "message_id_taken" }],
  });
  expect(JSON.stringify(below.body)).not.toContain(idIn(first));
  const unlike = await post("SendMessage", waiting(1, "shared"));
  expect(at(unlike.body, "error")).toMatchObject({
    code: ERROR_CODES.repeated,
    data: [{ reason: "message_id_taken" }],
  });
  const rest = await send(`${agent.server.restUrl}/message:send`, {
    method: "POST",
    headers: { ...authorized("alice"), ...headers() },
    body: JSON.stringify(waiting(1, "shared")),
  });
  expect([rest.status, textAt(rest.body, "error", "status")]).toEqual([409, "ALREADY_EXISTS"]);
});

test("while another process locks the database, a repeated message gets its task and a new message gets 503", async () => {
  const first = await post("SendMessage", waiting(8, "locked"));
  const other = new Database(join(agent.home, "proviso.db"));
  other.exec("BEGIN IMMEDIATE");
  try {
    const runs = await runsIn(async () => {
      expect(idIn(await post("SendMessage", waiting(8, "locked")))).toBe(idIn(first));
      const unknown = await post("SendMessage", waiting(8, "never before"));
      expect([unknown.status, unknown.headers.get("Retry-After")]).toEqual([503, "5"]);
      expect(textAt(unknown.body, "error", "data", 0, "reason")).toBe("unavailable");
    });
    expect(runs).toBe(0);
  } finally {
    other.exec("ROLLBACK");
    other.close();
  }
});

test("a repeated message with a push configuration does not store the configuration again", async () => {
  const pushing = await startAgent({ pushOrigins: ["http://127.0.0.1:9"] });
  try {
    const alice = await clientOf(pushing, "JSON-RPC", "alice");
    const capability = (await request(alice, { grants: ["work:do"] })).token;
    const taskPushNotificationConfig = { url: "http://127.0.0.1:9/", id: "mine" };
    const params = {
      ...Object(waiting(9, "pushed")),
      configuration: { taskPushNotificationConfig },
    };
    const ids = new Set<string>();
    for (let time = 0; time < 3; time++) {
      const answer = await rpc(pushing, "alice", "SendMessage", params, headers(capability));
      ids.add(idIn(answer));
    }
    expect(ids.size).toBe(1);
    const database = new Database(join(pushing.home, "proviso.db"));
    const rows = database.prepare("SELECT count(*) AS n FROM push").all();
    database.close();
    expect(rows).toEqual([{ n: 1 }]);
  } finally {
    await pushing.remove();
  }
});

test("a2a/task/send with attenuations runs once if repeated, and is refused if repeated with other attenuations", async () => {
  const attenuations = { [textAt(await introspected(), "id")]: { purpose: "again" } };
  const params = { ...Object(waiting(2, "attenuated")), capabilities: [{ token }], attenuations };
  const runs = await runsIn(async () => {
    const first = await rpc(agent, "alice", "a2a/task/send", params);
    const second = await rpc(agent, "alice", "a2a/task/send", params);
    expect([first.status, second.status]).toEqual([200, 200]);
    const without = { ...params, attenuations: {} };
    const other = await rpc(agent, "alice", "a2a/task/send", without);
    expect(textAt(other.body, "error", "data", 0, "reason")).toBe("message_id_taken");
  });
  expect(runs).toBe(1);
});

async function introspected(): Promise<Json> {
  const answer = await agent.agent.introspect(
    { principal: "alice", invoker: "orchestrator" },
    { token },
  );
  return JSON.parse(JSON.stringify(answer));
}

test("repeating a message that continues a task does not continue the task again", async () => {
  const holder = await clientOf(agent, "JSON-RPC", "alice", token);
  const { id: taskId } = taskIn(await holder.sendMessage(messageOf(["wait"])));
  const more = messageOf(["5"], { taskId, messageId: "more" });
  const runs = await runsIn(async () => {
    const first = taskIn(await holder.sendMessage(more));
    expect(resultOf(first)).toEqual({ waited: 5 });
    expect(taskIn(await holder.sendMessage(more))).toEqual(first);
  });
  expect(runs).toBe(1);
});

describe("a2a/skill/invoke with a messageId", () => {
  const invoke = (params: object) => rpc(agent, "alice", "a2a/skill/invoke", { token, ...params });

  test("runs once even if repeated, and makes a task that GetTask returns", async () => {
    const params = { skill: "wait", arguments: { milliseconds: 6 }, messageId: "invoked" };
    const runs = await runsIn(async () => {
      const first = at((await invoke(params)).body, "result");
      expect(first).toMatchObject({
        result: { waited: 6 },
        metadata: { [EXTENSION_URI]: { authority: "capability" } },
      });
      expect(at((await invoke(params)).body, "result")).toEqual(first);
      const read = await post("GetTask", { id: textAt(first, "task") });
      expect(textAt(read.body, "result", "status", "state")).toBe("TASK_STATE_COMPLETED");
      const other = await invoke({ ...params, arguments: { milliseconds: 7 } });
      expect(at(other.body, "error", "code")).toBe(ERROR_CODES.repeated);
    });
    expect(runs).toBe(1);
  });

  test("answers a repeat during the run with TASK_STATE_WORKING", async () => {
    const params = { skill: "wait", arguments: { milliseconds: 400 }, messageId: "still" };
    const first = invoke(params);
    await expect
      .poll(async () => at((await invoke(params)).body, "result", "state"))
      .toBe("TASK_STATE_WORKING");
    expect(at((await first).body, "result", "result")).toEqual({ waited: 400 });
  });

  test("answers a repeat after a failed run with the same error", async () => {
    for (const [skill, given, code, reason] of [
      ["fail", {}, -32603, "skill_failed"],
      ["choosy", { amount: 3 }, -32602, "invalid_request"],
      ["wait", { milliseconds: -1 }, ERROR_CODES.denied, "arguments_invalid"],
    ] as const) {
      const params = { skill, arguments: given, messageId: `fails ${skill}` };
      const first = at((await invoke(params)).body, "error");
      expect([at(first, "code"), at(first, "data", 0, "reason")]).toEqual([code, reason]);
      expect(at((await invoke(params)).body, "error")).toEqual(first);
    }
    const empty = await invoke({ skill: "wait", arguments: { milliseconds: 0 }, messageId: "" });
    expect(at(empty.body, "error", "code")).toBe(-32602);
  });
});

describe("while tasks cannot be stored", () => {
  const file = (): string => join(agent.home, "proviso.db");
  const takeAway = (): void => renameSync(file(), `${file()}.away`);
  const bringBack = (): void => renameSync(`${file()}.away`, file());

  test("SendMessage answers 503, and runs nothing", async () => {
    takeAway();
    const runs = await runsIn(async () => {
      const { status, body } = await post("SendMessage", waiting(0, "never"));
      expect([status, textAt(body, "error", "data", 0, "reason")]).toEqual([503, "unavailable"]);
    });
    bringBack();
    expect(runs).toBe(0);
    expect(idIn(await post("SendMessage", waiting(0, "never")))).not.toBe("");
  });

  test.each(["SendMessage", "a2a/skill/invoke"])(
    "%s answers that the call has run but its outcome was not stored, and a repeat runs nothing",
    async (method) => {
      const skill = { skill: "wait", arguments: { milliseconds: 500 } };
      const messageId = `unstored ${method}`;
      const params =
        method === "SendMessage" ? waiting(500, messageId) : { ...skill, messageId, token };
      const presented = method === "SendMessage" ? headers() : {};
      const call = () => rpc(agent, "alice", method, params, presented);
      const runs = await runsIn(async () => {
        const before = agent.ran.length;
        const first = call();
        await expect.poll(() => agent.ran.length).toBe(before + 1);
        takeAway();
        expect(JSON.stringify((await first).body)).toContain("it has run, but its outcome");
        bringBack();
        await expect
          .poll(async () => JSON.stringify((await call()).body))
          .toContain("it has run, but its outcome");
      });
      expect(runs).toBe(1);
    },
  );
});
