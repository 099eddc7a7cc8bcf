import { Duplex, PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import type { SessionPlugin } from "../../../src/protocols/a2e/index.js";
import { sized } from "../../support/size.js";
import { type Hosted, hosted, joined, Peer, toolCall } from "./support.js";

// Hostile or broken peers: each peer costs the host little and does not affect other sessions. A peer that reads gets a
// coded reason.

async function withWitness(host: Hosted, act: () => Promise<void>): Promise<void> {
  const witness = await joined(host, ["tools"], [host.token("tools")]);
  await act();
  expect(await witness.call("tool/call", { name: "add", arguments: { a: 1, b: 1 } })).toBe(2);
}

/** Returns pseudo-random bytes, which are the same in every run. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 7;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

test("a peer that sends garbage before or after the handshake is disconnected with too_many_faults", async () => {
  const host = await hosted();
  await withWitness(host, async () => {
    for (const greets of [false, true]) {
      const peer = await Peer.at(host.port);
      if (greets) await peer.open(["tools"], [host.token("tools")]);
      peer.socket.write(noise(100_000));
      const codes = new Set<unknown>();
      for (let one = await peer.next(); one !== undefined; one = await peer.next()) {
        codes.add(one["code"]);
      }
      expect([...codes]).toEqual(["line_malformed", "too_many_faults"]);
    }
  });
});

test("a peer whose line exceeds the limit is disconnected with line_too_large, whether the line comes in one piece or in many", async () => {
  const host = await hosted();
  await withWitness(host, async () => {
    const peer = await Peer.at(host.port);
    peer.socket.write(Buffer.alloc(300_000, "a"));
    expect(await peer.code()).toBe("line_too_large");
    await peer.over;
    const slow = await Peer.at(host.port);
    for (let at = 0; at < 300; at++) slow.socket.write("a".repeat(1000));
    expect(await slow.code()).toBe("line_too_large");
    await slow.over;
  });
});

test("the host disconnects a peer that is too slow with a line or with the handshake", async () => {
  const host = await hosted({ limits: { lineTime: 5000, handshake: 20_000 } });
  await withWitness(host, async () => {
    const dawdler = await Peer.at(host.port);
    dawdler.socket.write('{"a2e"');
    const silent = await Peer.at(host.port);
    await expect.poll(() => host.host.sessions).toBe(3);
    // Once this later peer has an answer, the bytes of `dawdler` have arrived, and the test can advance the time.
    const settled = await Peer.at(host.port);
    settled.send("{\n");
    expect(await settled.code()).toBe("line_malformed");
    host.timers.turn(5000);
    expect(await dawdler.code()).toBe("line_timeout");
    await dawdler.over;
    host.timers.turn(15_000);
    expect(await silent.code()).toBe("handshake_timeout");
    await silent.over;
  });
});

test("the host disconnects a peer that never reads its answers", async () => {
  const host = await hosted({ limits: { line: 64 * 1024, queue: 256 * 1024 } });
  await withWitness(host, async () => {
    const peer = await Peer.at(host.port);
    const session = await peer.open(["tools"], [host.token("tools")]);
    peer.socket.pause();
    const call = toolCall(session, "large", { size: 60_000 });
    let written = 0;
    // Keep sending: the kernel's buffers of both ends must be full before the host's own queue can fill.
    const pump = setInterval(() => {
      while (peer.socket.writableLength < 64 * 1024 && written < 2000) {
        peer.send({ ...call, id: `${written++}` });
      }
    }, 1);
    try {
      await expect
        .poll(
          () => {
            host.timers.turn(10_000);
            return host.host.sessions;
          },
          { timeout: 20_000 },
        )
        .toBe(1);
    } finally {
      clearInterval(pump);
    }
    expect(host.failures).toEqual([]);
  });
});

test("the host destroys the stream if a plugin sends more bytes than the queue may hold and the peer does not read", async () => {
  let most = 0;
  let stream: Duplex | undefined;
  const flood: SessionPlugin = {
    name: "flood",
    type: "tools",
    operations: {
      "tool/call": {
        run: async ({ send }) => {
          for (let at = 0; at < 1000; at++) {
            void send("x".repeat(10_000)).catch(() => {});
            most = Math.max(most, stream?.writableLength ?? 0);
          }
          return null;
        },
      },
    },
  };
  const limits = { line: 64 * 1024, queue: 256 * 1024 };
  const host = await hosted({ plugins: [flood], limits });
  const written: string[] = [];
  // The stream accepts the answer to the handshake, and no output after it.
  stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      if (written.length === 1) done();
    },
  });
  const over = host.host.accept(stream);
  const line = (message: JsonObject): void => void stream?.push(`${JSON.stringify(message)}\n`);
  line({
    a2e: "1.0",
    type: "handshake/req",
    id: "1",
    agent_caps: ["tools"],
    auth_token: host.token("tools"),
  });
  await expect.poll(() => written.length).toBe(1);
  const { session_id: session } = JSON.parse(written[0] ?? "{}");
  line({ ...toolCall(session, "x"), streaming: true });
  await over;
  expect(stream.destroyed).toBe(true);
  expect(most).toBeGreaterThan(200 * 1024);
  expect(most).toBeLessThanOrEqual(limits.queue);
});

test("each call in a burst is answered, or refused with too_many_parallel", async () => {
  const host = await hosted();
  const lines = sized(10_000, 2000);
  await withWitness(host, async () => {
    const peer = await Peer.at(host.port);
    const session = await peer.open(["tools"], [host.token("tools")]);
    const call = toolCall(session, "add", { a: 1, b: 1 });
    peer.send(
      Array.from(
        { length: lines },
        (_, at) => `${JSON.stringify({ ...call, id: `${at}` })}\n`,
      ).join(""),
    );
    const seen = new Map<unknown, number>();
    for (let at = 0; at < lines; at++) {
      const code = await peer.code();
      seen.set(code, (seen.get(code) ?? 0) + 1);
    }
    const answered = seen.get("tool/call/resp") ?? 0;
    expect(answered).toBeGreaterThan(0);
    expect(answered + (seen.get("too_many_parallel") ?? 0)).toBe(lines);
  });
});

test("messages with another session's id end the sender's session, and do not reach the other session", async () => {
  const host = await hosted({ limits: { faults: 8 } });
  await withWitness(host, async () => {
    const victim = await Peer.at(host.port);
    const theirs = await victim.open(["tools"], [host.token("tools")]);
    const peer = await Peer.at(host.port);
    await peer.open(["tools"], [host.token("tools")]);
    for (let at = 0; at < 8; at++) {
      peer.send(toolCall(theirs, "add", {}, `${at}`));
      expect(await peer.code()).toBe("session_unknown");
    }
    expect(await peer.code()).toBe("too_many_faults");
    await peer.over;
    victim.send(toolCall(theirs, "add", { a: 1, b: 1 }));
    expect(await victim.code()).toBe("tool/call/resp");
  });
});

test("error messages from a peer get no answer, and count as faults", async () => {
  const host = await hosted({ limits: { faults: 3 } });
  const peer = await Peer.at(host.port);
  await peer.open(["tools"], [host.token("tools")]);
  for (let at = 0; at < 3; at++) peer.send({ type: "error", req_id: "x", code: "y" });
  expect(await peer.code()).toBe("too_many_faults");
});

test("the host aborts the calls of a peer that disconnects", async () => {
  const host = await hosted();
  await withWitness(host, async () => {
    const peer = await Peer.at(host.port);
    const session = await peer.open(["tools"], [host.token("tools")]);
    peer.send(toolCall(session, "wait"));
    await expect.poll(() => host.ledger.list().then((all) => all.length)).toBe(1);
    peer.socket.resetAndDestroy();
    await expect.poll(() => host.host.sessions).toBe(1);
  });
  expect(host.failures).toEqual([]);
});

test("the host refuses a session above the limit, and accepts a new session when another session has ended", async () => {
  const host = await hosted({ limits: { sessions: 2 } });
  const first = await Peer.at(host.port);
  await first.open(["tools"], [host.token("tools")]);
  await (await Peer.at(host.port)).open(["tools"], [host.token("tools")]);
  const third = await Peer.at(host.port);
  expect(await third.code()).toBe("too_many_sessions");
  await third.over;
  first.socket.destroy();
  await expect.poll(() => host.host.sessions).toBe(1);
  await (await Peer.at(host.port)).open(["tools"], [host.token("tools")]);
});

test("the host refuses a stream that has an encoding, and keeps running", async () => {
  const host = await hosted();
  const readable = new PassThrough();
  const stream = Duplex.from({ readable, writable: new PassThrough().resume() });
  stream.setEncoding("utf8");
  readable.write("{}\n");
  await host.host.accept(stream);
  expect(host.failures).toEqual(["session: TypeError: a stream of bytes has no encoding"]);
});
