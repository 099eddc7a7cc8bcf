import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { Connection } from "../../../src/protocols/a2e/connection.js";
import { PluginError, type SessionPlugin } from "../../../src/protocols/a2e/index.js";
import { TIMERS } from "../../../src/protocols/a2e/timers.js";
import { codeOf, hosted, joined, newHeld, Peer, plugins, toolCall } from "./support.js";

// Tests misbehaving plugins: a plugin spoils only its own calls, and nothing else in the host.

function toolsOf(run: SessionPlugin["operations"][string]["run"]): SessionPlugin {
  return { name: "own", type: "tools", operations: { "tool/call": { run } } };
}

test.each([true, false])(
  "a part that a plugin sends after the end of a call, without await, has no effect (streaming: %s)",
  async (streaming) => {
    const outcomes: string[] = [];
    let runs = false;
    const tool = toolsOf(async ({ signal, send }) => {
      runs = true;
      await new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve(), { once: true }),
      );
      void send("unheard");
      await send("heard").then(
        () => outcomes.push("passed over"),
        (error: PluginError) => outcomes.push(error.code),
      );
      return null;
    });
    const host = await hosted({ plugins: [tool] });
    const peer = await Peer.at(host.port);
    const session = await peer.open(["tools"], [host.token("tools")]);
    peer.send({ ...toolCall(session, "x"), streaming });
    await expect.poll(() => runs).toBe(true);
    peer.send({ type: "cancel", session_id: session, req_id: "x" });
    expect(await peer.code()).toBe("cancelled");
    await expect.poll(() => outcomes.length).toBe(1);
    expect(outcomes).toEqual([streaming ? "cancelled" : "passed over"]);
  },
);

test("a session keeps its slot while one of its calls ignores the abort", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held), limits: { sessions: 1 } });
  const token = host.token("tools");
  const peer = await Peer.at(host.port);
  peer.send(toolCall(await peer.open(["tools"], [token]), "deaf"));
  await expect.poll(() => held.ran.length).toBe(1);
  peer.socket.resetAndDestroy();
  await expect.poll(() => held.ended.length).toBe(1);
  expect(host.host.sessions).toBe(1);
  expect(await (await Peer.at(host.port)).code()).toBe("too_many_sessions");
  held.release();
  await expect.poll(() => host.host.sessions).toBe(0);
  await (await Peer.at(host.port)).open(["tools"], [token]);
});

test("a plugin's endSession that never resolves delays no check of tokens, and keeps the session's slot only until a time limit", async () => {
  const [tools, memory] = plugins();
  if (tools === undefined || memory === undefined) throw new Error("there are no plugins");
  const endless: SessionPlugin = { ...memory, endSession: () => new Promise(() => {}) };
  const host = await hosted({ plugins: [tools, endless] });
  const tokens = [host.token("tools"), host.token("memory")];
  const session = await joined(host, ["tools", "memory"], tokens);
  const waiting = codeOf(session.call("tool/call", { name: "wait" }));
  await session.ping();
  for (const [at, left] of [
    [1, "tools"],
    [0, ""],
  ] as const) {
    const revocation = host.issuer.revocationOf(tokens[at] ?? "");
    if (revocation.ok) host.revocations.add(revocation.entry);
    host.timers.turn(1000);
    await expect
      .poll(() =>
        [...session.capabilities].flatMap(([name, one]) => (one.enabled ? [name] : [])).join(),
      )
      .toBe(left);
  }
  expect(await waiting).toBe("capability_ended");
  await session.over;
  expect(host.host.sessions).toBe(1);
  await expect
    .poll(() => {
      host.timers.turn(10_000);
      return host.host.sessions;
    })
    .toBe(0);
  expect(host.failures).toEqual(["the end of a session: Error: not done within 10 seconds"]);
});

test.each([[undefined], [7], ["Not A Code"]])(
  "a plugin error with the invalid code %s reaches the peer as plugin_failed",
  async (code) => {
    const tool = toolsOf(async () => {
      throw Object.assign(new PluginError("x", "of the house"), { code });
    });
    const host = await hosted({ plugins: [tool] });
    const session = await joined(host, ["tools"], [host.token("tools")]);
    expect(await codeOf(session.call("tool/call"))).toBe("plugin_failed");
  },
);

test("Connection.read rejects with an error that its receiver throws, even if the error has a code", async () => {
  const stream = new PassThrough();
  const limits = { line: 1000, depth: 8, queue: 2000, lineTime: 1000, stall: 1000 };
  const reading = new Connection(stream, limits, TIMERS).read({
    exact: true,
    message: (): Json => {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    },
    problem: () => {},
  });
  stream.end("{}\n");
  await expect(reading).rejects.toThrow("the disk is full");
});
