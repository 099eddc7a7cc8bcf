import { TaskState } from "@a2a-js/sdk";
import type { Client, RequestOptions } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate } from "../../../src/index.js";
import {
  CAPABILITY_HEADER,
  EXTENSION_URI,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  BINDINGS,
  callOf,
  clientOf,
  failureOf,
  handleOf,
  LISTING,
  messageOf,
  request,
  resultOf,
  taskIn,
} from "./callers.js";
import { AT_ONCE } from "./set-up.js";

let agent: TestAgent;

beforeAll(async () => {
  agent = await startAgent();
});

afterAll(() => agent.remove());

const reports = {
  grants: ["documents:read"],
  purpose: "Summarize quarterly reports",
  resourceQuery: { collection: "reports", filter: { quarter: "2025-Q1" } },
};

function narrowed(token: string, hop: Parameters<typeof attenuate>[1]): string {
  const attenuation = attenuate(token, hop);
  if (!attenuation.ok) throw new Error(JSON.stringify(attenuation.overreaches));
  return attenuation.token;
}

describe.each(BINDINGS)("the SDK's client over %s", (binding) => {
  let alice: Client;

  beforeAll(async () => {
    alice = await clientOf(agent, binding, "alice");
  });

  /** Returns a client with a capability for the slow skill. */
  async function patient(): Promise<Client> {
    const { token } = await request(alice, { grants: ["work:do"] });
    return withCapability(alice, token);
  }

  test("requests a capability, narrows it offline, sends a message with it, and reads the task", async () => {
    const granted = await request(alice, reports);
    expect(granted).toMatchObject({
      grant: "documents:read",
      principal: "alice",
      attenuable: true,
    });
    expect(granted.resourceHandles?.map(({ displayName }) => displayName).sort()).toEqual([
      "First quarter",
      "Sales of the first quarter",
    ]);
    const handle = handleOf(granted, "First quarter");
    const token = narrowed(granted.token, { operations: ["retrieve"], resourceHandles: [handle] });

    const holder = await withCapability(alice, token);
    const sent = taskIn(
      await holder.sendMessage(callOf("retrieve_document", { resourceHandle: handle })),
    );
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(sent.metadata?.[EXTENSION_URI]).toEqual({
      authority: "capability",
      capability: granted.id,
    });

    const got = await holder.getTask({ tenant: "", id: sent.id });
    expect(resultOf(got)).toMatchObject({ title: "First quarter" });
    expect(resultOf(got)).toMatchObject({
      text: expect.stringContaining("Revenue rose by a tenth"),
    });
  });

  test("finds with a narrowed token only the documents whose handles the token still has", async () => {
    const granted = await request(alice, reports);
    const search = async (token: string) => {
      const holder = await withCapability(alice, token);
      return resultOf(
        taskIn(await holder.sendMessage(callOf("search_documents", { query: "Revenue" }))),
      );
    };
    expect(await search(granted.token)).toEqual(["First quarter", "Sales of the first quarter"]);
    const handle = handleOf(granted, "Sales of the first quarter");
    expect(await search(narrowed(granted.token, { resourceHandles: [handle] }))).toEqual([
      "Sales of the first quarter",
    ]);
  });

  test("gets resource_denied if a handle at any depth of the arguments is not in the token", async () => {
    const granted = await request(alice, reports);
    const left = handleOf(granted, "First quarter");
    const other = handleOf(granted, "Sales of the first quarter");
    const compare = () => callOf("compare_documents", { pair: { left, others: [other] } });
    const whole = await withCapability(alice, granted.token);
    expect(resultOf(taskIn(await whole.sendMessage(compare())))).toHaveLength(2);

    const half = await withCapability(alice, narrowed(granted.token, { resourceHandles: [left] }));
    await expect(half.sendMessage(compare())).rejects.toThrow("resource_denied");
  });

  test("streams a task from its start to its result", async () => {
    const granted = await request(alice, reports);
    const holder = await withCapability(alice, granted.token);
    const seen: string[] = [];
    const handle = handleOf(granted, "First quarter");
    for await (const { payload } of holder.sendMessageStream(
      callOf("retrieve_document", { resourceHandle: handle }),
    )) {
      seen.push(payload?.$case ?? "nothing");
    }
    expect(seen).toEqual(["task", "artifactUpdate", "statusUpdate"]);
  });

  test("gets a capability method's answer over a stream", async () => {
    const params = { grants: ["work:do"] };
    const stream = alice.sendMessageStream(
      messageOf([{ data: { method: "a2a/capabilities/request", params } }]),
      { serviceParameters: { "A2A-Extensions": EXTENSION_URI } },
    );
    const seen = [];
    for await (const { payload } of stream) seen.push(payload);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ $case: "message" });
    expect(JSON.stringify(seen)).toContain("cap_");
  });

  test("lists only the tasks of its capability", async () => {
    const granted = await request(alice, reports);
    const holder = await withCapability(alice, granted.token);
    const ids: string[] = [];
    for (const query of ["Revenue", "shop"]) {
      ids.push(taskIn(await holder.sendMessage(callOf("search_documents", { query }))).id);
    }
    const listed = await holder.listTasks(LISTING);
    expect(listed.tasks.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(listed.totalSize).toBe(2);
  });

  test("cancels a running task, which then has no artifacts", async () => {
    const holder = await patient();
    const started = taskIn(await holder.sendMessage(later(20_000)));
    expect(started.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const cancelled = await holder.cancelTask({ tenant: "", id: started.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const got = await holder.getTask({ tenant: "", id: started.id });
    expect(got.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(got.artifacts).toEqual([]);
  });

  test("subscribes again to a running task and gets its result", async () => {
    const holder = await patient();
    const started = taskIn(await holder.sendMessage(later(400)));
    const seen: string[] = [];
    for await (const { payload } of holder.resubscribeTask({ tenant: "", id: started.id })) {
      seen.push(payload?.$case ?? "nothing");
    }
    expect(seen).toEqual(["task", "artifactUpdate", "statusUpdate"]);
    const got = await holder.getTask({ tenant: "", id: started.id });
    expect(resultOf(got)).toEqual({ waited: 400 });
  });

  test("gets a failed task if a skill throws, and only the log has the text of the error", async () => {
    const holder = await patient();
    const failed = taskIn(await holder.sendMessage(callOf("fail", {})));
    expect(failed.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(JSON.stringify(failed)).not.toContain("password-of-the-agent");
    expect(agent.logged()).toContain("password-of-the-agent");
  });

  test("cannot use push configurations of an agent that does not send push notifications", async () => {
    const { token } = await request(alice, { grants: ["work:do"] });
    const holder = await withCapability(alice, token);
    const { id } = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 0 })));
    const config = {
      tenant: "",
      id: "mine",
      taskId: id,
      url: "https://caller.example/push",
      token: "",
      authentication: undefined,
    };
    const one = { tenant: "", taskId: id, id: "mine" };
    const all = { tenant: "", taskId: id, pageSize: 10, pageToken: "" };
    // If the card says that the agent sends no notifications, the SDK's client itself refuses these methods. So
    // the test uses the client's transport.
    const { transport } = alice;
    const operations = [
      (options: RequestOptions) => transport.createTaskPushNotificationConfig(config, options),
      (options: RequestOptions) => transport.getTaskPushNotificationConfig(one, options),
      (options: RequestOptions) => transport.listTaskPushNotificationConfig(all, options),
      (options: RequestOptions) => transport.deleteTaskPushNotificationConfig(one, options),
    ];
    const version = { "A2A-Version": "1.0" };
    const presenting = { serviceParameters: { ...version, [CAPABILITY_HEADER]: token } };
    for (const operation of operations) {
      // Over HTTP+JSON, the SDK may refuse the method because of the card, before it calls the agent.
      await expect(operation({ serviceParameters: version })).rejects.toThrow(
        /capability_missing|Notification is not supported/,
      );
      expect(await failureOf(operation(presenting))).toMatchObject({
        message: expect.stringMatching(/Push ?Notification.* not supported/i),
      });
    }
  });
});

/** Returns a call of the slow skill that the agent answers before the skill has finished. */
function later(milliseconds: number) {
  const call = callOf("wait", { milliseconds });
  return { ...call, configuration: AT_ONCE };
}
