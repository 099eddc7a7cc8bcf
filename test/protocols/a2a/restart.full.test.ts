import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { expect, onTestFinished, test } from "vitest";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import { attenuate, createNonce } from "../../../src/index.js";
import { createCapabilityClient, withCapability } from "../../../src/protocols/a2a/client/index.js";
import { openLedger, openStores } from "../../../src/stores/index.js";
import { CALLERS } from "../../support/a2a-agent.js";
import { childProgram } from "../../support/children.js";
import { FULL, sized } from "../../support/size.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import {
  at,
  callOf,
  failureOf,
  handleOf,
  request,
  resultOf,
  sdkClient,
  send,
  taskIn,
} from "./callers.js";

/** Number of times that the test kills the agent, each time at another point of its work. */
const KILLS = sized(3, 1, 6);

/** The agent, in a separate process. */
class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  url = "";

  private constructor(process: ChildProcess, lines: AsyncIterable<string>) {
    this.process = process;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  static async start(home: string): Promise<Child> {
    const script = childProgram("protocols/a2a", "agent");
    const started = spawn(process.execPath, [script, home], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const child = new Child(started, createInterface({ input: started.stdout }));
    onTestFinished(() => void started.kill("SIGKILL"));
    child.url = JSON.parse(await child.line()).url;
    return child;
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the agent ended early");
    return value;
  }

  async kill(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }

  client(): Promise<Client> {
    return sdkClient(this.url, "JSON-RPC", CALLERS.alice);
  }
}

const READING = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };

function narrowed(token: string): string {
  const attenuation = attenuate(token, { nonce: createNonce() });
  if (!attenuation.ok) throw new Error("not narrowed");
  return attenuation.token;
}

/** Everything that the agent has acknowledged. The agent must still know all of it after a crash. */
class Acknowledged {
  readonly granted: GrantedCapability[] = [];
  /** Revoked tokens, with the granted tokens from which they were narrowed. */
  readonly revoked: { readonly child: string; readonly parent: GrantedCapability }[] = [];
  readonly tasks: { readonly task: Task; readonly token: string }[] = [];

  /** Makes calls until the agent is killed. */
  async work(client: Client): Promise<void> {
    const capabilities = createCapabilityClient(client);
    try {
      for (;;) {
        const granted = await request(client, {
          ...READING,
          purpose: `work ${this.granted.length}`,
        });
        this.granted.push(granted);
        const child = narrowed(granted.token);
        const holder = await withCapability(client, granted.token);
        const call = callOf("retrieve_document", { resourceHandle: handleOf(granted, "Q1") });
        this.tasks.push({ task: taskIn(await holder.sendMessage(call)), token: granted.token });
        await capabilities.revoke(child, "work");
        this.revoked.push({ child, parent: granted });
      }
    } catch (error) {
      // A broken connection is caused by the kill; any other error fails the test.
      if (
        !/fetch failed|terminated|other side closed|ECONN/.test(
          `${String(error)} ${String(Object(error).cause)}`,
        )
      )
        throw error;
    }
  }

  /** Checks that the restarted agent knows everything that it has acknowledged. */
  async look(child: Child, home: string, latest: number): Promise<void> {
    const client = await child.client();
    const capabilities = createCapabilityClient(client);
    for (const granted of this.granted.slice(-latest)) {
      const holder = await withCapability(client, granted.token);
      const resourceHandle = handleOf(granted, "Q2");
      const task = taskIn(
        await holder.sendMessage(callOf("retrieve_document", { resourceHandle })),
      );
      expect(resultOf(task)).toEqual(["Q2"]);
      expect(await byId(child, granted.id, resourceHandle)).toMatchObject({ result: ["Q2"] });
    }
    for (const { child: token } of this.revoked.slice(-latest)) {
      expect(await capabilities.introspect(token)).toMatchObject({
        active: false,
        denials: [{ code: "revoked" }],
      });
    }
    for (const { task, token } of this.tasks.slice(-latest)) {
      const holder = await withCapability(client, token);
      const found = await holder.getTask({ tenant: "", id: task.id });
      expect(resultOf(found)).toEqual(["Q1"]);
      expect(found.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    }
    const database = await openStores(join(home, "proviso.db"));
    const ledger = openLedger(database);
    try {
      const known = async (kind: "issuance" | "revocation") =>
        new Set((await ledger.list({ kind })).map(({ capability }) => capability));
      const [issued, revoked] = [await known("issuance"), await known("revocation")];
      expect(this.granted.filter(({ id }) => !issued.has(id))).toEqual([]);
      expect(this.revoked.filter(({ parent }) => !revoked.has(parent.id))).toEqual([]);
    } finally {
      await database.close();
    }
  }
}

async function byId({ url }: Child, capabilityId: string, resourceHandle: string) {
  const params = { skill: "retrieve_document", arguments: { resourceHandle }, capabilityId };
  const { body } = await send(`${url}/a2a/jsonrpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${CALLERS.alice}`, "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "a2a/skill/invoke", params }),
  });
  return at(body, "result");
}

test(`an agent that is killed ${KILLS} times during its work loses nothing that it has acknowledged`, {
  timeout: 120_000,
}, async () => {
  const home = temporaryFolder();
  const acknowledged = new Acknowledged();
  for (let kill = 0; kill < KILLS; kill++) {
    const child = await Child.start(home);
    await acknowledged.look(child, home, 12);
    const before = acknowledged.granted.length;
    const clients = await Promise.all([0, 1, 2, 3].map(() => child.client()));
    const work = clients.map((client) => acknowledged.work(client));
    await expect.poll(() => acknowledged.granted.length).toBeGreaterThan(before + 8);
    await pause(Math.random() * 60);
    await child.kill();
    await Promise.all(work);
  }
  const child = await Child.start(home);
  await acknowledged.look(child, home, 100);
  await child.kill();
  expect(acknowledged.revoked.length).toBeGreaterThan(KILLS * 4);
});

const later = {
  acceptedOutputModes: [],
  historyLength: undefined,
  returnImmediately: true,
  taskPushNotificationConfig: undefined,
};

if (FULL) {
  test("a task that was running when the agent was killed has the state FAILED after the restart, and a repeat of the task's message runs nothing", async () => {
    const home = temporaryFolder();
    const child = await Child.start(home);
    const client = await child.client();
    const { token } = await request(client, { grants: ["work:do"] });
    const holder = await withCapability(client, token);
    const call = callOf("wait", { milliseconds: 60_000 }, { messageId: "killed" });
    const { id } = taskIn(await holder.sendMessage({ ...call, configuration: later }));
    await child.kill();

    const again = await Child.start(home);
    const returned = await withCapability(await again.client(), token);
    const repeated = async (): Promise<Task> => taskIn(await returned.sendMessage(call));
    await expect
      .poll(async () => (await repeated()).status)
      .toMatchObject({
        state: TaskState.TASK_STATE_FAILED,
        message: {
          parts: [{ content: { value: expect.stringContaining("may have taken effect") } }],
        },
      });
    expect((await repeated()).id).toBe(id);
    await again.kill();
  });
}

if (FULL) {
  test("a task that was running when the agent was killed does not resume after the restart: it has FAILED or can be cancelled", async () => {
    const home = temporaryFolder();
    const child = await Child.start(home);
    const client = await child.client();
    const { token } = await request(client, { grants: ["work:do"] });
    const holder = await withCapability(client, token);
    const call = { ...callOf("wait", { milliseconds: 3000 }), configuration: later };
    const { id } = taskIn(await holder.sendMessage(call));
    await child.kill();

    const again = await Child.start(home);
    const returned = await withCapability(await again.client(), token);
    await pause(3200);
    const found = await returned.getTask({ tenant: "", id });
    expect(found.artifacts).toEqual([]);
    expect(found.status?.state).not.toBe(TaskState.TASK_STATE_COMPLETED);
    const ended = await returned.cancelTask({ tenant: "", id, metadata: undefined }).then(
      ({ status }) => status?.state,
      () => found.status?.state,
    );
    expect([TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_FAILED]).toContain(ended);
    await again.kill();
  });
}

if (FULL) {
  test("an agent that gets SIGTERM answers its running calls, and stores their tasks", async () => {
    const home = temporaryFolder();
    const child = await Child.start(home);
    const client = await child.client();
    const { token, id: capability } = await request(client, { grants: ["work:do"] });
    const holder = await withCapability(client, token);
    const call = callOf("wait", { milliseconds: 400 });
    const underWay = holder.sendMessage(call);
    expect(JSON.parse(await child.line())).toEqual({ waiting: 400 });
    child.process.kill("SIGTERM");
    await expect
      .poll(async () => String(await failureOf(fetch(`${child.url}/healthz`))))
      .toContain("fetch failed");
    const task = taskIn(await underWay);
    expect(resultOf(task)).toEqual({ waited: 400 });
    const ended = once(child.process, "exit");
    expect(JSON.parse(await child.line())).toEqual({ stopped: true });
    expect(await ended).toEqual([0, null]);

    const again = await Child.start(home);
    const returned = await withCapability(await again.client(), token);
    expect(resultOf(await returned.getTask({ tenant: "", id: task.id }))).toEqual({ waited: 400 });
    const database = await openStores(join(home, "proviso.db"));
    const ledger = openLedger(database);
    const kinds = (await ledger.list({ capability })).map(({ kind, decision }) => [kind, decision]);
    await database.close();
    expect(kinds).toEqual([
      ["issuance", "allowed"],
      ["invocation", "allowed"],
    ]);
    await again.kill();
  });
}
