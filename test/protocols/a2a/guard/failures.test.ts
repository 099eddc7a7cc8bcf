import { InMemoryTaskStore } from "@a2a-js/sdk/server";
import { describe, expect, test, vi } from "vitest";
import { CAPABILITY_HEADER, EXTENSION_URI } from "../../../../src/protocols/a2a/index.js";
import { granted } from "../../../agent/support.js";
import { quietConsole } from "../callers.js";
import { type DeskOptions, desk, startDesk } from "./own-agent.js";

// If something fails behind a guard, for example the app's own task store, only the operator sees the details.

const SECRET = "connect ECONNREFUSED 10.1.2.3:5432 as agent_rw";

/** A store that cannot be reached. */
class LostTasks extends InMemoryTaskStore {
  override async load(): Promise<never> {
    throw new Error(SECRET);
  }

  override async save(): Promise<never> {
    throw new Error(SECRET);
  }

  override async list(): Promise<never> {
    throw new Error(SECRET);
  }
}

async function answers(options: DeskOptions): Promise<readonly string[]> {
  const issuing = await desk();
  const tasks = new LostTasks();
  const { url } = await startDesk(issuing, { tasks, access: tasks, ...options });
  const [one] = await granted(issuing.agent, { grants: ["desk:use"] });
  const headers = {
    Authorization: "Bearer alice:assistant",
    "Content-Type": "application/json",
    "A2A-Version": "1.0",
    "A2A-Extensions": EXTENSION_URI,
    [CAPABILITY_HEADER]: one?.token ?? "",
  };
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "write one" }] };
  const said = async (path: string, method: string, body?: object): Promise<string> => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${url}${path}`, init);
    return `${answer.status} ${await answer.text()}`;
  };
  const call = (method: string, params: object): Promise<string> =>
    said("/rpc", "POST", { jsonrpc: "2.0", id: 1, method, params });
  return [
    await call("SendMessage", { message }),
    await call("SendStreamingMessage", { message }),
    await call("ListTasks", {}),
    await said("/rest/message:send", "POST", { message }),
    await said("/rest/tasks", "GET"),
    await said("/rest/tasks/task-1", "GET"),
  ];
}

describe.each([false, true])(
  "an error of the app's task store (SDK's handler instead of jsonRpc: %s)",
  (apart) => {
    test("is hidden from callers and passed to onFailure", async () => {
      quietConsole();
      const failures: unknown[] = [];
      const onFailure = (error: unknown): void => void failures.push(error);
      for (const answer of await answers({ apart, onFailure })) {
        expect(answer).not.toContain("10.1.2.3");
        expect(answer).not.toContain("agent_rw");
      }
      expect(failures.map(String)).toContain(`Error: ${SECRET}`);
      expect(new Set(failures.map(String)).size).toBe(1);
    });

    test("is hidden from callers and, without onFailure, becomes a process warning", async () => {
      quietConsole();
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      for (const answer of await answers({ apart })) expect(answer).not.toContain("10.1.2.3");
      expect(warned.mock.calls.map(([warning]) => String(warning))).toContain(`Error: ${SECRET}`);
      warned.mockRestore();
    });
  },
);
