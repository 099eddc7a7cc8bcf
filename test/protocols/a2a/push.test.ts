import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { startAgent } from "../../support/a2a-agent.js";
import {
  callOf,
  clientOf,
  failureOf,
  messageOf,
  quietConsole,
  request,
  taskIn,
} from "./callers.js";
import { agentFor, KNOWN } from "./set-up.js";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a receiver of notifications on loopback. It redirects requests below `/away`. */
async function receiver(away = ""): Promise<{ readonly origin: string; readonly got: Received[] }> {
  const got: Received[] = [];
  const server = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    req.on("end", () => {
      got.push({ path: req.url ?? "", headers: req.headers, body });
      if (req.url === "/away") res.writeHead(307, { Location: away });
      if (req.url === "/full") res.writeHead(507);
      if (req.url === "/cut") req.socket.destroy();
      else res.end();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

function config(url: string, more: Partial<TaskPushNotificationConfig> = {}) {
  return { tenant: "", id: "", taskId: "", url, token: "", authentication: undefined, ...more };
}

async function pushing(origins: readonly string[]) {
  quietConsole();
  const agent = await startAgent({ pushOrigins: origins });
  onTestFinished(() => agent.remove());
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  const { token } = await request(alice, { grants: ["work:do"] });
  const holder = await withCapability(alice, token);
  const send = (taskPushNotificationConfig: TaskPushNotificationConfig, milliseconds = 0) =>
    holder.sendMessage({
      ...callOf("wait", { milliseconds }),
      configuration: {
        acceptedOutputModes: [],
        historyLength: undefined,
        returnImmediately: milliseconds > 0,
        taskPushNotificationConfig,
      },
    });
  return { agent, holder, token, send };
}

const until = async (so: () => boolean): Promise<void> => {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 20));
};

test("a task's progress is pushed with the receiver's own credentials, and without the capability token", async () => {
  const { origin, got } = await receiver();
  const { send, token } = await pushing([origin]);
  const authentication = { scheme: "Bearer", credentials: "of-the-receiver" };
  await send(config(`${origin}/hook`, { token: "mine", authentication }));
  await until(() => got.some(({ body }) => body.includes("TASK_STATE_COMPLETED")));
  for (const { path, headers, body } of got) {
    expect(path).toBe("/hook");
    expect(headers).toMatchObject({
      authorization: "Bearer of-the-receiver",
      "x-a2a-notification-token": "mine",
    });
    expect(body).not.toContain(token);
  }
  // The notifications arrive in the order of the events.
  const states = got.flatMap(({ body }) => /TASK_STATE_[A-Z]+/.exec(body)?.[0] ?? []);
  expect(states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
});

test("a push receiver whose origin is not in pushOrigins is refused", async () => {
  const { origin, got } = await receiver();
  const { send } = await pushing(["http://127.0.0.1:9"]);
  const { host } = new URL(origin);
  for (const url of [origin, `http://127.0.0.1:9@${host}/`, "file:///etc/passwd", "blob:x", ""]) {
    expect(String(await failureOf(send(config(url))))).toContain("push notifications go only to");
  }
  expect(got).toEqual([]);
});

test("a push receiver whose origin was removed from pushOrigins gets nothing, even for an earlier task", async () => {
  const [kept, withdrawn] = [await receiver(), await receiver()];
  const approval = { "payments:send": {} };
  const before = await agentFor({ approval, pushOrigins: [kept.origin, withdrawn.origin] });
  const asking = messageOf([
    { data: { method: "a2a/capabilities/request", params: { grants: ["payments:send"] } } },
  ]);
  const alice = await clientOf(before, "JSON-RPC", "alice");
  const { id } = taskIn(await alice.sendMessage(asking, KNOWN));
  for (const { origin } of [withdrawn, kept]) {
    await alice.createTaskPushNotificationConfig(config(origin, { id: origin, taskId: id }));
  }
  await before.stop();

  const agent = await startAgent({ approval, again: before.home, pushOrigins: [kept.origin] });
  onTestFinished(() => agent.stop());
  const { digest = "" } = (await agent.approvals.get(id)) ?? {};
  await agent.approvals.decide(id, { principal: "alice" }, { answer: "approve", digest });
  await expect.poll(() => kept.got.length).toBe(1);
  expect(kept.got[0]?.body).toContain("TASK_STATE_COMPLETED");
  expect(withdrawn.got).toEqual([]);
  expect(agent.logged()).toContain("is not one of the origins in push.origins");
});

test("a redirect by a push receiver is not followed, and the receiver's token is not logged", async () => {
  const elsewhere = await receiver();
  const { origin, got } = await receiver(`${elsewhere.origin}/stolen`);
  const { agent, send } = await pushing([origin]);
  await send(config(`${origin}/away`, { token: "secret-of-the-receiver" }));
  await until(() => agent.logged().includes("was not delivered"));
  expect(got.length).toBeGreaterThan(0);
  expect(elsewhere.got).toEqual([]);
  expect(agent.logged()).not.toContain("secret-of-the-receiver");
});

test("the log says why a push notification was not delivered", async () => {
  const { origin } = await receiver();
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const away = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
  await new Promise((resolve) => gone.close(resolve));
  const { agent, send, holder } = await pushing([origin, away]);
  const said = (url: string, why: string): string =>
    `a push notification to ${new URL(url).origin} was not delivered: ${why}`;
  for (const [url, why] of [
    [`${origin}/full`, "the receiver answered 507"],
    [`${origin}/away`, "the receiver answered 307, and redirects are not followed"],
    [`${origin}/cut`, "the receiver cannot be reached (UND_ERR_SOCKET)"],
    [`${away}/hook`, "the receiver cannot be reached (ECONNREFUSED)"],
  ] as const) {
    await send(config(url, { token: "secret-of-the-receiver" }));
    await expect.poll(() => agent.logged()).toContain(said(url, why));
  }
  // The store may contain a token that no header can contain, although saving such a token is refused.
  const stored = config(`${origin}/odd`, { token: "secret\nof the receiver" });
  const odd = [{ config: stored, wireVersion: "1.0" }];
  vi.spyOn(agent.tasks.pushConfigs, "loadWithMetadata").mockResolvedValue(odd);
  await holder.sendMessage(callOf("wait", { milliseconds: 0 }));
  const why = "its token or credentials cannot be sent in a header";
  await expect.poll(() => agent.logged()).toContain(said(origin, why));
  expect(agent.logged()).not.toContain("secret");
});

test("a task has at most eight push receivers", async () => {
  const { origin } = await receiver();
  const { holder, send } = await pushing([origin]);
  const { id } = taskIn(await send(config(origin, { id: "0" }), 400));
  const add = (at: number) =>
    holder.createTaskPushNotificationConfig(config(origin, { id: String(at), taskId: id }));
  for (let at = 1; at < 8; at++) await add(at);
  expect(String(await failureOf(add(8)))).toContain("at most 8");
  // At the limit, an existing configuration can still be changed.
  await add(3);
});
