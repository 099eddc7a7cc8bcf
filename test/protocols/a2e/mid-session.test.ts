import { expect, test } from "vitest";
import { attenuate } from "../../../src/index.js";
import { codeOf, hosted, joined, newHeld, Peer, plugins, toolCall } from "./support.js";

// Tests permissions that end during a session: by revocation, by expiry, and when the host closes.

test("a peer that only writes lines, like nc, can open a session and make calls, and loses a capability when its token is revoked", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held) });
  const tools = host.token("tools", { constraints: { a: { max: 5 } } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools", "memory"], [tools, host.token("memory")]);
  peer.send(toolCall(session, "add", { a: 1, b: 2 }));
  expect(await peer.part("data")).toEqual({ data: 3 });
  peer.send(toolCall(session, "add", { a: 6, b: 2 }));
  expect(await peer.code()).toBe("permission_denied");
  peer.send(toolCall(session, "wait", { a: 1 }));
  await expect.poll(() => held.ran.length).toBe(2);

  const revocation = host.issuer.revocationOf(tools);
  if (revocation.ok) host.revocations.add(revocation.entry);
  host.timers.turn(1000);

  expect(await peer.next()).toMatchObject({
    type: "error",
    req_id: "wait",
    code: "capability_ended",
    capability_name: "tools",
    detail: { denials: [{ code: "revoked" }] },
  });
  expect(await peer.next()).toMatchObject({
    type: "session/update",
    session_id: session,
    ended: ["tools"],
    reason: "revoked",
    accepted_caps: [
      { capability: "tools", enabled: false, metadata: { code: "revoked" } },
      { capability: "memory", enabled: true },
    ],
  });
  expect(held.ended).toEqual([`sums ${session}`]);
  peer.send(toolCall(session, "add", { a: 1, b: 2 }));
  expect(await peer.code()).toBe("capability_missing");
  peer.send({
    type: "memory/set/req",
    id: "m",
    session_id: session,
    arguments: { key: "k", value: 1 },
  });
  expect(await peer.part("data")).toEqual({ data: true });
  const events = await host.ledger.list();
  expect(events.map(({ decision, operation }) => `${decision} ${operation}`)).toEqual([
    "allowed tool/call",
    "refused tool/call",
    "allowed tool/call",
    "allowed memory/set",
  ]);
  expect(events[0]).toMatchObject({ principal: "alice", grant: "a2e:tools" });
  expect(events[0]).not.toHaveProperty("invoker");
});

test("a call is refused after a revocation, even before the next periodic check", async () => {
  const host = await hosted();
  const token = host.token("tools");
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [token]);
  const revocation = host.issuer.revocationOf(token);
  if (revocation.ok) host.revocations.add(revocation.entry);
  peer.send(toolCall(session, "add"));
  expect(await peer.next()).toMatchObject({
    code: "permission_denied",
    detail: { denials: [{ code: "revoked" }] },
  });
  expect(await peer.part("type", "reason")).toEqual({ type: "session/update", reason: "revoked" });
  expect(await peer.part("type", "req_id", "code")).toEqual({
    type: "error",
    req_id: "",
    code: "session_ended",
  });
  await peer.over;
});

function child(token: string): string {
  const attenuation = attenuate(token, { maxFurtherHops: 0, purpose: `${children++}` });
  if (!attenuation.ok) throw new Error("it is not narrowed");
  return attenuation.token;
}

let children = 0;

test("revoking a narrowed token ends its session, but no session of another token with the same root", async () => {
  const host = await hosted();
  const root = host.token("tools");
  const [one, other] = [child(root), child(root)];
  const sessions = await Promise.all([one, other].map((token) => joined(host, ["tools"], [token])));
  const revocation = host.issuer.revocationOf(one);
  if (revocation.ok) host.revocations.add(revocation.entry);
  host.timers.turn(1000);
  expect((await sessions[0]?.over)?.code).toBe("session_ended");
  expect(await sessions[1]?.call("tool/call", { name: "add", arguments: { a: 1, b: 1 } })).toBe(2);
});

test("a capability ends exactly when its token expires, not at the next periodic check", async () => {
  const host = await hosted({ limits: { look: 1000 } });
  const long = host.token("memory");
  const short = host.token("tools", { expires: "10s" });
  const updates: string[] = [];
  const session = await joined(host, ["tools", "memory"], [short, long], {
    onUpdate: ({ ended, reason }) => void updates.push(`${ended.join()} ${reason}`),
  });
  host.timers.turn(9999);
  expect(await session.call("tool/call", { name: "add", arguments: { a: 1, b: 1 } })).toBe(2);
  const waiting = codeOf(session.call("tool/call", { name: "wait" }));
  await session.ping();
  host.timers.turn(1);
  expect(await waiting).toBe("capability_ended");
  await session.ping();
  expect(updates).toEqual(["tools expired"]);
  expect(session.capabilities.get("tools")).toMatchObject({ enabled: false });
  expect(await codeOf(session.call("tool/call", { name: "add" }))).toBe("capability_missing");
  expect(await session.call("memory/get", { arguments: { key: "x" } })).toBeNull();
});

test("if one of two tokens for a capability expires, the other token still allows calls", async () => {
  const host = await hosted();
  const tokens = [host.token("tools", { expires: "10s" }), host.token("tools")];
  const session = await joined(host, ["tools"], tokens);
  // The host runs a call under the first token that allows the call. When this token expires, the call ends.
  const waiting = codeOf(session.call("tool/call", { name: "wait" }));
  await session.ping();
  host.timers.turn(10_000);
  expect(await waiting).toBe("capability_ended");
  expect(await session.call("tool/call", { name: "add", arguments: { a: 1, b: 1 } })).toBe(2);
});

test("a policy change applies from the next message on", async () => {
  const host = await hosted();
  const session = await joined(host, ["tools"], [host.token("tools")]);
  expect(await session.call("tool/list")).toEqual(["add", "echo"]);
  host.policy.replace({ rules: [] });
  expect(await codeOf(session.call("tool/list"))).toBe("permission_denied");
});

test("a call that is cancelled while the host reads the revocation list does not run", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held) });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  let reads = 0;
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The host reads the revocations three times for a call: before and after it judges the call, and before the call
  // runs.
  const catchUp = async (): Promise<void> => (++reads === 3 ? gate : undefined);
  Object.assign(host.revocations, { catchUp });
  peer.send(toolCall(session, "add", { a: 1, b: 1 }));
  await expect.poll(() => reads).toBe(3);
  peer.send({ type: "cancel", session_id: session, req_id: "add" });
  expect(await peer.code()).toBe("cancelled");
  release();
  peer.send(toolCall(session, "echo"));
  expect(await peer.code()).toBe("tool/call/resp");
  expect(held.ran).toEqual(["echo"]);
});

test("a session ends if it is silent for too long, but not while a call is running", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held), limits: { idle: 5000 } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  peer.send({ ...toolCall(session, "wait"), timeout: 60 });
  await expect.poll(() => held.ran.length).toBe(1);
  host.timers.turn(5000);
  held.release();
  expect(await peer.code()).toBe("tool/call/resp");
  host.timers.turn(5000);
  expect(await peer.code()).toBe("idle_timeout");
  await peer.over;
  expect(held.ended).toContain(`sums ${session}`);
});

test("after its shutdown message, a peer still gets the answers to running calls", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held) });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  peer.send(toolCall(session, "wait"));
  await expect.poll(() => held.ran.length).toBe(1);
  peer.send({ type: "shutdown", id: "s" });
  peer.send(toolCall(session, "add"));
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "add", code: "session_ended" });
  held.release();
  expect(await peer.part("type", "req_id")).toEqual({ type: "tool/call/resp", req_id: "wait" });
  expect(await peer.next()).toBeUndefined();
});

test("a peer that closes its sending end still gets its answers", async () => {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  peer.send(toolCall(session, "add", { a: 1, b: 1 }));
  peer.socket.end();
  expect(await peer.part("data")).toEqual({ data: 2 });
  expect(await peer.next()).toBeUndefined();
});

test("close() of a host waits for running calls, ends calls that take too long, and then closes the plugins", async () => {
  const held = newHeld();
  const closed: string[] = [];
  const [tools, memory] = plugins(held);
  if (tools === undefined || memory === undefined) throw new Error("there are no plugins");
  const own = [{ ...tools, close: async () => void closed.push("sums") }, memory];
  const host = await hosted({ plugins: own });
  const session = await joined(host, ["tools"], [host.token("tools")]);
  const waiting = codeOf(session.call("tool/call", { name: "wait" }));
  await expect.poll(() => held.ran.length).toBe(1);
  const closing = host.host.close();
  expect(await codeOf(session.call("tool/call", { name: "add" }))).toBe("session_ended");
  expect(closed).toEqual([]);
  host.timers.turn(10_000);
  expect(await waiting).toBe("session_ended");
  await closing;
  expect(closed).toEqual(["sums"]);
  expect((await session.over)?.code).toBe("session_ended");
  await expect(Peer.at(host.port)).rejects.toThrow("ECONNREFUSED");
});
