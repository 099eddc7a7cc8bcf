import { EventEmitter, once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { InMemoryTaskStore, ServerCallContext } from "@a2a-js/sdk/server";
import type { RequestHandler } from "express";
import { beforeEach, expect, test, vi } from "vitest";
import { type Answer, at, quietConsole, send } from "../callers.js";
import { type DeskOptions, desk, startDesk } from "./own-agent.js";

// Each operation runs for the caller whose request was let in, also in an app that mixes requests up.

beforeEach(() => {
  quietConsole();
});

type Ask = (
  method: string,
  params: object,
  invoker?: string,
  signal?: AbortSignal,
) => Promise<Answer>;

async function start(options: DeskOptions) {
  const { url, desk: own } = await startDesk(await desk({ mode: "prefer" }), options);
  const ask: Ask = (method, params, invoker = "assistant", signal = new AbortController().signal) =>
    send(`${url}/rpc`, {
      ...{ method: "POST", signal },
      headers: {
        ...{ "Content-Type": "application/json", Authorization: `Bearer alice:${invoker}` },
        "A2A-Version": "1.0",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const say = (text: string, invoker?: string): Promise<Answer> =>
    ask(
      "SendMessage",
      { message: { messageId: text, role: "ROLE_USER", parts: [{ text }] } },
      invoker,
    );
  const ranFor = (): readonly string[] => own.cleared.map(({ caller }) => caller.invoker);
  return { ask, say, ranFor };
}

/** Holds one request between the guard and the SDK's handlers. */
function hold() {
  const events = new EventEmitter();
  const [held, closed, released] = ["held", "closed", "released"].map((name) => once(events, name));
  let holds = false;
  const between: RequestHandler = (_req, res, next) => {
    if (!holds) return next();
    holds = false;
    res.once("close", () => events.emit("closed"));
    events.emit("held");
    void released?.then(() => next());
  };
  const next = (): void => {
    holds = true;
  };
  return { between, next, held, closed, release: () => events.emit("released") };
}

test("a second request with the headers object of another runs nothing", async () => {
  const holding = hold();
  const failures: string[] = [];
  let headers: IncomingHttpHeaders | undefined;
  const { say, ranFor } = await start({
    ...{ apart: true, between: holding.between },
    caller: (req) => {
      const [, invoker = ""] = req.get("Authorization")?.split(":") ?? [];
      headers ??= req.headers;
      req.headers = headers;
      return { principal: "alice", invoker };
    },
    onFailure: (error, what) => failures.push(`${what}: ${error}`),
  });
  holding.next();
  const first = say("say mine", "assistant");
  await holding.held;
  const second = await say("say theirs", "other");
  holding.release();
  expect(at((await first).body, "result", "message", "parts", 0, "text")).toBe("mine");
  expect(at(second.body, "error", "code")).toBe(-32603);
  expect(failures).toEqual([expect.stringContaining("headers: must be an object of this request")]);
  expect(ranFor()).toEqual(["assistant"]);
});

test("a context of another request runs nothing", async () => {
  const shared = new ServerCallContext({ requestedVersion: "1.0" });
  const { say, ranFor } = await start({
    apart: true,
    contextBuilder: ({ headers }) => {
      shared.state.set("headers", headers);
      return shared;
    },
  });
  const first = await say("say mine", "assistant");
  expect(at(first.body, "result", "message", "parts", 0, "text")).toBe("mine");
  const second = await say("say theirs", "other");
  expect(at(second.body, "error", "message")).toContain("a context made for it alone");
  expect(ranFor()).toEqual(["assistant"]);
});

test("a request whose caller has gone before its operation is called runs nothing", async () => {
  const holding = hold();
  const tasks = new InMemoryTaskStore();
  const load = vi.spyOn(tasks, "load");
  const { ask, say } = await start({ apart: true, between: holding.between, tasks });
  const id = at((await say("ask me")).body, "result", "task", "id");
  const read = (signal?: AbortSignal) => ask("GetTask", { id }, "assistant", signal);
  load.mockClear();
  expect(at((await read()).body, "result", "id")).toBe(id);
  const loads = load.mock.calls.length;
  holding.next();
  const leaving = new AbortController();
  const left = read(leaving.signal).catch(String);
  await holding.held;
  leaving.abort();
  await holding.closed;
  holding.release();
  expect(await left).toContain("AbortError");
  expect(at((await read()).body, "result", "id")).toBe(id);
  expect(load).toHaveBeenCalledTimes(2 * loads);
});
