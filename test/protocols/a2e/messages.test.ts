import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { type Hosted, hosted, newHeld, Peer, plugins, toolCall } from "./support.js";

// Tests the answer to each message after the handshake, as a peer without a library sees it.

interface Opened extends Hosted {
  readonly peer: Peer;
  readonly session: string;
}

async function opened(
  tokens: (host: Hosted) => readonly string[],
  caps = ["tools", "memory"],
): Promise<Opened> {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  return { ...host, peer, session: await peer.open(caps, tokens(host)) };
}

test("an answer repeats the call's id and correlation_id", async () => {
  const { peer, session, token } = await opened(({ token }) => [token("tools")]);
  expect(token("tools")).not.toBe("");
  peer.send({ ...toolCall(session, "add", { a: 1, b: 2 }, "call 1"), correlation_id: "turn 7" });
  const answer = await peer.next();
  expect(answer).toMatchObject({
    a2e: "1.0",
    type: "tool/call/resp",
    req_id: "call 1",
    ok: true,
    data: 3,
    correlation_id: "turn 7",
  });
  peer.send({ type: "ping", id: "p" });
  expect(await peer.part("type", "req_id")).toEqual({ type: "pong", req_id: "p" });
});

test("a token's constraints apply to the arguments of a call and to the tool's name", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held) });
  const token = host.token("tools", { constraints: { tool_name: "add", a: { max: 5 } } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [token]);
  const tries: readonly (readonly [JsonObject, Json])[] = [
    [toolCall(session, "add", { a: 5, b: 1 }), "tool/call/resp"],
    [toolCall(session, "add", { a: 6, b: 1 }), "permission_denied"],
    [toolCall(session, "add", { b: 1 }), "permission_denied"],
    [toolCall(session, "echo", { a: 1 }), "permission_denied"],
    // A duplicate name and a second property for the name are refused: the judged tool is always the tool that runs.
    [toolCall(session, "echo", { a: 1, tool_name: "add" }), "message_invalid"],
    [{ ...toolCall(session, "add", { a: 1, b: 1 }), name: "echo" }, "message_invalid"],
    [{ ...toolCall(session, "add", { a: 1, b: 1 }), server: "x" }, "message_invalid"],
  ];
  for (const [message, expected] of tries) {
    peer.send(message);
    expect(await peer.code()).toBe(expected);
  }
  expect(held.ran).toEqual(["add"]);
});

test("the error for a refused call lists every reason, and no plugin runs", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held) });
  const peer = await Peer.at(host.port);
  const hop = { operations: ["tool/list"], constraints: { a: { max: 5 } } };
  const session = await peer.open(["tools"], [host.token("tools", hop)]);
  peer.send(toolCall(session, "add", { a: 6 }));
  expect(await peer.next()).toMatchObject({
    type: "error",
    req_id: "add",
    code: "permission_denied",
    retryable: false,
    capability_name: "tools",
    detail: { denials: [{ code: "operation_denied" }, { code: "constraint_violated" }] },
  });
  expect(held.ran).toEqual([]);
});

test("a call is allowed only if a single token allows the whole call", async () => {
  const { peer, session } = await opened(({ token }) => [
    token("tools", { constraints: { tool_name: "add" } }),
    token("tools", { constraints: { b: { max: 1 } } }),
  ]);
  peer.send(toolCall(session, "add", { a: 9, b: 9 }));
  expect(await peer.code()).toBe("tool/call/resp");
  peer.send(toolCall(session, "echo", { b: 1 }));
  expect(await peer.code()).toBe("tool/call/resp");
  peer.send(toolCall(session, "echo", { b: 2 }));
  expect(await peer.next()).toMatchObject({
    code: "permission_denied",
    detail: { denials: [{ capability: 0 }, { capability: 1 }] },
  });
});

test("a token for one capability does not allow another capability", async () => {
  const { peer, session } = await opened(({ token }) => [token("tools")]);
  peer.send({ type: "memory/get/req", id: "m", session_id: session, arguments: { key: "k" } });
  expect(await peer.part("code", "capability_name")).toEqual({
    code: "capability_missing",
    capability_name: "memory",
  });
});

test("a token that names invokers is refused unless the host authenticates the peer as one of these invokers", async () => {
  const invokers = { invokers: ["assistant"] };
  const host = await hosted();
  const peer = await Peer.at(host.port);
  expect(
    await peer.greet(["tools"], [host.token("tools", invokers)], { agent_id: "assistant" }),
  ).toMatchObject({ reason: "auth_failed", detail: { denials: [{ code: "invoker_denied" }] } });
  const known = await hosted({ caller: async () => ({ invoker: "assistant" }) });
  const other = await Peer.at(known.port);
  const session = await other.open(["tools"], [known.token("tools", invokers)]);
  other.send(toolCall(session, "who"));
  expect(await other.part("data")).toEqual({ data: { principal: "alice", invoker: "assistant" } });
  const events = await known.ledger.list();
  expect(events).toMatchObject([{ principal: "alice", invoker: "assistant" }]);
  const closed = await hosted({ caller: () => undefined });
  const stranger = await Peer.at(closed.port);
  expect(await stranger.greet(["tools"], [closed.token("tools")])).toMatchObject({
    reason: "auth_failed",
  });
});

test("a faulty message gets the error code for its fault", async () => {
  const { peer, session } = await opened(({ token }) => [token("tools"), token("memory")]);
  const call = toolCall(session, "add", { a: 1, b: 1 });
  const faults: readonly (readonly [JsonObject | string, string])[] = [
    ["{\n", "line_malformed"],
    ["\n", "line_malformed"],
    ["[1]\n", "line_malformed"],
    ['{"a":1,"a":2}\n', "line_malformed"],
    ['{"a":"\\ud800"}\n', "line_malformed"],
    [`${"[".repeat(40)}${"]".repeat(40)}\n`, "line_malformed"],
    [{ id: "x" }, "message_invalid"],
    [{ ...call, session_id: "ses_AAAAAAAAAAAAAAAAAAAAAA" }, "session_unknown"],
    [{ type: "tool/call/req", id: "x" }, "session_unknown"],
    [{ ...call, a2e: "1.1" }, "version_mismatch"],
    [{ ...call, type: "tool/call" }, "type_unknown"],
    [{ ...call, type: "tools/call/req" }, "type_unknown"],
    [{ ...call, type: "tool/drop/req" }, "type_unknown"],
    [{ ...call, type: "chain/run/req" }, "capability_missing"],
    [{ ...call, id: 7 }, "message_invalid"],
    [{ ...call, arguments: [] }, "message_invalid"],
    [{ ...call, argument: {} }, "message_invalid"],
    [{ ...call, timeout: 0 }, "message_invalid"],
    [{ ...call, streaming: "yes" }, "message_invalid"],
    [{ type: "cancel", session_id: session }, "message_invalid"],
    [{ type: "ping" }, "message_invalid"],
    [{ type: "ping", id: 7 }, "message_invalid"],
    [{ type: "ping", id: "a".repeat(129) }, "message_invalid"],
    [{ type: "memory/get/req", id: "m", session_id: session }, "arguments_invalid"],
    [toolCall(session, "fail"), "plugin_failed"],
    [toolCall(session, "refuse"), "sum_too_large"],
    [toolCall(session, "large", { size: 300_000 }), "result_too_large"],
  ];
  for (const [message, code] of faults) {
    peer.send(message);
    expect([message, await peer.code()]).toEqual([message, code]);
  }
  peer.send(call);
  expect(await peer.code()).toBe("tool/call/resp");
});

test("an error that a plugin throws is passed to onFailure, and its text is hidden from the peer", async () => {
  const { peer, session, failures, ledger } = await opened(({ token }) => [token("tools")]);
  peer.send(toolCall(session, "fail"));
  expect(JSON.stringify(await peer.next())).not.toContain("secret");
  expect(failures).toEqual(["tool/call: Error: the secret of the house"]);
  // The ledger records an allowed call: the call ran, and then failed.
  expect(await ledger.list()).toMatchObject([{ decision: "allowed", operation: "tool/call" }]);
});

test("parts of an answer are sent before the answer only if the call has streaming: true", async () => {
  const { peer, session } = await opened(({ token }) => [token("tools")]);
  const call = toolCall(session, "parts", { parts: 2 });
  peer.send({ ...call, streaming: true });
  for (const seq of [0, 1]) {
    expect(await peer.part("type", "req_id", "seq", "data")).toEqual({
      type: "tool/call/event",
      req_id: "parts",
      seq,
      data: { part: seq },
    });
  }
  expect(await peer.code()).toBe("tool/call/resp");
  peer.send(call);
  expect(await peer.code()).toBe("tool/call/resp");
});

test("the host refuses a call above the limit of parallel calls, and a call with the id of a running call", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held), limits: { parallel: 2 } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  peer.send(toolCall(session, "wait", {}, "1"));
  peer.send(toolCall(session, "wait", {}, "1"));
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "1", code: "message_invalid" });
  peer.send(toolCall(session, "wait", {}, "2"));
  peer.send(toolCall(session, "add", { a: 1, b: 1 }, "3"));
  expect(await peer.part("req_id", "code", "retryable")).toEqual({
    req_id: "3",
    code: "too_many_parallel",
    retryable: true,
  });
  held.release();
  expect(await peer.part("type", "req_id")).toEqual({ type: "tool/call/resp", req_id: "1" });
  expect(await peer.part("type", "req_id")).toEqual({ type: "tool/call/resp", req_id: "2" });
});

test("a call ends if it is cancelled or times out, and too many calls that ignore the abort block new calls", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held), limits: { parallel: 1 } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  peer.send(toolCall(session, "wait"));
  peer.send({ type: "cancel", session_id: session, req_id: "unknown" });
  peer.send({ type: "cancel", session_id: session, req_id: "wait" });
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "wait", code: "cancelled" });
  peer.send({ ...toolCall(session, "deaf"), timeout: 2 });
  await until(() => held.ran.length === 2);
  host.timers.turn(2001);
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "deaf", code: "timed_out" });
  peer.send({ ...toolCall(session, "deaf", {}, "deaf 2"), timeout: 2 });
  await until(() => held.ran.length === 3);
  host.timers.turn(2001);
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "deaf 2", code: "timed_out" });
  peer.send(toolCall(session, "add"));
  expect(await peer.code()).toBe("too_many_parallel");
  held.release();
  await until(async () => {
    peer.send(toolCall(session, "add", { a: 1, b: 1 }));
    return (await peer.code()) === "tool/call/resp";
  });
});

test("the host refuses messages above the rate limit of a session", async () => {
  const host = await hosted({ rate: { messages: 3, seconds: 10 } });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools"], [host.token("tools")]);
  const codes: Json[] = [];
  for (let at = 0; at < 3; at++) {
    peer.send({ type: "ping", id: "p", session_id: session });
    codes.push(await peer.code());
  }
  expect(codes).toEqual(["pong", "pong", "rate_limited"]);
  host.clock.now += 10_000;
  peer.send({ type: "ping", id: "p", session_id: session });
  expect(await peer.code()).toBe("pong");
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 5000; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error("it never held");
}
