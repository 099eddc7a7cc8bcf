import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { attenuate } from "../../../src/index.js";
import {
  CAPABILITY_HEADER,
  EXTENSION_URI,
  refusalOf,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { startAgent } from "../../support/a2a-agent.js";
import {
  authorized,
  callOf,
  clientOf,
  failureOf,
  request,
  resultOf,
  SOME_BINDINGS,
  send,
  taskIn,
} from "./callers.js";

// A capability for more than 200 resources, narrowed to 100 of them, works like any other.

const TITLES = Array.from({ length: 210 }, (_, at) => `Notice ${String(at).padStart(3, "0")}`);

test.each(SOME_BINDINGS)(
  "a capability for 210 resources, attenuated to 100 of them, allows access to only these 100 over %s",
  async (binding) => {
    const agent = await startAgent();
    onTestFinished(() => agent.remove());
    for (const title of TITLES) {
      const text = `---\ntitle: ${title}\nquarter: 2025-Q4\nconfidential: false\n---\nTo all.\n`;
      writeFileSync(join(agent.home, "documents", "reports", `${title}.md`), text);
    }
    const alice = await clientOf(agent, binding, "alice");
    const capability = await request(alice, {
      grants: ["documents:read"],
      purpose: "read all the notices of the quarter",
      resourceQuery: { collection: "reports", filter: { quarter: "2025-Q4" } },
    });
    const named = capability.resourceHandles ?? [];
    expect(named.map(({ displayName }) => displayName).sort()).toEqual(TITLES);
    for (const { handle } of named) expect(handle).toMatch(/^rh_[A-Za-z0-9_-]{22}$/);
    const whole = await withCapability(alice, capability.token);
    const search = () => callOf("search_documents", { query: "To all" });
    expect(resultOf(taskIn(await whole.sendMessage(search())))).toEqual(TITLES);

    const kept = named.slice(0, 100);
    const narrowed = attenuate(capability.token, {
      resourceHandles: kept.map(({ handle }) => handle),
      purpose: "the first hundred",
    });
    if (!narrowed.ok) throw new Error("not attenuated");
    const { token } = narrowed;
    const holder = await withCapability(alice, token);
    const task = taskIn(await holder.sendMessage(search()));
    expect(resultOf(task)).toEqual(kept.map(({ displayName }) => displayName).sort());
    const [left = "", ...others] = kept.map(({ handle }) => handle);
    const compare = () => callOf("compare_documents", { pair: { left, others } });
    expect(resultOf(taskIn(await holder.sendMessage(compare())))).toHaveLength(100);
    const outside = { resourceHandle: named[100]?.handle ?? "" };
    const refused = await failureOf(holder.sendMessage(callOf("retrieve_document", outside)));
    expect(refusalOf(refused)?.code).toBe("resource_denied");

    // A request without metadata presents the capability in a header, beside the access token.
    const headers = {
      ...authorized("alice"),
      "A2A-Extensions": EXTENSION_URI,
      [CAPABILITY_HEADER]: token,
    };
    const { status, body } = await send(`${agent.server.restUrl}/tasks/${task.id}`, { headers });
    expect([status, body]).toMatchObject([200, { id: task.id }]);
  },
);
