import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createStores, openRevocations } from "../../../src/stores/index.js";
import { postgresPlace } from "../../support/databases.js";
import { ADDRESS } from "../../support/postgres.js";

/** Starts a proxy to a server. While the proxy is stopped, it passes nothing on, so that pending queries never end. */
async function stoppable(to: URL): Promise<{ readonly url: URL; stopped: boolean }> {
  const state = { url: new URL(to), stopped: false };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("data", (bytes) => {
        if (!state.stopped) into.write(bytes);
      });
      from.on("close", () => into.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  state.url.hostname = "127.0.0.1";
  state.url.port = String(typeof address === "object" ? address?.port : "");
  return state;
}

test.skipIf(process.env[ADDRESS] === undefined)(
  "reads that are never answered do not make the list current, and do not stop later reads",
  async () => {
    const way = await stoppable(new URL(await postgresPlace()));
    const database = await createStores(way.url.href);
    const store = await openRevocations(database, { refreshEvery: 20, staleAfter: 0.5 });
    await expect.poll(() => store.isCurrent()).toBe(true);
    way.stopped = true;
    await expect.poll(() => store.isCurrent()).toBe(false);
    // A caller that waits for a read does not wait forever.
    await store.catchUp();
    expect(store.isCurrent()).toBe(false);
    await expect.poll(() => store.problem?.code).toBe("store_unreachable");
    way.stopped = false;
    await expect.poll(() => [store.isCurrent(), store.problem]).toEqual([true, undefined]);
  },
);
