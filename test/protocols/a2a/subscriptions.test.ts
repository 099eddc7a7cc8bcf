import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/index.js";
import { startAgent } from "../../support/a2a-agent.js";
import { at, type BindingName, quietConsole, rpcTo, SOME_BINDINGS, textAt } from "./callers.js";
import { agentFor, held, presenting, userMessage } from "./set-up.js";
import { type Reached, runTask, SIDES } from "./sides.js";

// SubscribeToTask streams a task until the task ends, as long as the caller may see the task.

type Named = Readonly<Record<string, string>>;
type Addresses = Pick<Reached, "rpcUrl" | "restUrl">;

/** An open stream. */
interface Open {
  readonly status: number;
  readonly headers: Headers;
  /** The events received so far. For an answer that is not a stream, its body. */
  readonly events: readonly Json[];
  /** Fulfilled at the end of the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

async function open(url: string, init: RequestInit): Promise<Open> {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const answer = await fetch(url, { ...init, signal: closing.signal });
  const { status, headers, body } = answer;
  const events: Json[] = [];
  const ended = eventsOf(body, events).catch((error: unknown) => {
    if (!closing.signal.aborted) throw error;
  });
  return { status, headers, events, ended, close: () => closing.abort() };
}

async function eventsOf(body: Response["body"], events: Json[]): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) events.push(JSON.parse(line.slice("data: ".length)));
    }
  }
  if (rest !== "") events.push(JSON.parse(rest));
}

/** Subscribes to a task. */
function subscribe(to: Addresses, binding: BindingName, headers: Named, id: string): Promise<Open> {
  if (binding === "HTTP+JSON") {
    return open(`${to.restUrl}/tasks/${id}:subscribe`, { method: "POST", headers });
  }
  const body = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } };
  return open(to.rpcUrl, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Returns for each event the state of the task, "artifact", or the codes of the error. */
function said(events: readonly Json[]): readonly Json[] {
  return events.map((event) => {
    const [update = null] = [at(event, "result"), event].filter(isJsonObject);
    if (isJsonObject(at(update, "artifactUpdate"))) return "artifact";
    const [error] = [at(event, "error", "data"), at(event, "error", "details")].filter(
      Array.isArray,
    );
    if (error !== undefined) return at(error, 0, "metadata", "codes") ?? at(error, 0, "reason");
    const status = at(update, "statusUpdate", "status", "state");
    return status ?? at(update, "task", "status", "state");
  });
}

const WAITS = "TASK_STATE_INPUT_REQUIRED";
const words = (text: string, more: JsonObject = {}): JsonObject => userMessage([{ text }], more);

/** Makes a task that waits for its caller. */
async function waiting(rpc: Reached["rpc"], headers?: Named): Promise<string> {
  const { body } = await rpc("SendMessage", { message: words("ask") }, headers);
  expect(at(body, "result", "task", "status", "state")).toBe(WAITS);
  return textAt(body, "result", "task", "id");
}

/** Returns the headers of a caller that presents a token narrowed from the caller's own token. */
function narrowed({ headers, token }: Reached, expires?: string): Named {
  const child = attenuate(token, expires === undefined ? { purpose: "watch" } : { expires });
  if (!child.ok) throw new Error(JSON.stringify(child.overreaches));
  return { ...headers, "Proviso-Capability": child.token };
}

const EACH = SIDES.flatMap(([side, start]) =>
  SOME_BINDINGS.map((binding) => [side, binding, start] as const),
);

test.each(EACH)(
  "a subscription follows a waiting task to its end: %s, %s",
  async (_, binding, start) => {
    quietConsole();
    const reached = await start();
    const { headers, rpc } = reached;
    const id = await waiting(rpc);
    const followed = await subscribe(reached, binding, headers, id);
    await expect.poll(() => followed.events.length).toBe(1);
    await pause(300);
    expect(said(followed.events)).toEqual([WAITS]);
    await rpc("SendMessage", { message: words("write this", { taskId: id }) });
    await followed.ended;
    expect(said(followed.events).at(-1)).toBe("TASK_STATE_COMPLETED");
    expect(said(followed.events)).toContain("artifact");
  },
);

test.each(SOME_BINDINGS)(
  "a subscription follows a task through many turns until the task is cancelled: %s",
  async (binding) => {
    const agent = await agentFor({ runTask });
    const { token } = await held(agent);
    const headers = presenting(token);
    const { server } = agent;
    const rpc: Reached["rpc"] = (...call) => rpcTo(server.rpcUrl, headers, call[0], call[1]);
    const id = await waiting(rpc);
    const followed = await subscribe(server, binding, headers, id);
    for (let turn = 2; turn <= 4; turn++) {
      await rpc("SendMessage", { message: words("ask again", { taskId: id }) });
      const waits = (): number => said(followed.events).filter((one) => one === WAITS).length;
      await expect.poll(waits).toBe(turn);
    }
    await rpc("CancelTask", { id });
    await followed.ended;
    expect(said(followed.events).at(-1)).toBe("TASK_STATE_CANCELED");
  },
);

test("a subscription follows a task that another instance continues", async () => {
  const here = await agentFor({ runTask });
  const there = await startAgent({ runTask, again: here.home });
  onTestFinished(() => there.stop());
  const { token } = await held(here);
  const headers = presenting(token);
  const id = await waiting((...call) => rpcTo(here.server.rpcUrl, headers, call[0], call[1]));
  const followed = await subscribe(here.server, "JSON-RPC", headers, id);
  const message = words("write this", { taskId: id });
  await rpcTo(there.server.rpcUrl, headers, "SendMessage", { message });
  await followed.ended;
  expect(said(followed.events).at(-1)).toBe("TASK_STATE_COMPLETED");
});

test.each(EACH)(
  "a stream whose token was revoked ends before its next event: %s, %s",
  async (_, binding, start) => {
    const printed = quietConsole();
    const reached = await start();
    const { rpc } = reached;
    const watcher = narrowed(reached);
    const id = await waiting(rpc, watcher);
    const watched = await subscribe(reached, binding, watcher, id);
    const other = await subscribe(reached, binding, reached.headers, id);
    const { "Proviso-Capability": token = "", ...bare } = watcher;
    const revoked = await rpc("a2a/capabilities/revoke", { token }, bare);
    expect(at(revoked.body, "result", "revoked")).toBe(true);
    await expect.poll(() => watched.events.length).toBe(1);
    await pause(100);
    expect(said(watched.events)).toEqual([WAITS]);
    await rpc("SendMessage", { message: words("write this", { taskId: id }) });
    await Promise.all([watched.ended, other.ended]);
    expect(said(watched.events)).toEqual([WAITS, "revoked"]);
    expect(said(other.events).at(-1)).toBe("TASK_STATE_COMPLETED");
    expect(printed).toEqual([]);
  },
);

test.each(EACH)("a stream ends when its token expires: %s, %s", async (_, binding, start) => {
  const printed = quietConsole();
  const reached = await start();
  let watched: Open | undefined;
  // Repeated, since a pause of this process can outlast the token.
  await expect
    .poll(async () => {
      const watcher = narrowed(reached, "2s");
      const id = await waiting(reached.rpc, watcher);
      watched = await subscribe(reached, binding, watcher, id);
      return watched.status;
    })
    .toBe(200);
  await watched?.ended;
  expect(said(watched?.events ?? [])).toEqual([WAITS, "expired"]);
  expect(printed).toEqual([]);
});

test.each(EACH)(
  "a stream whose caller's login is no longer valid ends before its next event: %s, %s",
  async (_, binding, start) => {
    const printed = quietConsole();
    const reached = await start();
    const { rpc, headers, otherLogin } = reached;
    const id = await waiting(rpc);
    const watched = await subscribe(reached, binding, headers, id);
    const other = await subscribe(reached, binding, otherLogin, id);
    for (const one of [watched, other]) await expect.poll(() => one.events.length).toBe(1);
    reached.signOut();
    await rpc("SendMessage", { message: words("write this", { taskId: id }) }, otherLogin);
    await Promise.all([watched.ended, other.ended]);
    expect(said(watched.events)).toEqual([WAITS, "token_missing"]);
    expect(said(other.events).at(-1)).toBe("TASK_STATE_COMPLETED");
    expect(printed).toEqual([]);
  },
);

test.each(EACH)(
  "a stream beyond the limit of a caller's concurrent streams gets 429: %s, %s",
  async (_, binding, start) => {
    quietConsole();
    const reached = await start({ mostStreams: 2 });
    const { headers, rpc } = reached;
    const id = await waiting(rpc);
    const first = await subscribe(reached, binding, headers, id);
    const second = await subscribe(reached, binding, headers, id);
    for (const one of [first, second]) await expect.poll(() => one.events.length).toBe(1);
    const third = await subscribe(reached, binding, headers, id);
    expect([third.status, third.headers.get("Retry-After")]).toEqual([429, "1"]);
    await third.ended;
    expect(said(third.events)).toEqual(["too_many_streams"]);
    const message = words("write this");
    const streamed = { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } };
    const fourth = await open(reached.rpcUrl, {
      method: "POST",
      headers,
      body: JSON.stringify(streamed),
    });
    expect(fourth.status).toBe(429);
    // The limit of streams does not block other calls.
    expect(at((await rpc("GetTask", { id })).body, "result", "id")).toBe(id);
    first.close();
    await expect
      .poll(async () => (await subscribe(reached, binding, headers, id)).status)
      .toBe(200);
  },
);

test("closing the server ends streams of waiting tasks at once", async () => {
  const agent = await agentFor({ runTask, grace: 20_000 });
  const { token } = await held(agent);
  const headers = presenting(token);
  const id = await waiting((...call) => rpcTo(agent.server.rpcUrl, headers, call[0], call[1]));
  const followed = await subscribe(agent.server, "JSON-RPC", headers, id);
  await expect.poll(() => followed.events.length).toBe(1);
  const began = performance.now();
  await agent.server.close();
  await followed.ended;
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(said(followed.events)).toEqual([WAITS]);
});
