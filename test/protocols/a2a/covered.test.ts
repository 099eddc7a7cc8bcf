import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate, createNonce, type HopInit } from "../../../src/index.js";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent, type Who } from "../../support/a2a-agent.js";
import {
  callOf,
  clientOf,
  failureOf,
  handleOf,
  messageOf,
  quietConsole,
  request,
  resultOf,
  taskIn,
} from "./callers.js";

// A task outlives its capability. Once the capability has expired, the task's party can read the task with
// another capability that allows every call made in the task.

let agent: TestAgent;
const MINUTE = 60_000;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({
    runTask: async (task) => {
      const [handle = ""] = task.text.split(" ");
      const outcome = await task.invoke("retrieve_document", { resourceHandle: handle });
      return outcome.ok ? outcome.result : task.answer("rejected", "refused");
    },
  });
});

afterAll(() => agent.remove());

const REPORTS = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };

async function reports(who: Who = "alice") {
  const client = await clientOf(agent, "JSON-RPC", who);
  const capability = await request(client, REPORTS);
  return { client, capability, holder: await withCapability(client, capability.token) };
}

function attenuated(token: string, hop: HopInit): string {
  const attenuation = attenuate(token, { nonce: createNonce(), ...hop });
  if (!attenuation.ok) throw new Error("not attenuated");
  return attenuation.token;
}

describe.each(["a skill call", "a text message"])(
  "a finished task that was started by %s",
  (kind) => {
    let id = "";
    let first: Awaited<ReturnType<typeof reports>>;

    beforeAll(async () => {
      first = await reports();
      const handle = handleOf(
        first.capability,
        first.capability.resourceHandles?.[0]?.displayName ?? "",
      );
      const message =
        kind === "a skill call"
          ? callOf(
              "retrieve_document",
              { resourceHandle: handle },
              { messageId: `covered ${kind}` },
            )
          : messageOf([handle], { messageId: `covered ${kind}` });
      const task = taskIn(await first.holder.sendMessage(message));
      expect(resultOf(task)).toMatchObject({ text: expect.any(String) });
      id = task.id;
      agent.advance(30 * MINUTE);
    });

    const read = async (who: Who, token: string) =>
      (await clientOf(agent, "JSON-RPC", who, token)).getTask({ tenant: "", id });
    const NOT_FOUND = { name: "TaskNotFoundError" };

    test("cannot be read with the capability that started the task once that capability has expired", async () => {
      expect(String(await failureOf(read("alice", first.capability.token)))).toContain("expired");
    });

    test("can be read by the same caller with another capability for the same resources", async () => {
      const { capability } = await reports();
      expect(resultOf(await read("alice", capability.token))).toMatchObject({
        text: expect.any(String),
      });
    });

    test("cannot be read by another agent or another principal", async () => {
      for (const who of ["calendar", "bob"] as const) {
        const { capability } = await reports(who);
        expect(await failureOf(read(who, capability.token))).toMatchObject(NOT_FOUND);
        const own = await reports();
        expect(await failureOf(read(who, own.capability.token))).toMatchObject(NOT_FOUND);
      }
    });

    test("cannot be read with a capability that lacks the task's resource, operation or grant, or that limits arguments", async () => {
      const { capability, client } = await reports();
      const [used = "", ...others] = (capability.resourceHandles ?? []).map(({ handle }) => handle);
      expect(used).not.toBe("");
      // A token with a limit on arguments does not cover the task either, because the task's arguments are not
      // recorded.
      const limit = { resourceHandle: { not_in: ["another"] } };
      const limits: readonly HopInit[] = [
        { constraints: limit },
        { operationConstraints: { retrieve: limit } },
        { operationConstraints: { "*": { other: { absent: true as const } } } },
        { arguments: { retrieve: ["resourceHandle"] } },
      ];
      for (const hop of [
        { resourceHandles: others.sort() },
        { operations: ["search"] },
        ...limits,
      ]) {
        const token = attenuated(capability.token, hop);
        expect(await failureOf(read("alice", token))).toMatchObject(NOT_FOUND);
      }
      const token = attenuated(capability.token, { resourceHandles: [used] });
      expect((await read("alice", token)).id).toBe(id);
      const work = await request(client, { grants: ["work:do"] });
      expect(await failureOf(read("alice", work.token))).toMatchObject(NOT_FOUND);
    });

    test("can be read with two capabilities that together cover the task", async () => {
      const { capability } = await reports();
      const [used = "", ...others] = (capability.resourceHandles ?? []).map(({ handle }) => handle);
      const halves = [[used], others.sort()].map((resourceHandles) =>
        attenuated(capability.token, { resourceHandles }),
      );
      const client = await clientOf(agent, "JSON-RPC", "alice", halves);
      expect((await client.getTask({ tenant: "", id })).id).toBe(id);
    });
  },
);

test("another capability that covers a task can be used to read the task only after the task has ended", async () => {
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  const first = await request(alice, { grants: ["work:do"] });
  const holder = await withCapability(alice, first.token);
  const configuration = {
    acceptedOutputModes: [],
    historyLength: undefined,
    returnImmediately: true,
    taskPushNotificationConfig: undefined,
  };
  const call = { ...callOf("wait", { milliseconds: 800 }), configuration };
  const { id } = taskIn(await holder.sendMessage(call));
  const other = await request(alice, { grants: ["work:do"] });
  const reader = await withCapability(alice, other.token);
  expect(await failureOf(reader.getTask({ tenant: "", id }))).toMatchObject({
    name: "TaskNotFoundError",
  });
  await expect
    .poll(() => reader.getTask({ tenant: "", id }).then(resultOf, () => null))
    .toEqual({ waited: 800 });
});

test("a message repeated with another capability that covers its task gets that task, and runs nothing", async () => {
  const first = await reports();
  const text = { query: "a" };
  const call = callOf("search_documents", text, { messageId: "covered again" });
  const task = taskIn(await first.holder.sendMessage(call));
  agent.advance(30 * MINUTE);
  const ran = agent.ran.length;
  const second = await reports();
  expect(taskIn(await second.holder.sendMessage(call))).toEqual(task);
  expect(agent.ran.length).toBe(ran);
});
