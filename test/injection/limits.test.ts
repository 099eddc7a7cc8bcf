import { describe, expect, test } from "vitest";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { attenuate } from "../../src/capability/attenuate.js";
import { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import { METHODS } from "../../src/protocols/a2a/extension.js";
import { marksIn } from "./world/holdings.js";
import { World } from "./world/world.js";

// Limits of task-scoped capabilities (docs/injection.md). Each test demonstrates one limit, so that the page does not
// promise too much, and does not warn of attacks that are no longer possible.

async function inWorld<T>(action: (world: World) => Promise<T>): Promise<T> {
  const world = await World.open({ mode: "require", runTask: async () => ({ done: true }) });
  try {
    return await action(world);
  } finally {
    await world.close();
  }
}

async function planner(world: World): Promise<CapabilityClient> {
  return new CapabilityClient(await world.connect("documents", "alice", "orchestrator").client());
}

const REPORTS = {
  grants: ["documents:read"],
  resourceQuery: { collection: "reports", filter: { title: "Q1 report" } },
};

describe("the scope of a capability does not prevent", () => {
  test("a harmful message to an allowed address", () =>
    inWorld(async (world) => {
      const to = "boss@company.example";
      const alice = new CapabilityClient(
        await world.connect("email", "alice", "orchestrator").client(),
      );
      const query = { grants: ["email:send"], constraints: { to } };
      const { capabilities } = await alice.request(query);
      const worker = new CapabilityClient(
        await world.connect("email", "itself", "executor").client(),
      );
      const message = { to, subject: "I resign", body: "Forthwith. Alice" };
      const { result } = await worker.invoke("send_message", message, capabilities[0]?.token);
      expect(result).toEqual({ sent: true });
    }));

  test("a worker that holds the user's own access token from requesting more", () =>
    inWorld(async (world) => {
      const worker = new CapabilityClient(
        await world.connect("documents", "alice", "documents").client(),
      );
      const resourceQuery = { collection: "confidential", filter: { title: "Payroll" } };
      const { capabilities } = await worker.request({ ...REPORTS, resourceQuery });
      const [{ token, resourceHandles } = {}] = capabilities;
      const resource = resourceHandles?.[0]?.handle ?? "";
      const { result } = await worker.invoke("read_document", { resource }, token);
      expect(marksIn(JSON.stringify(result))).toEqual(["documents/confidential/payroll.md"]);
    }));

  test("a worker with its principal's access token and invoker name from using capability ids without tokens", () =>
    inWorld(async (world) => {
      const alice = await planner(world);
      const grants = ["documents:read"];
      const resourceQuery = { collection: "reports" };
      const { capabilities } = await alice.request({ grants, resourceQuery });
      const [{ id = "", token = "", resourceHandles = [] } = {}] = capabilities;
      const handles = resourceHandles.map(({ handle }) => handle);
      const [first = "", second = ""] = handles;
      const narrowed = attenuate(token, { resourceHandles: [first] });
      expect(narrowed.ok).toBe(true);
      // The id of the capability is readable in the narrowed token, and allows as much as the wider token.
      const connection = world.connect("documents", "alice", "orchestrator");
      const params = { skill: "read_document", arguments: { resource: second }, capabilityId: id };
      expect(errorIn(await connection.method(METHODS.invoke, params))).toBeUndefined();
      const other = world.connect("documents", "alice", "documents");
      expect(errorIn(await other.method(METHODS.invoke, params))).toBe("capability_unknown");
    }));

  test("use of a stolen unbound token until it expires or is revoked", () =>
    inWorld(async (world) => {
      const { capabilities } = await (await planner(world)).request(REPORTS);
      const [{ token = "", resourceHandles } = {}] = capabilities;
      const thief = new CapabilityClient(
        await world.connect("documents", "itself", "calendar").client(),
      );
      const resource = resourceHandles?.[0]?.handle ?? "";
      const { result } = await thief.invoke("read_document", { resource }, token);
      expect(marksIn(JSON.stringify(result))).toEqual(["documents/reports/q1.md"]);
      const bound = attenuate(token, { invokers: ["executor"] });
      const stolen = bound.ok ? bound.token : "";
      await expect(thief.invoke("read_document", { resource }, stolen)).rejects.toThrow(
        "invoker_denied",
      );
    }));

  test("the knowledge of what was read before a revocation", () =>
    inWorld(async (world) => {
      const alice = await planner(world);
      const { capabilities } = await alice.request(REPORTS);
      const [{ token = "", resourceHandles } = {}] = capabilities;
      const resource = resourceHandles?.[0]?.handle ?? "";
      const { result } = await alice.invoke("read_document", { resource }, token);
      await alice.revoke(token);
      expect(marksIn(JSON.stringify(result))).toEqual(["documents/reports/q1.md"]);
      await expect(alice.invoke("read_document", { resource }, token)).rejects.toThrow("revoked");
    }));
});

/** Returns the reason of a JSON-RPC error, if there is one. */
function errorIn(answer: Json): Json | undefined {
  const error = isJsonObject(answer) ? answer["error"] : undefined;
  const data = error !== undefined && isJsonObject(error) ? error["data"] : undefined;
  const info = Array.isArray(data) ? data[0] : undefined;
  return isJsonObject(info ?? null) ? (info as { readonly reason?: Json }).reason : undefined;
}
