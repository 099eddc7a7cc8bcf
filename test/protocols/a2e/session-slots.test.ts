import { expect, test } from "vitest";
import { hosted, joined, Peer } from "./support.js";

// Tests a host's limits on handshakes, on sessions, and on the sessions of one principal.

test("peers without a handshake take no session slots, and are disconnected for newer peers", async () => {
  const host = await hosted({ limits: { sessions: 2, handshakes: 2 } });
  const silent: Peer[] = [];
  for (let at = 0; at < 4; at++) {
    silent.push(await Peer.at(host.port));
    // The peer sends a line and gets an answer, so the host has certainly seen the peer.
    silent[at]?.send("{}\n");
    expect(await silent[at]?.code()).toBe("message_invalid");
  }
  expect(await silent[0]?.code()).toBe("too_many_sessions");
  expect(await silent[1]?.code()).toBe("too_many_sessions");
  for (let at = 0; at < 2; at++) await joined(host, ["tools"], [host.token("tools")]);
  expect(await (await Peer.at(host.port)).code()).toBe("too_many_sessions");
});

test("a peer whose handshake is being decided is not disconnected for a newer peer", async () => {
  let go = (): void => {};
  let asked = false;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const host = await hosted({
    limits: { handshakes: 1 },
    caller: async () => {
      asked = true;
      await gate;
      return {};
    },
  });
  const first = await Peer.at(host.port);
  const greeting = first.greet(["tools"], [host.token("tools")]);
  await expect.poll(() => asked).toBe(true);
  const second = await Peer.at(host.port);
  expect(await second.code()).toBe("too_many_sessions");
  go();
  expect(await greeting).toMatchObject({ ok: true });
});

test("only one of two concurrent handshakes gets the last session slot", async () => {
  const host = await hosted({ limits: { sessions: 1 } });
  const peers = [await Peer.at(host.port), await Peer.at(host.port)];
  for (const peer of peers) {
    peer.send("{}\n");
    expect(await peer.code()).toBe("message_invalid");
  }
  await peers[0]?.open(["tools"], [host.token("tools")]);
  const answer = await peers[1]?.greet(["tools"], [host.token("tools")]);
  expect(answer).toMatchObject({ type: "error", req_id: "hs", code: "too_many_sessions" });
});

test("the sessions of one principal are limited, and other principals still get slots", async () => {
  const grants = { grant: "a2e:tools", operations: "*" as const };
  const rules = ["alice", "bob"].map((principal) => ({ principal, ...grants }));
  const host = await hosted({ limits: { perPrincipal: 1 }, world: { rules: { rules } } });
  const own = await joined(host, ["tools"], [host.token("tools")]);
  await expect(joined(host, ["tools"], [host.token("tools")])).rejects.toMatchObject({
    code: "too_many_sessions",
  });
  const bobs = host.issuer.mint({ grant: "a2e:tools", principal: "bob", expires: "1h" });
  await joined(host, ["tools"], [bobs.token]);
  await own.close();
  await expect.poll(() => host.host.sessions).toBe(1);
  await joined(host, ["tools"], [host.token("tools")]);
});
